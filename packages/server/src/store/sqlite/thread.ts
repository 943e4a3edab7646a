/** A thread seen from the main one. */
import { Worker } from 'node:worker_threads';
import type { Parcel } from '../several.ts';
import type { Call } from './calls.ts';
import {
  type Answer,
  fromFlatAnswer,
  type Opening,
  type ParcelsAnswer,
  type ParcelsRequest,
  type PlainOutcome,
  type Reply,
  type Request,
  toFlat,
} from './messages.ts';

/** What carries out calls. */
export interface Carrier {
  /** One message; what became of each of its calls. `bytes`: about what they hold in memory. */
  send(calls: readonly Call[], bytes?: number): Promise<readonly PlainOutcome[]>;
}

export interface Thread extends Carrier {
  /** One message, to a thread that writes, which the parcels are handed over to; undefined when it has ended before it answered. */
  sendParcels(parcels: readonly Parcel[]): Promise<readonly Parcel[] | undefined>;
  /** Resolves when the thread has let go of the database. */
  close(): Promise<void>;
}

export interface StartedThread extends Thread {
  /** Resolves when the thread has opened the database; rejects with the reason when it can't. */
  readonly ready: Promise<void>;
}

/** What waits for the answer to a message: undefined when there will be none. */
type Answered = (reply: Answer | ParcelsAnswer | undefined) => void;

/** Whatever became of them: nobody will say that they were kept. */
const notKept = (calls: readonly Call[], cause: Error | undefined): readonly PlainOutcome[] =>
  calls.map(() => ({ refusal: ['not_kept', { cause }] }));

/** A thread that loads what it runs, and waits to be told which database that is for. It keeps no process going. */
export interface UnopenedThread {
  /** Once at most. `onFatal` is told why a thread has ended that was ready, and was not closed. */
  open(opening: Opening, onFatal: (error: Error) => void): StartedThread;
  /** It is not needed. */
  dismiss(): void;
}

/** `niceness`: how far it gives way to the other threads of the process, up to 19 (nice(1)). */
export const beginThread = (file: URL, niceness = 0): UnopenedThread => {
  const start = new URL('./thread-start.cjs', import.meta.url);
  const worker = new Worker(start, {
    workerData: { file: file.href, niceness },
    execArgv: [],
    // A thread lets go of what a commit has left behind sooner: on a slow disk it held more than twice what it used.
    resourceLimits: { maxYoungGenerationSizeMb: 8 },
  });
  const waiting = new Map<number, Answered>();
  let lastID = 0;
  let ended: Error | undefined;
  let closing = false;
  let opened = false;
  /** Given before it is opened. */
  let onFatal!: (error: Error) => void;
  let becomeReady!: () => void;
  let failToOpen!: (error: Error) => void;
  const ready = new Promise<void>((resolve, reject) => {
    becomeReady = resolve;
    failToOpen = reject;
  });
  // It may fail before anybody waits for it.
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
    asked?.(reply);
  });

  worker.unref();

  const nextID = (): number => {
    lastID += 1;
    return lastID;
  };

  const started: StartedThread = {
    ready,
    send(calls) {
      if (ended || closing) return Promise.resolve(notKept(calls, ended));
      const id = nextID();
      worker.postMessage({ id, calls: calls.map(toFlat) } satisfies Request);
      const outcomeOf = (outcome: PlainOutcome, index: number) => fromFlatAnswer(calls[index] as Call, outcome);
      return new Promise((resolve) =>
        waiting.set(id, (reply) =>
          resolve(reply && 'outcomes' in reply ? reply.outcomes.map(outcomeOf) : notKept(calls, ended)),
        ),
      );
    },
    sendParcels(parcels) {
      if (ended || closing) return Promise.resolve(undefined);
      const id = nextID();
      worker.postMessage(
        { id, parcels } satisfies ParcelsRequest,
        parcels.map(({ buffer }) => buffer),
      );
      return new Promise((resolve) =>
        waiting.set(id, (reply) => resolve(reply && 'parcels' in reply ? reply.parcels : undefined)),
      );
    },
    async close() {
      closing = true;
      worker.postMessage('close');
      await exited;
    },
  };

  return {
    open(opening, tell) {
      onFatal = tell;
      worker.ref();
      worker.postMessage(opening);
      return started;
    },
    dismiss() {
      void worker.terminate();
    },
  };
};
