import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from 'pino';
import { repeat } from '../shared/repeat.ts';
import { dayMilliseconds } from '../shared/time.ts';
import type { Store } from '../store/store.ts';
import { createClockTrust } from './clock-trust.ts';

const hourMs = 3_600_000;
/** Small enough that new events wait only a few milliseconds for a batch. */
const perBatch = 500;
const pauseMs = 20;

interface TidyingOptions {
  /** For how many days events are stored; undefined: for good. */
  readonly days?: number | undefined;
  readonly log: Logger;
  /** The time of day, in milliseconds since 1970. */
  readonly now?: () => number;
}

/**
 * Deletes share links and sessions that have ended, and events that were received more than `days` ago: now and every hour, in small
 * batches. Deletes nothing for a day after the clock has jumped. A failure is logged, and the next try is an hour later. Returns a function
 * that stops it, and resolves when the current batch is done.
 */
export const startTidying = (
  store: Pick<Store, 'deleteEventsBefore' | 'deleteEnded'>,
  { days, log, now = Date.now }: TidyingOptions,
): (() => Promise<void>) => {
  const isTrusted = createClockTrust(log, now);
  const pause = (signal: AbortSignal) => wait(pauseMs, undefined, { signal }).catch(() => {});

  const deleteEvents = async (signal: AbortSignal, time: number, eventDays: number) => {
    let total = 0;
    try {
      for (let deleted = perBatch; deleted === perBatch && !signal.aborted; await pause(signal)) {
        deleted = await store.deleteEventsBefore({
          time: time - eventDays * dayMilliseconds,
          most: perBatch,
          now: time,
        });
        total += deleted;
      }
    } finally {
      if (total > 0) log.info({ deleted: total, days: eventDays }, 'old events and refused requests deleted');
    }
  };

  const deleteEnded = async (signal: AbortSignal, time: number) => {
    for (let after: number | null = 0; after !== null && !signal.aborted; await pause(signal))
      after = (await store.deleteEnded({ time, after, most: perBatch })).next;
  };

  return repeat(async (signal) => {
    if (isTrusted()) {
      const time = now();
      await deleteEnded(signal, time).catch((err) =>
        log.error({ err }, 'ended sessions and share links were not deleted'),
      );
      if (days !== undefined)
        await deleteEvents(signal, time, days).catch((err) => log.error({ err }, 'not all old events were deleted'));
    }
    return hourMs;
  });
};
