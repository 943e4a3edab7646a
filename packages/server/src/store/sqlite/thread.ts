/** A thread seen from the main one. */
import { Worker } from 'node:worker_threads';
import type { Call } from './calls.ts';
import { fromFlatAnswer, type Opening, type PlainOutcome, type Reply, type Request, toFlat } from './messages.ts';

export interface Thread {
  /** One message; what became of each of its calls. */
  send(calls: readonly Call[]): Promise<readonly PlainOutcome[]>;
  /** Resolves when the thread has let go of the database. */
  close(): Promise<void>;
}

export interface StartedThread extends Thread {
  /** Resolves when the thread has opened the database; rejects with the reason when it can't. */
  readonly ready: Promise<void>;
}

interface Waiting {
  readonly calls: readonly Call[];
  readonly resolve: (outcomes: readonly PlainOutcome[]) => void;
}

/** Whatever became of them: nobody will say that they were kept. */
const notKept = (calls: readonly Call[], cause: Error | undefined): readonly PlainOutcome[] =>
  calls.map(() => ({ refusal: ['not_kept', { cause }] }));

/** A thread that loads what it runs, and waits to be told which database that is for. It keeps no process going. */
export interface UnopenedThread {
  /** Once at most. `onFatal` is told why a thread has ended that was ready, and was not closed. */
  open(path: string, onFatal: (error: Error) => void): StartedThread;
  /** It is not needed. */
  dismiss(): void;
}

export const beginThread = (file: URL): UnopenedThread => {
  const start = new URL('./thread-start.cjs', import.meta.url);
  const worker = new Worker(start, {
    workerData: { file: file.href },
    execArgv: [],
    // A thread lets go of what a commit has left behind sooner: on a slow disk it held more than twice what it used.
    resourceLimits: { maxYoungGenerationSizeMb: 8 },
  });
  const waiting = new Map<number, Waiting>();
  let lastID = 0;
  let ended: Error | undefined;
  let closing = false;
  let opened = false;
  let onFatal = (_: Error) => {};
  let becomeReady = () => {};
  let failToOpen = (_: Error) => {};
  const ready = new Promise<void>((resolve, reject) => {
    becomeReady = resolve;
    failToOpen = reject;
  });
  // It may fail before anybody waits for it.
  ready.catch(() => {});

  const end = (error: Error) => {
    if (ended) return;
    ended = error;
    for (const { calls, resolve } of waiting.values()) resolve(notKept(calls, error));
    waiting.clear();
    if (!opened) failToOpen(error);
    else if (!closing) onFatal(error);
  };

  const exited = new Promise<void>((resolve) => {
    worker.on('exit', () => {
      end(new Error('the thread has ended'));
      resolve();
    });
  });
  worker.on('error', end);
  worker.on('message', (reply: Reply) => {
    if ('fatal' in reply) return end(new Error(reply.fatal));
    if ('ready' in reply) {
      opened = true;
      return becomeReady();
    }
    const asked = waiting.get(reply.id);
    waiting.delete(reply.id);
    asked?.resolve(reply.outcomes.map((outcome, index) => fromFlatAnswer(asked.calls[index] as Call, outcome)));
  });

  worker.unref();

  const started: StartedThread = {
    ready,
    send(calls) {
      if (ended || closing) return Promise.resolve(notKept(calls, ended));
      lastID += 1;
      const id = lastID;
      worker.postMessage({ id, calls: calls.map(toFlat) } satisfies Request);
      return new Promise((resolve) => waiting.set(id, { calls, resolve }));
    },
    async close() {
      closing = true;
      worker.postMessage('close');
      await exited;
    },
  };

  return {
    open(path, tell) {
      onFatal = tell;
      worker.ref();
      worker.postMessage({ path } satisfies Opening);
      return started;
    },
    dismiss() {
      void worker.terminate();
    },
  };
};
