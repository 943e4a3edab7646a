/** The workers together: each replaced when it ends, connections spread over them. */
import type { Socket } from 'node:net';
import type { Logger } from 'pino';
import type { WorkerProcess } from './worker-process.ts';

/** How often each is asked whether it answers; one that has not answered so often is stuck, and ended. */
const lookMs = 1_000;
const mostMissed = 10;

/** Until one is started again that did not get ready; and how many such there may be, one after the other, while none answers. */
const restMs = 1_000;
const mostFailed = 5;

export interface Crew {
  /** Resolves when all are ready; rejects when one can't be. */
  readonly ready: Promise<void>;
  /** Hands a connection to the worker that has fewest; keeps it until there is one. */
  hand(connection: Socket): void;
  tellCommit(): void;
  /** Resolves when no worker goes by what it knew of tokens. */
  forgetAccess(): Promise<void>;
  /** Resolves when all have ended, with how many requests they have cut off. */
  stop(withinMs: number): Promise<number>;
  /** At once. */
  kill(): void;
}

interface CrewOptions {
  readonly workers: number;
  /** Starts the one of this number, from 1. */
  readonly start: (worker: number) => WorkerProcess;
  readonly log: Logger;
  /** No worker is left, and none can be had. */
  readonly onFatal: (error: Error) => void;
}

/** By its connections; whoever does not answer at the moment comes last. */
const rank = ({ missed, load }: WorkerProcess): number => (missed > 1 ? 1e9 + load : load);

export const createCrew = ({ workers, start, log, onFatal }: CrewOptions): Crew => {
  const all = new Map<number, WorkerProcess>();
  const ready = new Set<WorkerProcess>();
  const waiting: Socket[] = [];
  let ending = false;
  let failed = 0;

  const hand = (connection: Socket) => {
    let chosen: WorkerProcess | undefined;
    for (const worker of ready) if (chosen === undefined || rank(worker) < rank(chosen)) chosen = worker;
    if (chosen === undefined) waiting.push(connection);
    else chosen.hand(connection);
  };

  const add = (number: number): WorkerProcess => {
    const worker = start(number);
    all.set(number, worker);
    worker.ready.then(
      () => {
        failed = 0;
        ready.add(worker);
        log.info({ worker: number, pid: worker.pid }, 'a worker answers');
        for (const connection of waiting.splice(0)) hand(connection);
      },
      () => {},
    );
    return worker;
  };

  /** Keeps one of this number going. */
  const keep = async (number: number, first: WorkerProcess): Promise<void> => {
    for (let worker = first; ; worker = add(number)) {
      const how = await worker.ended;
      const wasReady = ready.delete(worker);
      all.delete(number);
      if (ending) return;
      for (const connection of worker.takeBack()) hand(connection);
      const { pid } = worker;
      log.error(
        { worker: number, pid, how },
        wasReady ? 'a worker has ended, and is replaced' : 'a worker did not start',
      );
      if (wasReady) continue;
      failed += 1;
      if (ready.size === 0 && failed >= mostFailed) return onFatal(new Error(`no worker can be started: ${how}`));
      await new Promise((resolve) => setTimeout(resolve, restMs));
      if (ending) return;
    }
  };

  let lookedAt = performance.now();
  const looking = setInterval(() => {
    const now = performance.now();
    // Where this process has to wait for its turn, the others have to as well.
    const isPunctual = now - lookedAt < 2 * lookMs;
    lookedAt = now;
    if (!isPunctual) return;
    for (const worker of ready) {
      if (worker.missed >= mostMissed) {
        log.error({ pid: worker.pid }, 'a worker does not answer, and is ended');
        worker.kill();
      }
      worker.look();
    }
  }, lookMs);

  const started = Array.from({ length: workers }, (_, index) => add(index + 1));
  const allReady = Promise.all(started.map((worker) => worker.ready)).then(() => {
    started.forEach((worker, index) => void keep(index + 1, worker));
  });
  // It may fail before anybody waits for it.
  allReady.catch(() => {});

  const end = () => {
    ending = true;
    clearInterval(looking);
  };
  return {
    ready: allReady,
    hand,
    tellCommit() {
      for (const worker of ready) worker.tellCommit();
    },
    async forgetAccess() {
      // One that has ended meanwhile goes by nothing.
      await Promise.all([...ready].map((worker) => Promise.race([worker.forgetAccess(), worker.ended])));
    },
    async stop(withinMs) {
      end();
      const cutOff = await Promise.all(
        [...all.values()].map((worker) => {
          if (ready.has(worker)) return worker.stop(withinMs);
          worker.kill();
          return worker.ended.then(() => 0);
        }),
      );
      for (const connection of waiting) connection.destroy();
      return cutOff.reduce((sum, count) => sum + count, waiting.length);
    },
    kill() {
      end();
      for (const worker of all.values()) worker.kill();
    },
  };
};
