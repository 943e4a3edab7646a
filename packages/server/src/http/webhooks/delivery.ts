/**
 * Delivers webhook messages in the background. Each webhook has a cursor (`sentThrough`) into the sequence of events
 * and statements. Only failed deliveries are stored; they are retried on a schedule. A message can be sent twice, with
 * the same ID, but is never skipped.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { limits } from '@firsthand/contract/limits';
import { nanoid } from 'nanoid';
import type { Logger } from 'pino';
import type { Delivery, DeliveryRecord, Store, Webhook } from '../../store/store.ts';
import { type Body, buildBody, type Message, readLastSequence, readMessage, readMessages } from './messages.ts';
import { maxAttempts, nextAttemptTime, pauseAfter } from './schedule.ts';
import type { Attempt, Send } from './send.ts';
import { signMessage } from './signature.ts';

/** Longer than any batch, so that no other server sends the same messages. */
const leaseMilliseconds = 60_000;
const messagesPerBatch = 100;
/**
 * A batch ends after this time, and the next one reads its messages again, so that messages about erased contacts are
 * not sent.
 */
const maxBatchMilliseconds = 1_000;
const concurrentMessages = 20;
const concurrentWebhooks = 25;
const concurrentPerAccount = 5;
/** The minimum and maximum pause between checks for new messages. A commit ends the pause after the minimum. */
const minCycleMilliseconds = 200;
const maxCycleMilliseconds = 5_000;
/**
 * A webhook with no messages to send stores its cursor once per this many sequence numbers, and after this time.
 * Otherwise the events that it has examined would count as skipped when retention deletes them.
 */
const sequencesPerSave = 10_000;
const millisecondsPerSave = 3_600_000;

/** The statuses that mean that an endpoint is overloaded. */
const slowStatuses = [429, 502, 503, 504];

type DeliveryStore = Pick<
  Store,
  | 'getLastSequence'
  | 'getEvents'
  | 'listFacts'
  | 'getContact'
  | 'getDatabaseKey'
  | 'listWebhooks'
  | 'leaseWebhook'
  | 'recordDeliveries'
  | 'listDeliveries'
  | 'onCommit'
>;

interface DeliveryOptions {
  readonly store: DeliveryStore;
  readonly send: Send;
  readonly log: Pick<Logger, 'warn' | 'error'>;
  readonly now?: () => number;
  readonly random?: () => number;
}

/** A message to send, with its failed delivery if there is one. `message` is undefined if it no longer exists. */
interface Entry {
  readonly sequence: number;
  readonly message: Message | undefined;
  readonly earlier?: Delivery;
}

interface Result extends Entry {
  /** Undefined: the message no longer exists. */
  readonly attempt: Attempt | undefined;
}

interface Batch {
  readonly entries: readonly Entry[];
  /** The cursor after these entries. */
  readonly through: number;
  readonly more: boolean;
}

const isSlow = ({ httpStatus }: Attempt): boolean => httpStatus !== null && slowStatuses.includes(httpStatus);

const unreadable: Attempt = {
  ...{ succeeded: false, httpStatus: null, error: 'the message could not be read', response: '' },
};

/** Whether the endpoint may be up despite a failed attempt: an endpoint can reject some messages forever. */
const isUp = (attempt: Attempt): boolean =>
  attempt === unreadable || (attempt.httpStatus !== null && attempt.httpStatus < 500 && !isSlow(attempt));

/** Returns the failed delivery to store after an attempt. */
const toDelivery = ({ sequence, earlier, attempt }: Result, time: number, random: number): Delivery => {
  const attempts = (earlier?.attempts ?? 0) + 1;
  const { httpStatus = null, error = '', response = '' } = attempt ?? {};
  const nextTime = nextAttemptTime(attempts, time, random);
  return {
    sequence,
    attempts,
    firstTime: earlier?.firstTime ?? time,
    lastTime: time,
    nextTime,
    httpStatus,
    error,
    response,
  };
};

/** Returns the changes to the webhook that result from a batch's attempts. */
const toRecord = (webhook: Webhook, results: readonly Result[], time: number, random: () => number) => {
  const attempts = results.flatMap(({ attempt }) => attempt ?? []);
  const succeeded = attempts.some((attempt) => attempt.succeeded);
  const failedResults = results.filter(({ attempt }) => attempt && !attempt.succeeded);
  const failed = failedResults.map((result) => toDelivery(result, time, random()));
  const slow = attempts.filter(isSlow);
  const up = attempts.some(isUp);
  // A retry can fail because of its message, so only new messages show that an endpoint is down.
  const isDown = failed.length > 0 && !up && results.some(({ earlier }) => !earlier);
  const failures = up ? 0 : webhook.failures + (isDown ? 1 : 0);
  const retryAfter = Math.max(0, ...slow.map(({ retryAfterSeconds = 0 }) => retryAfterSeconds));
  const pauses = slow.length > 0 || isDown;
  const isFailing = ({ attempts: count, firstTime }: Delivery) =>
    count >= maxAttempts && !succeeded && (webhook.lastSuccessTime ?? 0) < firstTime;
  const isGone = attempts.some(({ httpStatus }) => httpStatus === 410);
  const lastFailure = attempts.findLast((attempt) => !attempt.succeeded);
  return {
    ...{ failed, failures, succeeded },
    waitUntil: pauses ? time + pauseAfter(Math.max(failures, 1), retryAfter) : 0,
    resolved: results.flatMap(({ sequence, earlier, attempt }) =>
      earlier && (!attempt || attempt.succeeded) ? [sequence] : [],
    ),
    failure: lastFailure?.error,
    disabledReason: isGone ? 'gone' : failed.some(isFailing) ? 'failing' : undefined,
  } satisfies Partial<DeliveryRecord>;
};

