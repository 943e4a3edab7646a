import { pino } from 'pino';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { type Quota, startQuota } from '../src/http/access/quota.ts';
import { newAddress } from './fixtures/requests.ts';
import { openScene, type Scene } from './fixtures/scene.ts';

const userUUID = 'a-browser-of-a-test';
let scene: Scene;
let quota: Quota & { stop(): Promise<void> };

const limitTo = async (accountBytes: number) => {
  await quota?.stop();
  quota = startQuota(scene.store, { accountBytes, log: pino({ level: 'silent' }), everyMilliseconds: 5 });
};

beforeEach(async () => {
  scene = await openScene({ quota: { accountBytes: 3_000, isOver: (account) => quota.isOver(account) } });
  await limitTo(3_000);
  onTestFinished(async () => {
    await quota.stop();
    await scene.close();
  });
});

const log = (fields: object = {}, tokenUUID = scene.tokens.server) =>
  scene.post('/logEvent', { tokenUUID, userUUID, eventID: 1, ...fields });
const fill = () =>
  log({
    eventAttrArray: [
      { attrID: 'text', attrValue: 'x'.repeat(2_048) },
      { attrID: 'more', attrValue: 'x'.repeat(900) },
    ],
  });
/** Logs the same event each time, which is stored only once. */
const probe = async () => (await log({ eventUUID: 'event-of-a-test' })).status;
const untilLog = (status: number) => expect.poll(probe, { interval: 10 }).toBe(status);
const account = async () => (await scene.get('/account/getAccount', { tokenUUID: scene.tokens.server })).body.account;

it('returns an account’s usage and limits from getAccount', async () => {
  await fill();
  const { usage, limits } = await account();
  expect(usage).toMatchObject({ events: 1, storedBytes: expect.any(Number) });
  expect(usage.storedBytes).toBeGreaterThan(2_900);
  expect(limits.accountBytes).toBe(3_000);
});

it('rejects new data from an account over its quota, with each kind of token and in each operation', async () => {
  await fill();
  await untilLog(429);
  const { usage } = await account();
  const { status, headers, body } = await log();
  expect({ status, retryAfter: headers.get('retry-after'), code: body.error.code }).toEqual({
    status: 429,
    retryAfter: '3600',
    code: 'quota',
  });
  const { browser, server } = scene.tokens;
  const contactEmailaddress = newAddress();
  for (const tokenUUID of [browser, server]) {
    const refused = [
      await log({}, tokenUUID),
      await log({ eventID: 'none' }, tokenUUID),
      await scene.post('/event/logEvents', { tokenUUID, userUUID, event: [{ eventID: 1 }] }),
      await scene.post('/createContact', { tokenUUID, userUUID, contactEmailaddress, contactProfileID: 'customer' }),
    ];
    expect(refused.map((response) => [response.status, response.body.error.code])).toEqual(
      Array(4).fill([429, 'quota']),
    );
  }
  expect((await account()).usage).toEqual(usage);
  expect(await scene.store.countRefused({})).toEqual([]);
});

it('allows reads, changes and erasures in an account over its quota, and does not affect other accounts', async () => {
  const contact = {
    tokenUUID: scene.tokens.server,
    userUUID,
    contactEmailaddress: newAddress(),
    contactProfileID: 'customer',
  };
  const { contactUUID } = (await scene.post('/createContact', contact)).body;
  await fill();
  await untilLog(429);
  const { server, operator } = scene.tokens;
  const { body: other } = await scene.post('/account/createAccount', { tokenUUID: operator, accountName: 'Other' });
  expect(await log({}, other.serverTokenUUID)).toMatchObject({ status: 200 });
  const read = { tokenUUID: server, contactUUID };
  expect(await scene.get('/contact/getContact', read)).toMatchObject({ status: 200 });
  expect(await scene.get('/event/getEvent', { tokenUUID: server })).toMatchObject({ status: 200 });
  const changed = [
    await scene.post('/account/updateAccount', { tokenUUID: server, accountName: 'Full' }),
    await scene.post('/contact/updateContact', { ...read, contactFirstname: 'Ann' }),
    await scene.post('/contact/unlinkUser', { tokenUUID: server, userUUID }),
    await scene.post('/contact/linkUser', { ...read, userUUID }),
    await scene.post('/contact/eraseContact', read),
  ];
  expect(changed.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  await untilLog(200);
});

it('accepts new data again after old events are deleted or the quota is raised', async () => {
  await fill();
  await untilLog(429);
  await scene.store.deleteEventsBefore({ time: Date.now() + 1, limit: 100 });
  await untilLog(200);
  await fill();
  await untilLog(429);
  await limitTo(1e6);
  await untilLog(200);
});
