/** Tests Segment's HTTP API: its paths, tokens and responses, and how messages are stored. */
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Refusal } from '../../src/shared/refusal.ts';
import type { Store } from '../../src/store/store.ts';
import { newUserUUID } from '../fixtures/requests.ts';
import { type Fields, noRateLimits, openScene, type ParsedResponse, type Scene } from '../fixtures/scene.ts';

let scene: Scene;
let time: number;
let isFull: boolean;
const start = Date.UTC(2026, 5, 1, 12);
const dayMs = 86_400_000;

const refusing = (store: Store): Store => ({
  ...store,
  logEvents: async (batch) => {
    if (isFull) throw new Refusal('unavailable', { retryAfterSeconds: 3_000 });
    return store.logEvents(batch);
  },
});

beforeEach(async () => {
  time = start;
  isFull = false;
  scene = await openScene({ now: () => time, segmentPath: '/v1/', wrap: refusing });
});
afterEach(() => scene.close());

const basic = (token: string) => ({ Authorization: `Basic ${Buffer.from(`${token}:`).toString('base64')}` });
const send = (
  messages: readonly unknown[],
  fields: Fields = {},
  token = scene.tokens.server,
): Promise<ParsedResponse> => scene.post('/v1/batch', { batch: messages, ...fields }, basic(token));
const events = async () =>
  (await scene.get('/event/getEvent', { tokenUUID: scene.tokens.server, order: 'asc' })).body.event;
const contact = async (contactExternalID: string) =>
  scene.get('/contact/getContact', { tokenUUID: scene.tokens.server, contactExternalID });
const refused = async () => (await scene.get('/account/listRefused', { tokenUUID: scene.tokens.server })).body.refused;
const track = (anonymousId: string, fields: Fields = {}) => ({
  type: 'track',
  event: 'Bought',
  anonymousId,
  messageId: newUserUUID(),
  ...fields,
});
const done = { status: 200, body: { success: true } };

describe('a request', () => {
  it.each([
    ['Basic', (token: string) => [{}, basic(token)]],
    ['Bearer', (token: string) => [{}, { Authorization: `Bearer ${token}` }]],
    ['writeKey', (token: string) => [{ writeKey: token }, {}]],
  ] as const)('is authenticated with %s', async (_, proof) => {
    for (const token of [scene.tokens.server, scene.tokens.browser]) {
      const [fields, headers] = proof(token);
      const response = await scene.post('/v1/batch', { batch: [track(newUserUUID())], ...fields }, headers);
      expect(response).toMatchObject(done);
    }
    expect(await events()).toHaveLength(2);
  });

  it.each([
    ['/v1/track', {}],
    ['/v1/t', {}],
    ['/v1/b', { batch: true }],
    ['/b', { batch: true }],
    ['/v1/import', { batch: true }],
    ['/v1/import/', { batch: true }],
  ])('is accepted at %s', async (path, { batch = false }: { batch?: boolean }) => {
    const message = { ...track(newUserUUID()), type: undefined };
    const body = batch ? { batch: [{ ...message, type: 'track' }] } : message;
    expect(await scene.post(path, body, basic(scene.tokens.server))).toMatchObject(done);
    expect(await events()).toMatchObject([{ eventName: 'Bought' }]);
  });

  it('is accepted as text and compressed', async () => {
    const body = JSON.stringify({ batch: [track(newUserUUID())], writeKey: scene.tokens.browser });
    const headers = { 'Content-Type': 'text/plain', 'Content-Encoding': 'gzip' };
    expect(await scene.send('/v1/b', { method: 'POST', body: gzipSync(body), headers })).toMatchObject(done);
  });

  it.each<[string, () => Promise<ParsedResponse>, number]>([
    ['without a token', () => scene.post('/v1/batch', { batch: [] }), 401],
    ['with an unknown token', () => send([], {}, 'server_0123456789abcdefghijklm'), 401],
    ['with a viewer token', () => send([], {}, scene.tokens.viewer), 403],
    ['to an unknown path', () => scene.post('/v1/pixel/track', {}, basic(scene.tokens.server)), 404],
    [
      'whose messages each have a large context',
      () => send(Array(2_500).fill({ type: 'page' }), { context: { page: { path: 'x'.repeat(2_000) } } }),
      413,
    ],
    ['without a batch', () => scene.post('/v1/batch', {}, basic(scene.tokens.server)), 400],
    ['with more than 2,500 messages', () => send(Array(2_501).fill(7)), 413],
    [
      'that is not JSON',
      () => scene.send('/v1/batch', { method: 'POST', body: '{', headers: basic(scene.tokens.server) }),
      400,
    ],
  ])('is refused %s, in a response without a field error', async (_, ask, status) => {
    const response = await ask();
    expect(response.status).toBe(status);
    expect(response.body).toMatchObject({ success: false, code: expect.any(String), message: expect.any(String) });
    expect(response.body).not.toHaveProperty('error');
  });

  it('gets a short Retry-After while the store is unavailable, and is stored once when retried', async () => {
    const batch = [{ type: 'identify', userId: 'u-1', messageId: newUserUUID() }, track(newUserUUID())];
    isFull = true;
    const response = await send(batch);
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('300');
    isFull = false;
    expect(await send(batch)).toMatchObject(done);
    expect(await send(batch)).toMatchObject(done);
    expect(await events()).toHaveLength(1);
  });

  it('can come from pages of any origin', async () => {
    const response = await scene.send('/v1/t', { method: 'OPTIONS', headers: { Origin: 'https://shop.example' } });
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
  });
});

