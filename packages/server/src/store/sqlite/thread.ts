/** A thread seen from the main one. */
import { Worker } from 'node:worker_threads';
import { Refusal } from '../../refusal.ts';
import type { Call } from './calls.ts';
import { fromPlain, type Reply, type Request } from './messages.ts';

export interface Thread {
  /** One message; a promise for each of its calls. */
  send(calls: readonly Call[]): Promise<unknown>[];
  /** Resolves when the thread has let go of the database. */
  close(): Promise<void>;
}

export interface StartedThread extends Thread {
  /** Resolves when the thread has opened the database; rejects with the reason when it can't. */
  readonly ready: Promise<void>;
}

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** `onFatal` is told why a thread has ended that was ready, and was not closed. */
export const startThread = (file: URL, path: string, onFatal: (error: Error) => void): StartedThread => {
  const start = new URL('./thread-start.js', import.meta.url);
  const worker = new Worker(start, {
    workerData: { file: file.href, path },
    execArgv: [],
    // A thread lets go of what a commit has left behind sooner: on a slow disk it held more than twice what it used.
    resourceLimits: { maxYoungGenerationSizeMb: 8 },
  });
  const waiting = new Map<number, Waiting[]>();
  let lastID = 0;
  let ended: Error | undefined;
  let closing = false;
  let opened = false;
  let open = () => {};
  let failToOpen = (_: Error) => {};
  const ready = new Promise<void>((resolve, reject) => {
    open = resolve;
    failToOpen = reject;
  });

  const end = (error: Error) => {
    if (ended) return;
    ended = error;
    for (const calls of waiting.values())
      for (const { reject } of calls) reject(new Refusal('not_kept', { cause: error }));
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
      return open();
    }
    const calls = waiting.get(reply.id);
    waiting.delete(reply.id);
    reply.outcomes.forEach((outcome, index) => {
      try {
        calls?.[index]?.resolve(fromPlain(outcome));
      } catch (error) {
        calls?.[index]?.reject(error);
      }
    });
  });

  return {
    ready,
    send(calls) {
      if (ended || closing) return calls.map(() => Promise.reject(new Refusal('not_kept', { cause: ended })));
      lastID += 1;
      const waits: Waiting[] = [];
      const promises = calls.map(() => new Promise((resolve, reject) => waits.push({ resolve, reject })));
      waiting.set(lastID, waits);
      worker.postMessage({ id: lastID, calls } satisfies Request);
      return promises;
    },
    async close() {
      closing = true;
      worker.postMessage('close');
      await exited;
    },
  };
};
