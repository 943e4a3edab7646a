/** Creates, changes and tests webhooks, and lists their messages. */
import { limits } from '@firsthand/contract/limits';
import type { OutputOf } from '@firsthand/contract/operations';
import { audienceProblem, hasAudience } from '@firsthand/contract/webhook';
import { nanoid } from 'nanoid';
import { Refusal } from '../../shared/refusal.ts';
import type { Audience, Delivery, Store, Webhook, WebhookFilter } from '../../store/store.ts';
import { accountOf, auditFieldsOf, type Caller, type Handlers } from '../access/caller.ts';
import { isoTime } from '../responses/iso-time.ts';
import { buildBody, type Message, readLastSequence, readMessage, readMessages } from '../webhooks/messages.ts';
import type { Attempt, Sender } from '../webhooks/send.ts';
import { formatSecret, previousSecretUntil, signMessage } from '../webhooks/signature.ts';

type ListedWebhook = OutputOf<'listWebhooks'>['webhook'][number];
type ListedDelivery = OutputOf<'listWebhookDeliveries'>['delivery'][number];

const toListedAudience = ({
  segmentName,
  contacts,
  comparedTime,
  problem,
}: Audience): ListedWebhook['audience'][number] => ({
  segmentName,
  contacts,
  ...(comparedTime !== null && { comparedTime: isoTime(comparedTime) }),
  ...(problem && { problem }),
});

const toListed = (webhook: Webhook, audiences: readonly Audience[], time: number): ListedWebhook => {
  const { eventNames = [], attrID = '', attrValue = '', segmentNames = [] } = webhook.filter;
  const { disabledReason, waitUntil, lastSuccessTime, lastFailureTime, skippedFrom, skippedThrough } = webhook;
  const skipped = { events: webhook.skippedEvents, fromSequence: skippedFrom, throughSequence: skippedThrough };
  const previousUntil = previousSecretUntil(webhook, time);
  return {
    webhookID: webhook.webhookID,
    url: webhook.url,
    description: webhook.description,
    type: [...webhook.types],
    eventName: [...eventNames],
    ...{ attrID, attrValue },
    segmentName: [...segmentNames],
    audience: audiences.filter(({ webhookID }) => webhookID === webhook.webhookID).map(toListedAudience),
    payload: webhook.payload,
    state: webhook.state,
    ...(disabledReason && { disabledReason }),
    sequence: webhook.sentThrough,
    retrying: webhook.retrying,
    ...(waitUntil > time && { waitUntilTime: isoTime(waitUntil) }),
    ...(lastSuccessTime !== null && { lastSuccessTime: isoTime(lastSuccessTime) }),
    ...(lastFailureTime !== null && { lastFailureTime: isoTime(lastFailureTime) }),
    lastFailure: webhook.lastFailure,
    ...(skipped.events > 0 && { skipped }),
    ...(previousUntil !== undefined && { previousSecretUntilTime: isoTime(previousUntil) }),
    createdTime: isoTime(webhook.createdTime),
    updatedTime: isoTime(webhook.updatedTime),
  };
};

const toFilter = (values: {
  eventName?: readonly string[] | null | undefined;
  attrID?: string | null | undefined;
  attrValue?: string | null | undefined;
  segmentName?: readonly string[] | null | undefined;
}): WebhookFilter => {
  const { eventName, attrID, attrValue, segmentName } = values;
  return {
    ...(eventName && eventName.length > 0 && { eventNames: eventName }),
    ...(attrID && { attrID }),
    ...(attrValue && { attrValue }),
    ...(segmentName && segmentName.length > 0 && { segmentNames: [...new Set(segmentName)] }),
  };
};

const attemptResponse = ({ httpStatus, error, response }: Pick<Attempt, 'httpStatus' | 'error' | 'response'>) => ({
  ...(httpStatus !== null && { httpStatus }),
  error,
  responseText: response,
});

const deliveryState = ({ sentThrough }: Webhook, sequence: number, failed: Delivery | undefined) => {
  if (failed) return failed.nextTime === null ? 'failed' : 'retrying';
  return sequence <= sentThrough ? 'delivered' : 'waiting';
};

const noDelivery: Pick<Delivery, 'attempts' | 'httpStatus' | 'error' | 'response'> = {
  ...{ attempts: 0, httpStatus: null, error: '', response: '' },
};

/** The maximum number of pages that a resend reads: only a few of many messages might match the webhook's filter. */
const maxPagesPerResend = 50;

