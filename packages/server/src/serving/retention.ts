import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Store } from '../store/store.ts';
import { createClockTrust } from './clock-trust.ts';
import { repeat } from './repeat.ts';

const dayMs = 86_400_000;
const hourMs = 3_600_000;
/** Small enough that new events wait only a few milliseconds for a batch. */
const eventsPerBatch = 500;
const pauseMs = 20;

interface RetentionOptions {
  readonly days: number;
  readonly log: Logger;
  /** The time of day, in milliseconds since 1970. */
  readonly now?: () => number;
}

/**
 * Deletes events that were received more than `days` ago, now and every hour, in small batches. Deletes nothing for a day after the
 * clock has jumped. A failure is logged, and the next try is an hour later. Returns a function that stops it, and resolves when the
 * current batch is done.
 */
export const startRetention = (
  store: Pick<Store, 'deleteEventsBefore'>,
  { days, log, now = Date.now }: RetentionOptions,
): (() => Promise<void>) => {
  const isTrusted = createClockTrust(log, now);
  const sweep = async (signal: AbortSignal) => {
    if (!isTrusted()) return;
    const started = now();
    const time = started - days * dayMs;
    let total = 0;
    for (let deleted = eventsPerBatch; deleted === eventsPerBatch && !signal.aborted; ) {
      deleted = await store.deleteEventsBefore({ time, most: eventsPerBatch, now: started });
      total += deleted;
      await wait(pauseMs, undefined, { signal }).catch(() => {});
    }
    if (total > 0) log.info({ deleted: total, days }, 'old events deleted');
  };

  return repeat(async (signal) => {
    await sweep(signal).catch((err) => log.error({ err }, 'old events were not deleted'));
    return hourMs;
  });
};
