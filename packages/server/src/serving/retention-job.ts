import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from 'pino';
import { repeat } from '../shared/repeat.ts';
import { dayMilliseconds } from '../shared/time.ts';
import type { Store } from '../store/store.ts';
import { createClockTrust } from './clock-trust.ts';

const hourMs = 3_600_000;
/** Small enough that a batch delays new events by only a few milliseconds. */
const batchSize = 500;
const pauseMs = 20;

interface RetentionOptions {
  /** How many days events are stored; undefined means forever. */
  readonly days?: number | undefined;
  readonly log: Logger;
  /** The current time, in milliseconds since 1970. */
  readonly now?: () => number;
}

/**
 * Deletes expired share links and sessions, and events received more than `days` days ago, now and every hour, in small
 * batches. Deletes nothing for a day after a clock jump. Returns a function that stops the job and resolves after the
 * current batch.
 */
export const startRetentionJob = (
  store: Pick<Store, 'deleteEventsBefore' | 'deleteExpired'>,
  { days, log, now = Date.now }: RetentionOptions,
): (() => Promise<void>) => {
  const isTrusted = createClockTrust(log, now);
  const pause = (signal: AbortSignal) => wait(pauseMs, undefined, { signal }).catch(() => {});

  const deleteEvents = async (signal: AbortSignal, time: number, eventDays: number) => {
    let total = 0;
    try {
      for (let deleted = batchSize; deleted === batchSize && !signal.aborted; await pause(signal)) {
        deleted = await store.deleteEventsBefore({
          time: time - eventDays * dayMilliseconds,
          limit: batchSize,
          now: time,
        });
        total += deleted;
      }
    } finally {
      if (total > 0) log.info({ deleted: total, days: eventDays }, 'old events and refused requests deleted');
    }
  };

  const deleteExpired = async (signal: AbortSignal, time: number) => {
    for (let after: number | null = 0; after !== null && !signal.aborted; await pause(signal))
      after = (await store.deleteExpired({ time, after, limit: batchSize })).next;
  };

  return repeat(async (signal) => {
    if (isTrusted()) {
      const time = now();
      await deleteExpired(signal, time).catch((err) =>
        log.error({ err }, 'ended sessions and share links could not be deleted'),
      );
      if (days !== undefined)
        await deleteEvents(signal, time, days).catch((err) =>
          log.error({ err }, 'not all old events could be deleted'),
        );
    }
    return hourMs;
  });
};
