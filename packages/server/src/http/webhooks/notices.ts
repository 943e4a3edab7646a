/** Stores an hourly count of refused requests for the accounts whose webhooks send it. */
import type { Logger } from 'pino';
import { repeat } from '../../shared/repeat.ts';
import type { Store, Webhook } from '../../store/store.ts';

const hourMilliseconds = 3_600_000;
const pauseMilliseconds = 30_000;

interface NoticeOptions {
  readonly store: Pick<Store, 'listWebhooks' | 'noticeRefusals'>;
  readonly log: Pick<Logger, 'error'>;
  readonly now?: () => number;
}

/** Starts the counts of the last full hour. Returns a function that stops them. */
export const startNotices = ({ store, log, now = Date.now }: NoticeOptions): (() => Promise<void>) => {
  /** The end of the last hour that was counted. */
  let counted = 0;
  const countHour = async () => {
    // Later than the end of the hour, because a request is stored a moment after it was refused.
    const to = Math.floor((now() - pauseMilliseconds) / hourMilliseconds) * hourMilliseconds;
    if (to === counted) return;
    const isCounted = ({ types, createdTime }: Webhook) => types.includes('request.refused') && createdTime < to;
    const webhooks = (await store.listWebhooks({})).filter(isCounted);
    for (const account of new Set(webhooks.map((webhook) => webhook.account)))
      await store.noticeRefusals({ account, from: to - hourMilliseconds, to });
    counted = to;
  };
  return repeat(async () => {
    await countHour().catch((err) => log.error({ err }, 'the refused requests could not be counted for webhooks'));
    return pauseMilliseconds;
  });
};
