import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from 'pino';
import { createClockTrust } from './clock-trust.ts';
import type { Store } from './store/store.ts';

const dayMs = 86_400_000;
const hourMs = 3_600_000;
/** Small enough that events which come in wait a few milliseconds for it. */
const eventsPerBatch = 500;
const pauseMs = 20;

interface RetentionOptions {
  readonly days: number;
  readonly log: Logger;
  /** The time of day, in milliseconds since 1970. */
  readonly now?: () => number;
}

/**
 * Deletes events that were received more than `days` ago: now and every hour, in small batches; for a day after the clock
 * has jumped, nothing. A batch that fails is logged and tried again an hour later. Answers how to stop it, which waits
 * for the batch under way.
 */
export const startRetention = (
  store: Pick<Store, 'deleteEventsBefore'>,
  { days, log, now = Date.now }: RetentionOptions,
): (() => Promise<void>) => {
  const isTrusted = createClockTrust({ log, now });
  const stopping = new AbortController();
  const { signal } = stopping;

  const sweep = async () => {
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

  const run = async () => {
    while (!signal.aborted) {
      await sweep().catch((err) => log.error({ err }, 'old events were not deleted'));
      await wait(hourMs, undefined, { signal, ref: false }).catch(() => {});
    }
  };

  const running = run();
  return () => {
    stopping.abort();
    return running;
  };
};