/** The maximum number of concurrent webhook tests, each of which can take 15 seconds. */
const maxTests = 10;

export const createWebhooks = (
  store: Store,
  { send, findProblem }: Sender,
): Handlers<
  | 'createWebhook'
  | 'listWebhooks'
  | 'updateWebhook'
  | 'rotateWebhookSecret'
  | 'deleteWebhook'
  | 'testWebhook'
  | 'listWebhookDeliveries'
  | 'resendWebhook'
> => {
  let tests = 0;

  const checkURL = (url: string): void => {
    const problem = findProblem(url);
    if (problem === undefined) return;
    throw new Refusal('invalid_field', { field: 'url', message: `\`url\` is not allowed: ${problem}` });
  };

  const find = async (webhookID: string, caller: Caller): Promise<Webhook> => {
    const webhooks = await store.listWebhooks({ account: accountOf(caller) });
    const webhook = webhooks.find((each) => each.webhookID === webhookID);
    if (!webhook) throw new Refusal('unknown_webhook', { field: 'webhookID' });
    return webhook;
  };

  /** Returns the last sequence number before the first message waiting to be sent. */
  const findSkipped = async (webhook: Webhook): Promise<number> => {
    const { messages, through } = await readMessages(store, webhook, { after: webhook.sentThrough, limit: 1 });
    const [waiting] = messages;
    return waiting ? waiting.sequence - 1 : through;
  };

  const toDeliveries = async (
    webhook: Webhook,
    messages: readonly Message[],
    failed: readonly Delivery[],
  ): Promise<ListedDelivery[]> => {
    const bySequence = new Map(failed.map((delivery) => [delivery.sequence, delivery]));
    const listed = await Promise.all(
      messages.map(async (message): Promise<ListedDelivery[]> => {
        const body = await buildBody(store, webhook, message);
        if (!body) return [];
        const { sequence, type } = message;
        const delivery = bySequence.get(sequence);
        const { lastTime, nextTime } = delivery ?? { lastTime: null, nextTime: null };
        return [
          {
            ...{ messageID: body.messageID, sequence, type, state: deliveryState(webhook, sequence, delivery) },
            attempts: (delivery ?? noDelivery).attempts,
            ...attemptResponse(delivery ?? noDelivery),
            ...(lastTime !== null && { lastAttemptTime: isoTime(lastTime) }),
            ...(nextTime !== null && { nextAttemptTime: isoTime(nextTime) }),
            payload: { ...body.payload },
          },
        ];
      }),
    );
    return listed.flat();
  };

  /** Lists failed deliveries and their messages. */
  const listFailed = async (webhook: Webhook, after: number, limit: number) => {
    const { webhookID, sentThrough } = webhook;
    const failed = await store.listDeliveries({ webhookID, after, limit });
    const messages = await Promise.all(failed.map(({ sequence }) => readMessage(store, webhook, sequence)));
    const found = messages.filter((message) => message !== undefined);
    const delivery = await toDeliveries(webhook, found, failed);
    const more = failed.length === limit;
    return { delivery, nextSequence: more ? (failed.at(-1) as Delivery).sequence : Math.max(after, sentThrough), more };
  };

  return {
    createWebhook: async ({ url, description = '', type, payload = 'thin', ...filterFields }, caller) => {
      checkURL(url);
      const account = accountOf(caller);
      const webhookID = nanoid();
      const filter = toFilter(filterFields);
      const settings = { url, description, types: [...new Set(type)], filter, payload };
      const sentThrough = await readLastSequence(store, account);
      const change = auditFieldsOf(caller);
      await store.createWebhook({ ...settings, webhookID, sentThrough, ...change });
      const secret = formatSecret(await store.getDatabaseKey(), { webhookID, secretTime: change.time });
      return { webhookID, secret };
    },

    listWebhooks: async (_, caller) => {
      const account = accountOf(caller);
      const [webhooks, audiences] = await Promise.all([
        store.listWebhooks({ account }),
        store.listAudiences({ account }),
      ]);
      return { webhook: webhooks.map((webhook) => toListed(webhook, audiences, caller.time)) };
    },

    updateWebhook: async ({ webhookID, url, description, type, payload, state, ...filterChange }, caller) => {
      if (url !== undefined) checkURL(url);
      const before = await find(webhookID, caller);
      const { eventNames, segmentNames, ...attribute } = before.filter;
      const { eventName = eventNames, segmentName = segmentNames } = filterChange;
      const { attrID = attribute.attrID, attrValue = attribute.attrValue } = filterChange;
      if (attrValue && !attrID)
        throw new Refusal('missing_field', { field: 'attrID', message: '`attrID` is required with `attrValue`' });
      if (!hasAudience({ type: type ?? before.types, segmentName })) {
        const message = `\`segmentName\` ${audienceProblem.message}`;
        throw new Refusal('missing_field', { field: 'segmentName', message });
      }
      const changesFilter = Object.values(filterChange).some((value) => value !== undefined);
      const changes = {
        // Messages that the webhook has already skipped stay skipped.
        ...((type !== undefined || changesFilter) && { sentThrough: await findSkipped(before) }),
        ...(url !== undefined && { url }),
        ...(description !== undefined && { description: description ?? '' }),
        ...(type !== undefined && { types: [...new Set(type)] }),
        ...(payload !== undefined && { payload }),
        ...(state !== undefined && { state }),
        ...(changesFilter && { filter: toFilter({ eventName, attrID, attrValue, segmentName }) }),
      };
      await store.updateWebhook({ webhookID, changes, ...auditFieldsOf(caller) });
      return { webhookID };
    },

    rotateWebhookSecret: async ({ webhookID }, caller) => {
      const { secretTime } = await store.rotateWebhookSecret({ webhookID, ...auditFieldsOf(caller) });
      return {
        secret: formatSecret(await store.getDatabaseKey(), { webhookID, secretTime }),
        previousSecretUntilTime: isoTime(secretTime + limits.webhookRotationHours * 3_600_000),
      };
    },

    deleteWebhook: async ({ webhookID }, caller) => {
      await store.deleteWebhook({ webhookID, ...auditFieldsOf(caller) });
      return { webhookID };
    },

    testWebhook: async ({ webhookID }, caller) => {
      const webhook = await find(webhookID, caller);
      if (tests >= maxTests) throw new Refusal('too_many_requests', { retryAfterSeconds: 15 });
      tests += 1;
      try {
        const { time } = caller;
        const message = { type: 'webhook.test', timestamp: isoTime(time), data: { webhookID } };
        const body = JSON.stringify(message);
        const signed = { messageID: `msg_${nanoid()}`, body, time };
        const headers = signMessage(await store.getDatabaseKey(), webhook, signed);
        const attempt = await send({ url: webhook.url, headers, body, signal: caller.signalOf?.() });
        return { delivered: attempt.succeeded, ...attemptResponse(attempt) };
      } finally {
        tests -= 1;
      }
    },

    listWebhookDeliveries: async ({ webhookID, after, failed = false, limit = limits.deliveriesPerPage }, caller) => {
      const webhook = await find(webhookID, caller);
      if (failed) return listFailed(webhook, after ?? 0, limit);
      const start = after ?? webhook.sentThrough;
      const { messages, through, more } = await readMessages(store, webhook, { after: start, limit });
      // Messages from before the webhook was created were never sent to it.
      const since = messages.filter(({ time }) => time >= webhook.createdTime);
      const page = since.slice(0, limit);
      const isCut = page.length < since.length;
      const end = isCut ? (page.at(-1) as Message).sequence : through;
      const failures = await store.listDeliveries({ webhookID, after: start, through: end, limit: 2 * limit });
      return { delivery: await toDeliveries(webhook, page, failures), nextSequence: end, more: more || isCut };
    },

    resendWebhook: async ({ webhookID, sequence, through = sequence }, caller) => {
      const webhook = await find(webhookID, caller);
      // Later messages haven't been sent yet.
      const last = Math.min(through, webhook.sentThrough);
      const sequences: number[] = [];
      let reached = sequence - 1;
      let more = true;
      for (let pages = 0; more && reached < last && pages < maxPagesPerResend; pages += 1) {
        if (sequences.length >= limits.deliveriesPerResend) break;
        const limit = Math.min(limits.deliveriesPerPage, limits.deliveriesPerResend - sequences.length);
        const page = await readMessages(store, webhook, { after: reached, limit });
        const selected = page.messages.filter((message) => message.sequence <= last);
        sequences.push(...selected.map((message) => message.sequence));
        reached = Math.min(page.through, last);
        ({ more } = page);
      }
      const { account } = webhook;
      await store.resendDeliveries({ account, webhookID, sequences, time: caller.time });
      return { messages: sequences.length, through: Math.max(reached, sequence - 1) };
    },
  };
};