describe('a batch', () => {
  it('stores its valid messages, and lists the others with the refused requests', async () => {
    const userUUID = newUserUUID();
    const batch = [
      track(userUUID),
      7,
      { type: 'track', anonymousId: userUUID },
      track(userUUID, { timestamp: 'soon' }),
    ];
    expect(await send(batch)).toMatchObject(done);
    expect(await events()).toHaveLength(1);
    expect((await refused()).map(({ problem }: { problem: { field: string } }) => problem.field).sort()).toEqual([
      'batch',
      'event',
      'event[1].eventTime',
    ]);
  });

  it('keeps event times within the last 30 days, corrected by the sender’s clock', async () => {
    const at = (ms: number) => new Date(ms).toISOString();
    const late = 3_600_000;
    const days = [1, 29, 31];
    const batch = days.map((ago) => track(newUserUUID(), { timestamp: at(start - ago * dayMs - late) }));
    await send(batch, { sentAt: at(start - late) }, scene.tokens.browser);
    expect((await events()).map(({ eventTime }: Fields) => eventTime)).toEqual([
      at(start - dayMs),
      at(start - 29 * dayMs),
      at(start),
    ]);
  });

  it('labels events with the browser, system and device in the user agent that a server sends', async () => {
    const userAgent = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:144.0) Gecko/20100101 Firefox/144.0';
    await send([track(newUserUUID(), { context: { userAgent } }), track(newUserUUID())]);
    const labels = (await events()).map(({ eventAttrArray }: { eventAttrArray: { attrID: string }[] }) =>
      eventAttrArray.map(({ attrID }) => attrID),
    );
    expect(labels).toEqual([['$browser', '$os', '$device'], []]);
  });
});

it('needs no more store calls for more visitors, people and refused messages', async () => {
  const calls = new Map<string, number>();
  const count = (store: Store): Store => {
    const entries = Object.entries(store).map(([name, method]) => [
      name,
      (...args: never[]) => {
        calls.set(name, (calls.get(name) ?? 0) + 1);
        return (method as (...args: never[]) => unknown)(...args);
      },
    ]);
    return Object.fromEntries(entries);
  };
  const other = await openScene({ segmentPath: '/v1/', wrap: count });
  const batch = Array.from({ length: 200 }, (_, nth) => [
    track(newUserUUID(), { userId: 'one-person', context: { userAgent: `Browser/${nth}`, ip: `192.0.2.${nth}` } }),
    { type: 'track', anonymousId: newUserUUID() },
  ]).flat();
  calls.clear();
  await other.post('/v1/batch', { batch }, basic(other.tokens.server));
  await other.close();
  const { logEvents, getContact, createContact, listCatalogue, addRefused } = Object.fromEntries(calls);
  expect({ logEvents, getContact, createContact, listCatalogue, addRefused }).toEqual({
    ...{ logEvents: 1, getContact: 1, createContact: 1, listCatalogue: 1, addRefused: 1 },
  });
});

