import { limits } from '@firsthand/contract/limits';
import { webhookTypes } from '@firsthand/contract/webhook';
import { Webhook as Verifier } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createSite, type Site } from '../../../test/fixtures/site.ts';
import { ann, ben, laptop, newID } from '../../../test/fixtures/store.ts';
import { openMemoryStore } from '../../store/sqlite/store.ts';
import type { NewWebhook, Webhook } from '../../store/store.ts';
import { startDeliveries } from './delivery.ts';
import { readLastSequence } from './messages.ts';
import type { Attempt, Send } from './send.ts';
import { formatSecret } from './signature.ts';

type Answer = Partial<Attempt> | number;

interface Sent {
  readonly id: string;
  readonly url: string;
  readonly payload: { type: string; sequence: number; timestamp: string; data: Record<string, unknown> };
}

let site: Site;
let stop: () => Promise<void> = async () => {};
/** The service's time, which tests advance. */
let time: number;
let sent: Sent[];
let answer: (sent: Sent) => Answer | Promise<Answer>;
const warnings: unknown[] = [];
const errors: unknown[] = [];

const send: Send = async ({ url, headers, body }) => {
  const one = { id: headers['webhook-id'] as string, url, payload: JSON.parse(body) };
  sent.push(one);
  const answered = await answer(one);
  const attempt = typeof answered === 'number' ? { httpStatus: answered } : answered;
  const httpStatus = attempt.httpStatus === undefined ? 200 : attempt.httpStatus;
  const succeeded = httpStatus === 200;
  return { succeeded, httpStatus, error: succeeded ? '' : `HTTP ${httpStatus}`, response: '', ...attempt };
};

beforeEach(async () => {
  site = await createSite(openMemoryStore());
  time = site.time;
  sent = [];
  answer = () => 200;
  warnings.length = 0;
  errors.length = 0;
});
afterEach(async () => {
  await stop();
  await site.store.close();
  expect(errors).toEqual([]);
});

const start = () => {
  const log = { warn: (fields: unknown) => warnings.push(fields), error: (fields: unknown) => errors.push(fields) };
  stop = startDeliveries({ store: site.store, send, log, now: () => time, random: () => 0 });
};

const createWebhook = async (changes: Partial<NewWebhook> = {}) => {
  const { account, store } = site;
  const webhookID = newID('webhook');
  const settings = { url: `https://${webhookID}.example/`, description: '', types: webhookTypes, filter: {} };
  const sentThrough = await readLastSequence(store, account);
  await store.createWebhook({ ...settings, payload: 'thin', account, webhookID, sentThrough, time, ...changes });
  return webhookID;
};
const find = async (webhookID: string) => {
  const webhooks = await site.store.listWebhooks({ account: site.account });
  return webhooks.find((webhook) => webhook.webhookID === webhookID) as Webhook;
};
const failedOf = (webhookID: string) => site.store.listDeliveries({ webhookID, limit: 2_000 });
/** Waits until the webhook's cursor is at the last sequence number. */
const untilSent = (webhookID: string) =>
  vi.waitFor(async () => {
    const last = sent.at(-1)?.payload.sequence ?? Number.NaN;
    expect((await find(webhookID)).sentThrough).toBeGreaterThanOrEqual(last);
    expect(last).toBe(await readLastSequence(site.store, site.account));
  }, 10_000);
const logEvents = (count: number) =>
  site.browser.log(...Array.from({ length: count }, (_, nth) => ({ eventUUID: newID('event'), eventID: nth + 1 })));
/** Makes the delivery loop read the clock again. */
const advance = async (milliseconds: number) => {
  time += milliseconds;
  await site.browser.log({ eventUUID: newID('event'), userUUID: laptop });
};

