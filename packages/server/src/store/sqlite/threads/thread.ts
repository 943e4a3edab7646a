/** The main thread's handle to a worker thread. */
import { Worker } from 'node:worker_threads';
import { Refusal } from '../../../shared/refusal.ts';
import type { Call } from '../calls.ts';
import type { Outcome } from '../transactions/transaction.ts';
import { fromPlain, type Opening, type PlainOutcome, type Reply, type Request, toFlat } from './messages.ts';

/** The outcome of calls without a reply. Some may have been executed, but none is reported as stored. */
const toUnavailable = (calls: readonly Call[], cause: Error | undefined): readonly Outcome[] =>
  calls.map(() => ({ error: new Refusal('unavailable', { cause }) }));

/** Receives the durations of each commit and of its COMMIT statement. */
export type OnCommit = (seconds: number, statementSeconds: number) => void;

interface ThreadOptions {
  readonly opening: Opening;
  /** How much lower the thread's priority is than that of the process's other threads, up to 19 (nice(1)). */
  readonly niceness: number;
  /** Receives the reason when a thread ends after it was ready, without being closed. */
  readonly onFatal: (error: Error) => void;
  readonly onCommit?: OnCommit;
}

/** Starts a thread that runs the function `start` of `file`. */
export const startThread = (file: URL, { opening, niceness, onFatal, onCommit }: ThreadOptions) => {
  const start = new URL('./thread-start.cjs', import.meta.url);
  const worker = new Worker(start, {
    workerData: { file: file.href, niceness, ...opening },
    execArgv: [],
    // Frees the memory of finished commits sooner. Without the limit, on a slow disk, the heap grew to more than twice
    // its live size.
    resourceLimits: { maxYoungGenerationSizeMb: 8 },
  });
  /** The resolvers of messages that wait for a reply. A resolver gets undefined if no reply will come. */
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
  // Handled here too, because the promise may reject before it is awaited.
  ready.catch(() => {});

  const end = (error: Error) => {
    if (ended) return;
    ended = error;
    for (const resolve of waiting.values()) resolve(undefined);
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
    const resolve = waiting.get(reply.id);
    waiting.delete(reply.id);
    if ('seconds' in reply) onCommit?.(reply.seconds, reply.statementSeconds);
    resolve?.(reply.outcomes);
  });

  return {
    /** Resolves when the thread has opened the database; rejects if it can't. */
    ready,
    /** Sends the calls as one message. Resolves to the outcome of each. */
    send(calls: readonly Call[]): Promise<readonly Outcome[]> {
      if (ended || closing) return Promise.resolve(toUnavailable(calls, ended));
      lastID += 1;
      const id = lastID;
      worker.postMessage({ id, calls: calls.map(toFlat) } satisfies Request);
      const outcomeOf = (outcome: PlainOutcome, index: number) => fromPlain(calls[index] as Call, outcome);
      return new Promise((resolve) =>
        waiting.set(id, (outcomes) => resolve(outcomes?.map(outcomeOf) ?? toUnavailable(calls, ended))),
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