describe('an identify message', () => {
  it('is a fact if sent with a server token: the contact gets the browser’s history', async () => {
    const userUUID = newUserUUID();
    const traits = { email: 'ann@shop.example', plan: 'pro' };
    await send([track(userUUID), { type: 'identify', anonymousId: userUUID, userId: 'u-1', traits }]);
    const { contact: ann } = (await contact('u-1')).body;
    expect(ann).toMatchObject({ contactEmailaddress: 'ann@shop.example', claimed: [] });
    expect(ann.contactAttr).toEqual([{ attrID: 'plan', attrValue: 'pro' }]);
    expect(await events()).toMatchObject([{ contactUUID: ann.contactUUID }]);
  });

  it('is a claim if sent with a browser token, and changes no existing contact', async () => {
    const userUUID = newUserUUID();
    await send([{ type: 'identify', userId: 'u-1', traits: { firstName: 'Ann' } }]);
    const identify = {
      type: 'identify',
      anonymousId: userUUID,
      userId: 'u-1',
      traits: { firstName: 'Eve', phone: '1' },
    };
    expect(await send([identify], {}, scene.tokens.browser)).toMatchObject(done);
    const { contact: ann } = (await contact('u-1')).body;
    expect(ann).toMatchObject({ contactFirstname: 'Ann', claimed: ['contactTelephone'] });
  });

  it('leaves a contact’s profile unchanged', async () => {
    const given = { contactExternalID: 'u-1', contactProfileID: 'customer' };
    await scene.post('/contact/createContacts', { tokenUUID: scene.tokens.server, contact: [given] });
    await send([{ type: 'identify', userId: 'u-1', traits: { firstName: 'Ann' } }]);
    expect((await contact('u-1')).body.contact).toMatchObject({
      contactProfileID: 'customer',
      contactFirstname: 'Ann',
    });
  });
});

it.each(['server', 'browser'] as const)('stores other traits from a %s token as attributes', async (kind) => {
  const identify = {
    type: 'identify',
    anonymousId: newUserUUID(),
    userId: 'u-4',
    traits: { address: { city: 'Leeds' } },
  };
  await send([identify], {}, scene.tokens[kind]);
  expect((await contact('u-4')).body.contact.contactAttr).toEqual([{ attrID: 'address.city', attrValue: 'Leeds' }]);
});

it('can be corrected and sent again after it is refused', async () => {
  await send([{ type: 'identify', userId: 'u-5', traits: { email: 'ann' } }]);
  const [{ refusedID }] = await refused();
  const fix = { contactEmailaddress: 'ann@shop.example' };
  const response = await scene.post('/account/replayRefused', { tokenUUID: scene.tokens.server, refusedID, fix });
  expect(response.body).toMatchObject({ replayed: true });
});

it('finds and creates people by their e-mail addresses if the account defines userId as an address', async () => {
  await scene.post('/account/updateAccount', { tokenUUID: scene.tokens.server, userIDIsEmailaddress: true });
  const userId = 'Ann@Shop.example';
  const given = { contactEmailaddress: userId, contactProfileID: 'member' };
  await scene.post('/contact/createContacts', { tokenUUID: scene.tokens.server, contact: [given] });
  const invalid = track(newUserUUID(), { userId: 'u-1' });
  const traits = { email: 'other@shop.example', plan: 'pro' };
  await send([track('', { anonymousId: undefined, userId }), { type: 'identify', userId, traits }, invalid]);
  await send([track(newUserUUID(), { userId: 'ben@shop.example' })]);
  const byAddress = async (contactEmailaddress: string) =>
    (await scene.get('/contact/getContact', { tokenUUID: scene.tokens.server, contactEmailaddress })).body.contact;
  const [ann, ben] = [await byAddress(userId), await byAddress('ben@shop.example')];
  expect(ann).toMatchObject({
    contactProfileID: 'member',
    contactExternalID: '',
    contactAttr: [{ attrID: 'plan', attrValue: 'pro' }],
  });
  expect(await events()).toMatchObject([{ contactUUID: ann.contactUUID }, { contactUUID: ben.contactUUID }]);
  expect(await refused()).toMatchObject([{ problem: { field: 'userId' } }]);
});

