/** A worker thread, as the main thread sees it. */
import { Worker } from 'node:worker_threads';
import { Refusal } from '../../../shared/refusal.ts';
import type { Call } from '../calls.ts';
import type { Outcome } from '../transactions/transaction.ts';
import { fromPlain, type Opening, type PlainOutcome, type Reply, type Request, toFlat } from './messages.ts';

/** The outcomes of calls without a reply. Some may have been carried out, but none is reported as stored. */
const unavailable = (calls: readonly Call[], cause: Error | undefined): readonly Outcome[] =>
  calls.map(() => ({ error: new Refusal('unavailable', { cause }) }));

/** Receives how long each commit took, and the statement COMMIT of it, in seconds. */
export type OnCommit = (seconds: number, statementSeconds: number) => void;

interface ThreadOptions {
  readonly opening: Opening;
  /** By how much the thread's priority is below that of the process's other threads, up to 19 (nice(1)). */
  readonly niceness: number;
  /** Receives the reason when a thread that was ready ends without being closed. */
  readonly onFatal: (error: Error) => void;
  readonly onCommit?: OnCommit;
}

/** Starts a thread that runs `file`'s `start`. */
export const startThread = (file: URL, { opening, niceness, onFatal, onCommit }: ThreadOptions) => {
  const start = new URL('./thread-start.cjs', import.meta.url);
  const worker = new Worker(start, {
    workerData: { file: file.href, niceness, ...opening },
    execArgv: [],
    // Frees the memory of finished commits sooner: on a slow disk the thread held more than twice what it used.
    resourceLimits: { maxYoungGenerationSizeMb: 8 },
  });
  /** What receives the reply to each message; undefined when none will come. */
  const waiting = new Map<number, (outcomes: readonly PlainOutcome[] | undefined) => void>();
  let lastID = 0;
  let ended: Error | undefined;
  let closing = false;
  let opened = false;
  let becomeReady!: () => void;
  let failToOpen!: (error: Error) => void;
  const ready = new Promise<void>((resolve, reject) => {
    becomeReady = resolve;
    failToOpen = reject;
  });
  // The promise may reject before anybody awaits it.
  ready.catch(() => {});

  const end = (error: Error) => {
    if (ended) return;
    ended = error;
    for (const answered of waiting.values()) answered(undefined);
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
    if ('seconds' in reply) onCommit?.(reply.seconds, reply.statementSeconds);
    asked?.(reply.outcomes);
  });

  return {
    /** Resolves when the thread has opened the database; rejects with the reason when it can't. */
    ready,
    /** Sends the calls as one message. Resolves to the outcome of each. */
    send(calls: readonly Call[]): Promise<readonly Outcome[]> {
      if (ended || closing) return Promise.resolve(unavailable(calls, ended));
      lastID += 1;
      const id = lastID;
      worker.postMessage({ id, calls: calls.map(toFlat) } satisfies Request);
      const outcomeOf = (outcome: PlainOutcome, index: number) => fromPlain(calls[index] as Call, outcome);
      return new Promise((resolve) =>
        waiting.set(id, (outcomes) => resolve(outcomes?.map(outcomeOf) ?? unavailable(calls, ended))),
      );
    },
    /** Resolves when the thread has closed the database. */
    async close(): Promise<void> {
      closing = true;
      worker.postMessage('close');
      await exited;
    },
  };
};
export type StartedThread = ReturnType<typeof startThread>;