/**
 * Starts the deliveries. Returns a function that stops them; messages in flight are sent again after the next start.
 */
export const startDeliveries = ({
  store,
  send,
  log,
  now = Date.now,
  random = Math.random,
}: DeliveryOptions): (() => Promise<void>) => {
  const server = nanoid();
  const stopping = new AbortController();
  const { signal } = stopping;
  /** The last sequence number examined for each webhook, if it had no messages since its cursor. */
  const examined = new Map<
    string,
    { readonly sentThrough: number; readonly through: number /** When the first was. */; readonly time: number }
  >();
  const examinedOf = ({ webhookID, sentThrough }: Webhook) => {
    const last = examined.get(webhookID);
    return last?.sentThrough === sentThrough ? last : undefined;
  };
  /** Whether a webhook must store the cursor up to which it has examined messages. */
  const mustSave = (webhook: Webhook, through: number, time: number) =>
    through - webhook.sentThrough >= sequencesPerSave ||
    (through > webhook.sentThrough && time - (examinedOf(webhook)?.time ?? time) >= millisecondsPerSave);
  const running = new Map<string, { readonly account: number; readonly sent: Promise<void> }>();
  /** The webhooks whose last batch was retries: retries and new messages alternate. */
  const retriedLast = new Set<string>();
  /** When each webhook last started a batch, as a value of `starts`: the one that has waited longest starts next. */
  const lastStarts = new Map<string, number>();
  let starts = 0;
  /** Whether webhooks are waiting for a slot. If so, the running ones stop after their current batch. */
  let isCrowded = false;

  let wake = () => {};
  let isDue = true;
  const ring = () => {
    isDue = true;
    wake();
  };
  /** Resolves after a commit or `maxCycleMilliseconds`. */
  const waitForCommit = async () => {
    if (!isDue)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, maxCycleMilliseconds);
        timer.unref();
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    isDue = false;
  };

  const attemptMessage = async (databaseKey: Uint8Array, webhook: Webhook, entry: Entry): Promise<Result> => {
    let built: Body | undefined;
    try {
      built = entry.message && (await buildBody(store, webhook, entry.message));
    } catch (err) {
      log.error({ err, webhookID: webhook.webhookID }, 'a webhook message could not be read');
      return { ...entry, attempt: unreadable };
    }
    if (!built) return { ...entry, attempt: undefined };
    const body = JSON.stringify(built.payload);
    const headers = signMessage(databaseKey, webhook, { messageID: built.messageID, body, time: now() });
    return { ...entry, attempt: await send({ url: webhook.url, headers, body, signal }) };
  };

  /**
   * Attempts entries in order, several concurrently, until the endpoint turns out to be down or overloaded, or the
   * entries are too old. Returns the results of the first entries.
   */
  const attemptAll = async (
    databaseKey: Uint8Array,
    webhook: Webhook,
    entries: readonly Entry[],
  ): Promise<Result[]> => {
    const began = performance.now();
    const results: (Result | undefined)[] = entries.map(() => undefined);
    let started = 0;
    let hasAnswered = false;
    let isStopped = false;
    const work = async () => {
      while (started < entries.length && !isStopped && performance.now() - began < maxBatchMilliseconds) {
        const index = started++;
        const result = await attemptMessage(databaseKey, webhook, entries[index] as Entry);
        if (signal.aborted) return;
        results[index] = result;
        if (!result.attempt) continue;
        hasAnswered ||= isUp(result.attempt);
        isStopped ||= isSlow(result.attempt) || result.attempt.httpStatus === 410 || !hasAnswered;
      }
    };
    // While an endpoint is down, sends one message at a time, to find out whether it is up again.
    const workers = webhook.failures > 0 ? 1 : concurrentMessages;
    await Promise.all(Array.from({ length: workers }, work));
    const end = results.indexOf(undefined);
    return (end === -1 ? results : results.slice(0, end)) as Result[];
  };

  const readEntries = async (webhook: Webhook, time: number): Promise<Batch> => {
    const { webhookID, sentThrough } = webhook;
    const due = await store.listDeliveries({ webhookID, dueTime: time, limit: concurrentMessages });
    const readRetries = async (): Promise<Batch> => {
      const read = due.map(async (earlier) => {
        const message = await readMessage(store, webhook, earlier.sequence);
        return { sequence: earlier.sequence, message, earlier };
      });
      retriedLast.add(webhookID);
      return { entries: await Promise.all(read), through: sentThrough, more: true };
    };
    if (due.length > 0 && !retriedLast.delete(webhookID)) return readRetries();
    if (webhook.retrying >= limits.retriesPerWebhook)
      return due.length > 0 ? readRetries() : { entries: [], through: sentThrough, more: false };
    const after = examinedOf(webhook)?.through ?? sentThrough;
    const { messages, through, more } = await readMessages(store, webhook, { after, limit: messagesPerBatch });
    if (messages.length === 0 && due.length > 0) return readRetries();
    const entries = messages.map((message) => ({ sequence: message.sequence, message }));
    return { entries, through, more: more || due.length > 0 };
  };

  /** Sends a webhook's next batch. Returns the webhook's new state; undefined if there is nothing to send now. */
  const sendBatch = async (webhook: Webhook): Promise<Webhook | undefined> => {
    const { webhookID, sentThrough } = webhook;
    const time = now();
    const { entries, through, more } = await readEntries(webhook, time);
    if (entries.length === 0 && !mustSave(webhook, through, time)) {
      examined.set(webhookID, { sentThrough, through, time: examinedOf(webhook)?.time ?? time });
      return more ? webhook : undefined;
    }
    const lease = { webhookID, server, sentThrough, time, until: time + leaseMilliseconds };
    if (!(await store.leaseWebhook(lease))) return undefined;
    const results = await attemptAll(await store.getDatabaseKey(), webhook, entries);
    const isComplete = results.length === entries.length;
    const last = results.at(-1);
    // A retry does not move the cursor.
    const reached = isComplete ? through : last && !last.earlier ? last.sequence : sentThrough;
    const ended = now();
    const record = toRecord(webhook, results, ended, random);
    const recorded = await store.recordDeliveries({ ...record, webhookID, server, sentThrough: reached, time: ended });
    if (record.disabledReason && recorded)
      log.warn({ webhookID, reason: record.disabledReason, failure: record.failure }, 'a webhook was disabled');
    const continues = recorded?.state === 'active' && recorded.waitUntil <= ended && (more || !isComplete);
    return continues ? recorded : undefined;
  };

  const start = (webhook: Webhook): void => {
    const { webhookID, account } = webhook;
    const sendAll = async () => {
      let next: Webhook | undefined = webhook;
      do next = await sendBatch(next);
      while (next && !signal.aborted && !isCrowded);
    };
    const sent = sendAll()
      .catch((err) => log.error({ err, webhookID }, 'a webhook’s messages could not be sent'))
      .finally(() => {
        running.delete(webhookID);
        if (isCrowded) ring();
      });
    running.set(webhookID, { account, sent });
    starts += 1;
    lastStarts.set(webhookID, starts);
  };

  /** Starts a batch for each webhook that has messages to send, if there is a slot. */
  const startDue = async (): Promise<void> => {
    const webhooks = await store.listWebhooks({});
    const time = now();
    const lastSequences = new Map<number, Promise<number>>();
    const hasNew = async (webhook: Webhook) => {
      const { account, sentThrough } = webhook;
      const last = lastSequences.get(account) ?? readLastSequence(store, account);
      lastSequences.set(account, last);
      const through = examinedOf(webhook)?.through ?? sentThrough;
      return (await last) > through || mustSave(webhook, through, time);
    };
    const isDueNow = async (webhook: Webhook) => {
      const { webhookID, waitUntil, nextRetryTime } = webhook;
      if (running.has(webhookID) || waitUntil > time) return false;
      return (nextRetryTime !== null && nextRetryTime <= time) || (await hasNew(webhook));
    };
    const hasPlace = ({ account }: Webhook) =>
      running.size < concurrentWebhooks &&
      [...running.values()].filter((other) => other.account === account).length < concurrentPerAccount;
    const orderOf = ({ webhookID }: Webhook) => lastStarts.get(webhookID) ?? 0;
    let waiting = 0;
    for (const webhook of webhooks.toSorted((a, b) => orderOf(a) - orderOf(b))) {
      try {
        if (!(await isDueNow(webhook))) continue;
        if (hasPlace(webhook)) start(webhook);
        else waiting += 1;
      } catch (err) {
        log.error({ err, webhookID: webhook.webhookID }, 'a webhook’s messages could not be read');
      }
    }
    isCrowded = waiting > 0;
    const active = new Set(webhooks.map(({ webhookID }) => webhookID));
    for (const memory of [examined, lastStarts, retriedLast])
      for (const webhookID of memory.keys()) if (!active.has(webhookID)) memory.delete(webhookID);
  };

  const stopListening = store.onCommit(ring);
  const run = async () => {
    while (!signal.aborted) {
      await waitForCommit();
      if (signal.aborted) return;
      await startDue().catch((err) => log.error({ err }, 'the webhooks could not be read'));
      await wait(minCycleMilliseconds, undefined, { signal, ref: false }).catch(() => {});
    }
  };
  const stopped = run();
  return async () => {
    stopping.abort();
    stopListening();
    ring();
    await stopped;
    await Promise.all([...running.values()].map(({ sent }) => sent));
  };
};