it('can create a person without a browser, by e-mail address', async () => {
  await send([{ type: 'identify', traits: { email: 'ann@shop.example', plan: 'pro' } }]);
  const found = { tokenUUID: scene.tokens.server, contactEmailaddress: 'ann@shop.example' };
  expect((await scene.get('/contact/getContact', found)).status).toBe(200);
});

it('does not overwrite newer traits if it has no browser and is retried late', async () => {
  const identify = (plan: string) => ({ type: 'identify', userId: 'u-7', messageId: newUserUUID(), traits: { plan } });
  const [first, second] = [identify('free'), identify('pro')];
  for (const message of [first, second, first]) await send([message]);
  expect((await contact('u-7')).body.contact.contactAttr).toEqual([{ attrID: 'plan', attrValue: 'pro' }]);
});

it('gives a new contact the account’s default profile if the token is allowed to use it', async () => {
  const profile = [{ profileID: 'a-first' }, { profileID: 'member', browser: false }];
  const settings = { profile, defaultProfileID: 'member', browserCatalogue: true };
  await scene.post('/account/updateAccount', { tokenUUID: scene.tokens.server, ...settings });
  await send([{ type: 'identify', userId: 'u-1' }]);
  const identify = { type: 'identify', anonymousId: newUserUUID(), userId: 'u-2' };
  await send([identify], {}, scene.tokens.browser);
  expect((await contact('u-1')).body.contact.contactProfileID).toBe('member');
  expect((await contact('u-2')).body.contact.contactProfileID).toBe('a-first');
});

it('gives an anonymous ID in another format the same hash each time', async () => {
  for (const _ of [1, 2]) await send([track('ann@shop.example')]);
  const [first, second] = (await events()).map(({ userUUID }: Fields) => userUUID);
  expect(first).toMatch(/^[\w-]{43}$/);
  expect(second).toBe(first);
});

it('gives a browser a profile that it is allowed to use', async () => {
  const profile = [{ profileID: 'a-staff', browser: false }, { profileID: 'customer' }];
  await scene.post('/account/updateAccount', { tokenUUID: scene.tokens.server, profile, browserCatalogue: true });
  const identify = { type: 'identify', anonymousId: newUserUUID(), userId: 'u-6' };
  await send([identify], {}, scene.tokens.browser);
  expect((await contact('u-6')).body.contact).toMatchObject({ contactProfileID: 'customer' });
});

it('counts toward all limits or none, no matter how many contacts its batch has', async () => {
  const narrow = { perSecond: 0.001, burst: 2 };
  const other = await openScene({ segmentPath: '/v1/', rateLimits: { ...noRateLimits, createContactAddress: narrow } });
  const identify = (userId: string) => ({ type: 'identify', anonymousId: newUserUUID(), userId });
  const batch = ['a-1', 'a-2', 'a-3'].map(identify);
  const ask = () => other.post('/v1/batch', { batch, writeKey: other.tokens.browser });
  expect([(await ask()).status, (await ask()).status]).toEqual([200, 429]);
  await other.close();
});

it('corrects each browser’s clock separately', async () => {
  const at = (ms: number) => new Date(ms).toISOString();
  const early = { ...track(newUserUUID()), timestamp: at(start - 61_000) };
  await send([early], { sentAt: at(start - 61_000) }, scene.tokens.browser);
  await send([{ ...track(newUserUUID()), timestamp: at(start - 10_000) }], { sentAt: at(start) }, scene.tokens.browser);
  expect((await events()).map(({ eventTime }: Fields) => eventTime)).toEqual([at(start), at(start - 10_000)]);
});