describe('deliveries', () => {
  it('send each event and change once, signed, in thin payloads', async () => {
    const webhookID = await createWebhook();
    start();
    await site.browser.log({ userUUID: laptop, eventUUID: 'event-0001', eventID: 7 });
    const { contactUUID } = await site.server.createContact({ userUUID: laptop, address: ann });
    await untilSent(webhookID);
    const ids = { contactUUID, userUUID: laptop };
    expect(sent.map(({ payload: { type, data } }) => ({ type, ...data }))).toEqual([
      { type: 'event.logged', eventUUID: 'event-0001', eventID: 7, eventName: '7', ...ids },
      { type: 'contact.created', contactUUID },
      { type: 'contact.recognized', ...ids, linkID: expect.any(String), verified: true },
    ]);
    const sequences = sent.map(({ payload }) => payload.sequence);
    expect(sequences).toEqual([...new Set(sequences)].sort((a, b) => a - b));
    expect(await failedOf(webhookID)).toEqual([]);
  });

  it('include a contact change without waiting for an event', async () => {
    await logEvents(2);
    const webhookID = await createWebhook();
    start();
    const { contactUUID } = await site.server.createContact({ userUUID: null, address: ann });
    await untilSent(webhookID);
    expect(sent.map(({ payload: { type, data } }) => ({ type, ...data }))).toEqual([
      { type: 'contact.created', contactUUID },
    ]);
  });

  it('are signed with the webhook’s secret', async () => {
    const webhookID = await createWebhook({ time: Date.now() });
    time = Date.now();
    const secret = formatSecret(await site.store.getDatabaseKey(), {
      webhookID,
      secretTime: (await find(webhookID)).secretTime,
    });
    const verified: unknown[] = [];
    const { store } = site;
    const log = { warn: () => {}, error: (fields: unknown) => errors.push(fields) };
    const verify: Send = async ({ headers, body }) => {
      verified.push(new Verifier(secret).verify(body, { ...headers }));
      return { succeeded: true, httpStatus: 200, error: '', response: '' };
    };
    stop = startDeliveries({ store, send: verify, log });
    await logEvents(1);
    await vi.waitFor(() => expect(verified).toHaveLength(1), 10_000);
  });

  it('contain the whole event or contact in full payloads', async () => {
    const webhookID = await createWebhook({ payload: 'full' });
    start();
    await site.browser.log({ userUUID: laptop, eventUUID: 'event-0001', attributes: [['product', 'Teapot']] });
    await site.server.createContact({ userUUID: null, address: ann, fields: { contactFirstname: 'Ann' } });
    await untilSent(webhookID);
    expect(sent.map(({ payload }) => payload.data)).toMatchObject([
      { eventUUID: 'event-0001', eventAttrArray: [{ attrID: 'product', attrValue: 'Teapot' }] },
      { contact: { contactFirstname: 'Ann', contactEmailaddress: ann } },
    ]);
  });

  it('are limited to the webhook’s types, event names and attribute', async () => {
    const types = ['event.logged'] as const;
    const one = await createWebhook({ types, filter: { eventNames: ['Bought'] } });
    const several = await createWebhook({ types, filter: { eventNames: ['Bought', 'Sold'], attrID: 'product' } });
    start();
    const attributes = [['product', 'Teapot']] as const;
    const log = (eventName: string, changes: object = {}) =>
      site.server.log({ eventID: null, eventName, eventUUID: newID('event'), ...changes });
    await log('Seen', { attributes });
    await log('Bought');
    await log('Sold', { attributes });
    await log('Bought', { attributes });
    await site.server.createContact({ address: ann });
    await vi.waitFor(() => expect(sent).toHaveLength(4), 10_000);
    const namesOf = (webhookID: string) =>
      sent.filter(({ url }) => url.includes(webhookID)).map(({ payload }) => payload.data.eventName);
    expect(namesOf(one)).toEqual(['Bought', 'Bought']);
    expect(namesOf(several).sort()).toEqual(['Bought', 'Sold']);
  });

  it('retry a failed message on schedule, with the same ID, while later messages are sent', async () => {
    const webhookID = await createWebhook();
    const failing = new Set<number>();
    answer = ({ payload }) => (failing.has(payload.sequence) ? 500 : 200);
    const first = (await readLastSequence(site.store, site.account)) + 1;
    failing.add(first + 1);
    await logEvents(5);
    start();
    await untilSent(webhookID);
    expect(sent.map(({ payload }) => payload.sequence - first).sort()).toEqual([0, 1, 2, 3, 4]);
    const retry = { sequence: first + 1, attempts: 1, nextTime: time + 5_000, httpStatus: 500, error: 'HTTP 500' };
    expect(await failedOf(webhookID)).toMatchObject([retry]);

    await advance(5_000);
    await vi.waitFor(async () => expect(await failedOf(webhookID)).toMatchObject([{ attempts: 2 }]), 10_000);
    failing.clear();
    await advance(300_000);
    await vi.waitFor(async () => expect(await failedOf(webhookID)).toEqual([]), 10_000);
    const attempts = sent.filter(({ payload }) => payload.sequence === first + 1);
    expect(attempts).toHaveLength(3);
    expect(new Set(attempts.map(({ id }) => id)).size).toBe(1);
  });

  it('send one message at a time while an endpoint fails, and store only a cursor', async () => {
    const webhookID = await createWebhook();
    answer = () => 500;
    await logEvents(100);
    start();
    await vi.waitFor(async () => expect((await find(webhookID)).failures).toBe(1), 10_000);
    const count = sent.length;
    expect(count).toBeLessThanOrEqual(20);
    expect((await find(webhookID)).waitUntil).toBe(time + 5_000);
    await advance(5_000);
    await vi.waitFor(async () => expect((await find(webhookID)).failures).toBe(2), 10_000);
    // A retry, and the next message.
    expect(sent.length).toBe(count + 2);
    answer = () => 200;
    await advance(10_000);
    await untilSent(webhookID);
    expect(await find(webhookID)).toMatchObject({ failures: 0, waitUntil: 0, lastSuccessTime: time });
  });

  it('store a webhook’s cursor after an hour in which no messages matched', async () => {
    const webhookID = await createWebhook({ types: ['contact.merged'] });
    const { sentThrough } = await find(webhookID);
    start();
    const hasMoved = async () => {
      await advance(3_600_000);
      expect((await find(webhookID)).sentThrough).toBeGreaterThan(sentThrough);
    };
    await vi.waitFor(hasMoved, 10_000);
    expect(sent).toEqual([]);
  });

  it('send new messages while an endpoint rejects many others', async () => {
    const webhookID = await createWebhook();
    answer = ({ payload }) => (payload.data.eventID === 2 ? 400 : 200);
    start();
    const rejected = Array.from({ length: 60 }, () => ({ eventUUID: newID('event'), eventID: 2 }));
    await site.browser.log(...rejected, { eventUUID: newID('event'), eventID: 3 });
    await untilSent(webhookID);
    expect(await failedOf(webhookID)).toHaveLength(60);
    await advance(5_000);
    const attempts = async () => (await failedOf(webhookID)).map((delivery) => delivery.attempts);
    await vi.waitFor(async () => expect(await attempts()).not.toContain(1), 10_000);
    await vi.waitFor(() => expect(sent.map(({ payload }) => payload.data.userUUID)).toContain(laptop), 10_000);
    expect(await find(webhookID)).toMatchObject({ failures: 0, waitUntil: 0, state: 'active' });
  });

  it('reach an account although another account’s endpoints never respond', async () => {
    const { account, store } = site;
    for (let nth = 0; nth < 30; nth += 1) await createWebhook();
    const other = await createSite(store);
    const settings = { description: '', types: webhookTypes, filter: {}, payload: 'thin' } as const;
    const sentThrough = await readLastSequence(store, other.account);
    const otherWebhook = { ...settings, account: other.account, webhookID: newID('webhook'), sentThrough, time };
    await store.createWebhook({ ...otherWebhook, url: 'https://other.example/' });
    let answerAll = () => {};
    const late = new Promise<number>((resolve) => {
      answerAll = () => resolve(200);
    });
    answer = ({ url }) => (url === 'https://other.example/' ? 200 : late);
    await logEvents(1);
    start();
    await vi.waitFor(() => expect(sent).toHaveLength(5), 10_000);
    await other.browser.log({ eventUUID: newID('event') });
    await vi.waitFor(() => expect(sent.map(({ url }) => url)).toContain('https://other.example/'), 10_000);
    answerAll();
    await vi.waitFor(() => expect(new Set(sent.map(({ url }) => url)).size).toBe(31), 10_000);
    expect((await store.listWebhooks({ account })).length).toBe(30);
  });

  it('store a message that cannot be read as failed, and send the others', async () => {
    const webhookID = await createWebhook({ payload: 'full' });
    const { store } = site;
    const getContact = () => Promise.reject(new Error('a damaged row'));
    const log = { warn: () => {}, error: (fields: unknown) => errors.push(fields) };
    stop = startDeliveries({ store: { ...store, getContact }, send, log, now: () => time, random: () => 0 });
    await logEvents(1);
    await site.server.createContact({ userUUID: null, address: ann });
    await logEvents(1);
    await untilSent(webhookID);
    expect(sent.map(({ payload }) => payload.type)).toEqual(['event.logged', 'event.logged']);
    expect(await failedOf(webhookID)).toMatchObject([{ attempts: 1, error: 'the message could not be read' }]);
    expect(errors.splice(0)).toMatchObject([{ webhookID }]);
  });

  it('wait as long as an endpoint demands with Retry-After', async () => {
    const webhookID = await createWebhook();
    answer = () => ({ httpStatus: 429, retryAfterSeconds: 90 });
    await logEvents(1);
    start();
    await vi.waitFor(async () => expect((await find(webhookID)).waitUntil).toBe(time + 90_000), 10_000);
  });

  it('disable a webhook that responds with 410', async () => {
    const webhookID = await createWebhook();
    answer = () => 410;
    await logEvents(1);
    start();
    const disabled = { state: 'disabled', disabledReason: 'gone', lastFailure: 'HTTP 410' };
    await vi.waitFor(async () => expect(await find(webhookID)).toMatchObject(disabled), 10_000);
    expect(warnings).toEqual([{ webhookID, reason: 'gone', failure: 'HTTP 410' }]);
  });

  it('disable a webhook if all attempts at a delivery fail and no other delivery succeeds', async () => {
    const webhookID = await createWebhook();
    answer = () => 500;
    await logEvents(1);
    start();
    for (const hours of [0, 0.1, 1, 2.5, 6, 12, 16, 24, 28, 30]) {
      time += hours * 3_600_000;
      const attempts = (await failedOf(webhookID))[0]?.attempts ?? 0;
      await site.store.updateWebhook({ account: site.account, webhookID, changes: {}, time });
      await vi.waitFor(async () => expect((await failedOf(webhookID))[0]?.attempts).toBeGreaterThan(attempts), 10_000);
    }
    await vi.waitFor(async () => expect((await find(webhookID)).disabledReason).toBe('failing'), 10_000);
    expect(await failedOf(webhookID)).toMatchObject([{ attempts: 10, nextTime: null }]);
    expect(sent).toHaveLength(10);
  });

  it('stop at the limit on failed deliveries, and continue when there is room', async () => {
    const webhookID = await createWebhook();
    const sequences = Array.from({ length: limits.retriesPerWebhook }, (_, nth) => nth + 1_000_000);
    await site.store.resendDeliveries({ account: site.account, webhookID, sequences, time: time + 1_000 });
    const before = (await find(webhookID)).sentThrough;
    await logEvents(3);
    start();
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(sent).toEqual([]);
    expect((await find(webhookID)).sentThrough).toBe(before);
    // The messages of these deliveries do not exist, so they are dropped.
    await advance(1_000);
    await untilSent(webhookID);
    expect(sent).toHaveLength(4);
    expect(await failedOf(webhookID)).toEqual([]);
  });

  it('send nothing about an erased contact except its erasure', async () => {
    const webhookID = await createWebhook({ payload: 'full' });
    answer = () => 500;
    const { contactUUID } = await site.server.createContact({ userUUID: laptop, address: ann });
    await site.browser.log({ userUUID: laptop, eventUUID: newID('event') });
    start();
    await vi.waitFor(async () => expect((await failedOf(webhookID)).length).toBeGreaterThan(0), 10_000);
    await site.erase(contactUUID);
    const other = await site.server.createContact({ userUUID: null, address: ben });
    sent.length = 0;
    answer = () => 200;
    await advance(5_000);
    await untilSent(webhookID);
    const types = sent.map(({ payload }) => payload.type).filter((type) => type !== 'event.logged');
    expect(types).toEqual(['contact.erased', 'contact.created']);
    expect(JSON.stringify(sent.filter(({ payload }) => payload.type !== 'contact.erased'))).not.toContain(contactUUID);
    expect(JSON.stringify(sent)).not.toContain(ann);
    expect(JSON.stringify(sent)).toContain(other.contactUUID);
    expect(await failedOf(webhookID)).toEqual([]);
  });

  it('resume after a restart with the same IDs, and skip nothing', async () => {
    const webhookID = await createWebhook();
    await logEvents(300);
    const last = await readLastSequence(site.store, site.account);
    start();
    await vi.waitFor(() => expect(sent.length).toBeGreaterThan(30), 10_000);
    await stop();
    const before = new Map(sent.map(({ id, payload }) => [payload.sequence, id]));
    start();
    await untilSent(webhookID);
    const all = new Set(sent.map(({ payload }) => payload.sequence));
    expect(all.size).toBe(300);
    expect(Math.max(...all)).toBe(last);
    for (const { id, payload } of sent) expect(before.get(payload.sequence) ?? id).toBe(id);
  });

  it('stop when the webhook is paused, and continue where they stopped', async () => {
    const webhookID = await createWebhook();
    const { account, store } = site;
    await store.updateWebhook({ account, webhookID, changes: { state: 'paused' }, time });
    start();
    await logEvents(2);
    const other = await createWebhook();
    await logEvents(1);
    await vi.waitFor(() => expect(sent).toHaveLength(1), 10_000);
    expect(sent[0]?.url).toContain(other);
    await store.updateWebhook({ account, webhookID, changes: { state: 'active' }, time });
    await vi.waitFor(() => expect(sent).toHaveLength(4), 10_000);
  });
});
