/** Reads and resends a webhook's messages. */
import { api } from '../../../api.ts';
import { type Delivery, toRuns, type Webhook } from './webhook.ts';

/** How many messages are listed. */
const maxListed = 100;
const enough = 20;

/** Reads the messages after a sequence number, including at most one page of those that have not been sent yet. */
const readAfter = async ({ webhookID, sequence }: Webhook, start: number, signal: AbortSignal): Promise<Delivery[]> => {
  const all: Delivery[] = [];
  for (let after = start, more = true; more && (after < sequence || after === start); ) {
    const page = await api.listWebhookDeliveries({ webhookID, after, limit: maxListed }, { signal });
    all.push(...page.delivery);
    ({ nextSequence: after, more } = page);
  }
  return all;
};

/**
 * Reads the latest messages, newest first. If a range of sequences contains few messages, because most belong to events
 * that the webhook does not send, reads a longer range.
 */
export const readRecent = async (webhook: Webhook, signal: AbortSignal): Promise<Delivery[]> => {
  let recent: Delivery[] = [];
  for (const range of [100, 1_000]) {
    recent = await readAfter(webhook, Math.max(0, webhook.sequence - range), signal);
    if (recent.length >= enough || range >= webhook.sequence) break;
  }
  return recent.slice(-maxListed).toReversed();
};

/** Reads the first messages that failed and have not been delivered since, oldest first. */
export const readFailed = async ({ webhookID }: Webhook, signal: AbortSignal): Promise<Delivery[]> =>
  (await api.listWebhookDeliveries({ webhookID, failed: true, limit: maxListed }, { signal })).delivery;

/** Resends all messages that failed and have not been delivered since. Returns how many there are. */
export const resendFailed = async (webhookID: string): Promise<number> => {
  let messages = 0;
  for (let after = 0, more = true; more; ) {
    const page = await api.listWebhookDeliveries({ webhookID, after, failed: true });
    for (const run of toRuns(page.delivery.map(({ sequence }) => sequence)))
      messages += (await api.resendWebhook({ webhookID, ...run })).messages;
    ({ nextSequence: after, more } = page);
  }
  return messages;
};