describe('an event with a userId', () => {
  it('creates the contact once with a server token', async () => {
    await send([track('', { anonymousId: undefined, userId: 'u-2' }), track(newUserUUID(), { userId: 'u-2' })]);
    const { contactUUID } = (await contact('u-2')).body.contact;
    expect(await events()).toMatchObject([{ contactUUID }, { contactUUID }]);
  });

  it('creates the contact again after it was erased', async () => {
    const event = () => track(newUserUUID(), { userId: 'u-9' });
    await send([event()]);
    await scene.post('/contact/eraseContact', { tokenUUID: scene.tokens.server, contactExternalID: 'u-9' });
    await send([event()]);
    expect((await contact('u-9')).status).toBe(200);
    expect(await refused()).toEqual([]);
  });

  it('creates no contact with a browser token', async () => {
    await send([{ type: 'identify', userId: 'u-2' }]);
    await send([track(newUserUUID(), { userId: 'u-2' })], {}, scene.tokens.browser);
    expect(await events()).toMatchObject([{ contactUUID: '' }]);
  });
});

describe('an alias message', () => {
  it.each(['server', 'browser'] as const)('links the previous ID with a %s token', async (kind) => {
    const previousId = newUserUUID();
    const alias = { type: 'alias', previousId, userId: 'u-3', anonymousId: previousId };
    await send([track(previousId), alias], {}, scene.tokens[kind]);
    const response = await scene.get('/contact/getContact', {
      tokenUUID: scene.tokens.server,
      contactExternalID: 'u-3',
      include: 'link',
    });
    expect(response.body.link).toMatchObject([{ userUUID: previousId, verified: kind === 'server' }]);
  });
});

describe('the settings', () => {
  const settings = (at: Scene, host: string, place = '') =>
    at.send(`${place}/projects/${at.tokens.browser}/settings`, { headers: { host } });
  const apiHost = async (response: Promise<ParsedResponse>) =>
    (await response).body.integrations?.['Segment.io'].apiHost;

  it.each(['', '/v1'])('point to this machine below "%s"', async (place) => {
    expect(await apiHost(settings(scene, 'localhost:3000', place))).toBe('localhost:3000/v1');
  });

  it('do not repeat a Host header that belongs to none of the account’s sites', async () => {
    expect(await settings(scene, 'evil.example')).toMatchObject({ status: 403, body: { code: 'origin_not_allowed' } });
  });

  it('point to the requested site if it belongs to the account, otherwise to CONSOLE_ORIGIN’s host', async () => {
    const other = await openScene({
      segmentPath: '/v1/',
      consoleOrigin: 'https://f.shop.example',
      basePath: '/x/',
      account: { accountOrigin: ['https://shop.example'] },
    });
    expect(await apiHost(settings(other, 'shop.example', '/x'))).toBe('shop.example/x/v1');
    expect(await apiHost(settings(other, 'evil.example', '/x'))).toBe('f.shop.example/x/v1');
    await other.close();
  });

  it('are refused without a token', async () => {
    expect((await scene.send('/v1/projects/unknown-token/settings')).status).toBe(401);
  });
});

it('applies a browser token’s rate limits', async () => {
  const one = { perSecond: 0.001, burst: 1 };
  const other = await openScene({ segmentPath: '/v1/', rateLimits: { ...noRateLimits, address: one } });
  const ask = () => other.post('/v1/t', { ...track(newUserUUID()), writeKey: other.tokens.browser });
  expect((await ask()).status).toBe(200);
  const response = await ask();
  await other.close();
  expect(response).toMatchObject({ status: 429, body: { success: false, code: 'too_many_requests' } });
  expect(response.headers.get('retry-after')).toBe('300');
});

it('serves nothing if SEGMENT_PATH is off', async () => {
  const other = await openScene();
  expect((await other.post('/v1/batch', { batch: [] }, basic(other.tokens.server))).status).toBe(404);
  await other.close();
});
