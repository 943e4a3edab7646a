/** Tests that a write that is refused for its content is recorded without its token and can be sent again. */
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createReplay } from '../../src/http/refused/replay.ts';
import { Refusal } from '../../src/shared/refusal.ts';
import type { RefusedRequest, Store } from '../../src/store/store.ts';
import { makeContact, newAddress, newUserUUID } from '../fixtures/requests.ts';
import { type Fields, noRateLimits, openScene, type ParsedResponse, type Scene } from '../fixtures/scene.ts';

let scene: Scene;
let time: number;
let failing: boolean;
const start = Date.UTC(2026, 5, 1, 12);

const failOnDemand = (store: Store): Store => ({
  ...store,
  addRefused: async (batch) => {
    if (failing) throw new Refusal('unavailable', { retryAfterSeconds: 3 });
    return store.addRefused(batch);
  },
});

beforeEach(async () => {
  time = start;
  failing = false;
  scene = await openScene({
    now: () => time,
    wrap: failOnDemand,
    account: { strict: true, event: [{ eventID: 1 }], profile: [{ profileID: 'customer' }] },
  });
});
afterEach(() => scene.close());

const list = async (): Promise<RefusedRequest[]> => [
  ...(await scene.store.listRefused({ beyond: 0, limit: 2_000 })).requests,
];
const total = async () =>
  (await scene.store.countRefused({})).reduce(
    (sum, { listed, evicted, erased, replayed }) => sum + listed + evicted + erased + replayed,
    0,
  );
/** Replays requests one by one, as the command does. */
const replayAll = async (fix?: Fields) => {
  const send = createReplay(scene.store);
  const responses: Fields[] = [];
  for (const request of await list()) {
    responses.push(await send(request, { time, ...(fix && { fix }) }).catch((error) => error));
  }
  return responses;
};
const allowEverything = () => scene.post('/account/updateAccount', { tokenUUID: scene.tokens.server, strict: false });
const events = async () =>
  (await scene.get('/event/getEvent', { tokenUUID: scene.tokens.server, order: 'asc' })).body.event;

const kinds = ['browser', 'server'] as const;
type Kind = (typeof kinds)[number];
const path = {
  logEvent: '/logEvent',
  logEvents: '/event/logEvents',
  createContact: '/createContact',
  updateContact: '/contact/updateContact',
};
type Operation = keyof typeof path;

/** Every reason to refuse a request's content, with its status. */
const refusals: Record<Operation, Record<string, { fields: () => Fields; status: number; kinds?: readonly Kind[] }>> = {
  logEvent: {
    'a missing field': { fields: () => ({ userUUID: newUserUUID() }), status: 400 },
    'a malformed field': { fields: () => ({ userUUID: newUserUUID(), eventID: 'x' }), status: 400 },
    'no user or contact': { fields: () => ({ eventID: 1 }), status: 400 },
    'an ID that a strict account does not list': {
      fields: () => ({ userUUID: newUserUUID(), eventID: 2 }),
      status: 400,
    },
    'an unknown contact': { fields: () => ({ contactUUID: 'nobody', eventID: 1 }), status: 404 },
  },
  logEvents: {
    'no events': { fields: () => ({ userUUID: newUserUUID() }), status: 400 },
    'a malformed envelope': { fields: () => ({ userUUID: '?', event: [{ eventID: 1 }] }), status: 400 },
  },
  createContact: {
    'a missing field': { fields: () => ({ userUUID: newUserUUID(), contactEmailaddress: newAddress() }), status: 400 },
    'an invalid e-mail address': {
      fields: () => ({ userUUID: newUserUUID(), contactEmailaddress: 'x', contactProfileID: 'customer' }),
      status: 400,
    },
    'an ID that a strict account does not list': {
      fields: () => ({ userUUID: newUserUUID(), contactEmailaddress: newAddress(), contactProfileID: 'vip' }),
      status: 400,
    },
    'an invalid proof': {
      fields: () => ({
        userUUID: newUserUUID(),
        contactEmailaddress: newAddress(),
        contactProfileID: 'customer',
        contactProof: '1.x',
      }),
      status: 400,
      kinds: ['browser'],
    },
  },
  updateContact: {
    'a missing field': { fields: () => ({ contactTitle: 'Dr' }), status: 400, kinds: ['server'] },
    'an unknown contact': {
      fields: () => ({ contactUUID: 'nobody', contactTitle: 'Dr' }),
      status: 404,
      kinds: ['server'],
    },
  },
};

const cases = Object.entries(refusals).flatMap(([operation, reasons]) =>
  Object.entries(reasons).flatMap(([why, { kinds: by = kinds, ...reason }]) =>
    by.map((kind) => ({ operation: operation as Operation, why, kind, ...reason })),
  ),
);

describe('a refused request', () => {
  it.each(cases)(
    'is recorded without its token, for $operation by a $kind token with $why',
    async ({ operation, kind, fields, status }) => {
      const content = fields();
      const sent: ParsedResponse = await scene.post(path[operation], { tokenUUID: scene.tokens[kind], ...content });
      expect(sent.status).toBe(status);
      const [request, ...others] = await list();
      expect(others).toEqual([]);
      const { error } = sent.body;
      expect(request).toMatchObject({
        operation,
        input: content,
        tokenKind: kind,
        accountUUID: scene.accountUUID,
        refusedTime: start,
        code: error.code,
        field: error.field,
        message: error.message,
      });
      expect(JSON.stringify(request?.input)).not.toContain('browser_');
      expect(JSON.stringify(request?.input)).not.toContain('server_');
      expect(await total()).toBe(1);
    },
  );

  it('is recorded if it has another contact’s address, and is removed when that contact is erased', async () => {
    const { tokens } = scene;
    const [one, other] = [await makeContact(scene), await makeContact(scene)];
    const fields = { contactUUID: one.contactUUID, contactEmailaddress: other.contactEmailaddress };
    const sent = await scene.post('/contact/updateContact', { tokenUUID: tokens.server, ...fields });
    expect(sent.status).toBe(409);
    expect(await replayAll()).toMatchObject([{ code: 'email_taken' }]);
    expect(await total()).toBe(1);
    await scene.post('/contact/eraseContact', { tokenUUID: tokens.server, contactUUID: other.contactUUID });
    // Expects an empty list: the removed request had the erased contact's address.
    expect(await list()).toEqual([]);
    expect(await total()).toBe(1);
  });

  it('is counted even if a token’s list is full', async () => {
    const { tokens } = scene;
    const entry = { eventID: 'x' };
    for (const kind of kinds) {
      for (let batch = 0; batch < 3; batch += 1) {
        const { status } = await scene.post('/event/logEvents', {
          tokenUUID: tokens[kind],
          userUUID: newUserUUID(),
          event: Array.from({ length: 700 }, () => entry),
        });
        expect(status).toBe(200);
      }
    }
    expect(await scene.store.countRefused({})).toMatchObject([
      { tokenKind: 'browser', listed: 1_000, evicted: 1_100 },
      { tokenKind: 'server', listed: 1_000, evicted: 1_100 },
    ]);
    expect(await list()).toHaveLength(2_000);
  });

  it('never contains a token, no matter where the request had it', async () => {
    const { browser, agent, viewer, editor, server, operator, revoked } = scene.tokens;
    const Authorization = `Bearer ${server}`;
    await scene.post('/logEvent', {
      tokenUUID: browser,
      others: [agent, viewer, editor],
      note: `with ${browser}`,
      [browser]: 1,
      nested: { tokenUUID: server },
    });
    await scene.post(
      '/event/logEvents',
      { userUUID: newUserUUID(), event: [{ tokenUUID: browser }, `${server}`] },
      { Authorization },
    );
    await scene.send(`/logEvent?tokenUUID=${browser}&eventID=1`);
    await scene.send('/logEvent', { method: 'POST', body: new URLSearchParams({ tokenUUID: browser, eventID: '1' }) });
    await scene.send('/logEvent', {
      method: 'POST',
      body: `{"tokenUUID": "${server}", "${server}`,
      headers: { Authorization },
    });
    await scene.send('/logEvent', {
      method: 'POST',
      body: `tokenUUID=${browser}&x=%FF`,
      headers: { Authorization, 'Content-Type': 'application/x-www-form-urlencoded' },
    });
    const eventAttrArray = [{ attrID: browser, attrValue: browser }];
    await scene.post('/logEvent', { tokenUUID: browser, userUUID: newUserUUID(), eventID: 1, eventAttrArray });
    // Sends a request that also has other tokens in unexpected places.
    await scene.post('/logEvent', { tokenUUID: browser, eventID: 1, token: operator, [`${revoked}!`]: 1 });
    await scene.send('/logEvent', { method: 'POST', body: `{'token': '${operator}'}`, headers: { Authorization } });
    expect(await total()).toBe(10);
    const stored = JSON.stringify((await list()).map(({ input, message }) => [input, message]));
    expect(stored).not.toContain(browser);
    for (const secret of [agent, viewer, editor, server, operator, revoked]) expect(stored).not.toContain(secret);
  });

  it('returns an error without the e-mail address that was sent as an ID', async () => {
    const eventAttrArray = [{ attrID: 'ada@example.com', attrValue: 'x' }];
    const fields = { userUUID: newUserUUID(), eventID: 1, eventAttrArray };
    const { status, body } = await scene.post('/logEvent', { tokenUUID: scene.tokens.browser, ...fields });
    expect([status, body.error.code]).toEqual([400, 'unknown_id']);
    expect(body.error.message).toMatch(/names attr …@…, which/);
  });

  it('is not recorded for errors about rights, limits or erased contacts, or for unrecorded operations', async () => {
    const { tokens } = scene;
    const { contactUUID, userUUID } = await makeContact(scene);
    await scene.post('/contact/eraseContact', { tokenUUID: tokens.server, contactUUID });
    const statuses = await Promise.all([
      scene.post('/logEvent', { tokenUUID: 'browser_unknown', eventID: 'x' }),
      scene.post('/logEvent', { tokenUUID: tokens.operator, eventID: 'x' }),
      scene.post('/contact/updateContact', { tokenUUID: tokens.browser, contactTitle: 'Dr' }),
      scene.post('/logEvent', { tokenUUID: tokens.server, eventID: 'x' }, { Origin: 'https://shop.example' }),
      scene.post('/logEvent', { tokenUUID: tokens.server, contactUUID, eventID: 1 }),
      scene.post('/event/logEvents', { tokenUUID: tokens.server, event: [{ contactUUID, eventID: 1 }] }),
      scene.post('/logEvent', { tokenUUID: tokens.server, note: 'x'.repeat(70_000) }),
      scene.post('/contact/linkUser', { tokenUUID: tokens.server, userUUID, contactUUID: 'nobody' }),
      scene.get('/contact/getContact', { tokenUUID: tokens.server, contactUUID: 'nobody' }),
      scene.send('/logEvent', { method: 'POST', body: '{' }),
      scene.send('/logEvent', { method: 'POST', body: '{', headers: { Authorization: 'Bearer browser_unknown' } }),
      scene.app.request(`/logEvent?tokenUUID=${tokens.browser}`, { method: 'HEAD' }),
      scene.send(`/logEvent?tokenUUID=${tokens.browser}`, { headers: { 'Sec-Purpose': 'prefetch' } }),
    ]);
    expect(statuses.map(({ status }) => status)).toEqual([
      401, 403, 403, 403, 410, 200, 413, 404, 404, 400, 400, 400, 400,
    ]);
    expect(await total()).toBe(0);
  });

  it('is counted but not recorded if it identifies an erased contact and has another error', async () => {
    const { tokens } = scene;
    const { contactUUID } = await makeContact(scene);
    await scene.post('/contact/eraseContact', { tokenUUID: tokens.server, contactUUID });
    await scene.post('/logEvent', { tokenUUID: tokens.server, contactUUID, eventID: 'x' });
    expect(await list()).toEqual([]);
    expect(await total()).toBe(1);
  });

  it.each([
    ['JSON', '{"eventID": 1', {}],
    ['UTF-8', Buffer.from([0x7b, 0xff]), {}],
    ['gzip', gzipSync('{}').subarray(0, 10), { 'Content-Encoding': 'gzip' }],
    ['form data', 'eventID=%FF', { 'Content-Type': 'application/x-www-form-urlencoded' }],
  ])('is recorded as text if it is not valid %s and its token is in the header', async (_, body, headers) => {
    const Authorization = `Bearer ${scene.tokens.browser}`;
    const init = { method: 'POST', body, headers: { Authorization, ...headers } };
    expect((await scene.send('/logEvent', init)).status).toBe(400);
    const [request] = await list();
    expect(request).toMatchObject({ operation: 'logEvent', input: expect.any(String), tokenKind: 'browser' });
    await allowEverything();
    expect(await replayAll()).toEqual([expect.any(Refusal)]);
    const fix = { eventID: 3, userUUID: newUserUUID() };
    expect(await replayAll(fix)).toEqual([{ eventUUID: expect.any(String) }]);
    expect(await total()).toBe(1);
  });

  it('is subject to rate limits before it is recorded', async () => {
    await scene.close();
    scene = await openScene({ rateLimits: { ...noRateLimits, token: { perSecond: 0.001, burst: 2 } } });
    const { browser: tokenUUID } = scene.tokens;
    const headers = { Authorization: `Bearer ${tokenUUID}` };
    const statuses = [
      await scene.post('/logEvent', { tokenUUID }),
      await scene.send('/logEvent', { method: 'POST', body: '{', headers }),
      await scene.post('/logEvent', { tokenUUID }),
      await scene.send('/logEvent', { method: 'POST', body: '{', headers }),
    ];
    expect(statuses.map(({ status }) => status)).toEqual([400, 400, 429, 429]);
    expect(await total()).toBe(2);
  });

  it('gets 503 while it can’t be recorded; in a batch, only the refused events get 503', async () => {
    failing = true;
    const { server: tokenUUID } = scene.tokens;
    const alone = await scene.post('/logEvent', { tokenUUID });
    expect([alone.status, alone.headers.get('retry-after')]).toEqual([503, '3']);
    const event = [{ eventID: 1, eventUUID: 'event-good' }, { eventID: 'x' }];
    const { body } = await scene.post('/event/logEvents', { tokenUUID, userUUID: newUserUUID(), event });
    expect(body.event).toMatchObject([{ status: '200' }, { status: '503', error: { code: 'unavailable' } }]);
    expect(await events()).toMatchObject([{ eventUUID: 'event-good' }]);
  });
});

describe('a refused request that is sent again', () => {
  it.each([
    ['browser', 'alone', 'true'],
    ['browser', 'in a batch', 'true'],
    ['browser', 'unread', 'true'],
    ['server', 'alone', undefined],
  ] as const)('keeps the bot mark for a %s token, %s', async (kind, how, mark) => {
    const Authorization = `Bearer ${scene.tokens[kind]}`;
    const headers = { Authorization, 'User-Agent': 'Mozilla/5.0 (compatible; Googlebot/2.1)' };
    const fields = { userUUID: newUserUUID(), eventID: 7 };
    if (how === 'alone') await scene.post('/logEvent', fields, headers);
    if (how === 'in a batch') await scene.post('/event/logEvents', { ...fields, event: [fields] }, headers);
    if (how === 'unread') await scene.send('/logEvent', { method: 'POST', body: '{', headers });
    const { body } = await scene.get('/account/listRefused', { tokenUUID: scene.tokens.server });
    expect(body.refused.map(({ robot }: Fields) => robot)).toEqual([kind === 'browser']);
    await allowEverything();
    expect(await replayAll(how === 'unread' ? fields : undefined)).toEqual([{ eventUUID: expect.any(String) }]);
    const [event] = await events();
    const marks = event.eventAttrArray.map(({ attrID, attrValue }: Fields) => [attrID, attrValue]);
    expect(marks).toEqual(mark ? [['robot', mark]] : []);
  });

  it.each(kinds)('is stored once after a correction, with its original time, for a %s token', async (kind) => {
    const tokenUUID = scene.tokens[kind];
    const userUUID = newUserUUID();
    const post = (fields: Fields) => scene.post('/logEvent', { tokenUUID, userUUID, eventID: 7, ...fields });
    const now = new Date(start).toISOString();
    await post({ eventUUID: 'event-named' });
    await post({});
    // Sends from a client whose clock is one hour ahead.
    const sentTime = start + 3_600_000;
    await post({ eventTime: sentTime - 60_000, sentTime });
    const entries = [
      { eventID: 7, eventUUID: 'event-of-batch', eventTime: sentTime - 500 },
      { eventID: 1, eventUUID: 'event-fine' },
    ];
    const batch = await scene.post('/event/logEvents', { tokenUUID, userUUID, sentTime, event: entries });
    expect(batch.body.event).toMatchObject([{ status: '400' }, { status: '200' }]);
    expect(await total()).toBe(4);
    const uuids = (await list()).map(({ input }) => (input as Fields).eventUUID);
    expect(uuids).toEqual(['event-named', expect.stringMatching(/^[\w-]{21}$/), expect.any(String), 'event-of-batch']);

    expect(await replayAll()).toEqual(uuids.map(() => expect.any(Refusal)));
    expect(await list()).toHaveLength(4);
    await allowEverything();
    time = start + 30 * 86_400_000;
    const twice = await Promise.all([replayAll(), replayAll()]);
    expect(twice.flat().filter((response) => !(response instanceof Error))).toHaveLength(4);
    expect(await list()).toEqual([]);
    expect(await total()).toBe(4);
    const stored = (await events()).slice(1);
    expect(stored).toMatchObject([
      { eventUUID: 'event-named', eventTime: now, userUUID },
      { eventUUID: uuids[1], eventTime: now },
      { eventUUID: uuids[2], eventTime: new Date(start - 60_000).toISOString() },
      { eventUUID: 'event-of-batch', eventTime: new Date(start - 500).toISOString(), userUUID },
    ]);
    for (const event of stored) expect(event).not.toHaveProperty('eventTimeReplaced');
  });

  it('is a duplicate if its client has also sent it again', async () => {
    const fields = { tokenUUID: scene.tokens.browser, userUUID: newUserUUID(), eventID: 7, eventUUID: 'event-twice' };
    await scene.post('/logEvent', fields);
    await allowEverything();
    await scene.post('/logEvent', fields);
    expect(await replayAll()).toEqual([{ eventUUID: 'event-twice', duplicate: true }]);
    expect(await events()).toHaveLength(1);
    expect(await list()).toEqual([]);
  });

  it('is stored as a whole batch, or not at all', async () => {
    const { server: tokenUUID } = scene.tokens;
    const event = [{ eventID: 1 }, { eventID: 9 }, { eventID: 1, contactUUID: 'nobody' }];
    await scene.post('/event/logEvents', { tokenUUID, userUUID: '?', event });
    const userUUID = newUserUUID();
    expect(await replayAll({ userUUID })).toMatchObject([{ code: 'unknown_id', field: 'eventID' }]);
    await allowEverything();
    expect(await replayAll({ userUUID })).toMatchObject([{ code: 'unknown_contact' }]);
    expect(await replayAll({ userUUID, event: [...event.slice(0, 2), {}] })).toMatchObject([
      { field: 'event[2].eventID' },
    ]);
    expect(await events()).toEqual([]);
    expect(await replayAll({ userUUID, event: event.slice(0, 2) })).toMatchObject([
      { event: [{ status: '200' }, { status: '200' }] },
    ]);
    expect(await events()).toHaveLength(2);
    expect(await total()).toBe(1);
  });

  it('has only the rights of its token: a browser’s request becomes a claim', async () => {
    const { browser, server } = scene.tokens;
    const { contactUUID, contactEmailaddress } = await makeContact(scene);
    const fields = { contactEmailaddress, contactFirstname: 'Eve', contactProfileID: 'vip' };
    await scene.post('/createContact', { tokenUUID: browser, userUUID: newUserUUID(), ...fields });
    await allowEverything();
    const [response = {}] = await replayAll();
    expect(response).toMatchObject({ exists: false });
    expect(response.contactUUID).not.toBe(contactUUID);
    const { body } = await scene.get('/contact/getContact', { tokenUUID: server, contactUUID });
    expect(body.contact).toMatchObject({ contactFirstname: 'Eve', contactProfileID: 'customer' });
    expect(body.contact.claimed).toContain('contactFirstname');
  });

  it.each(['is revoked', 'has expired'])(
    'needs another live token of its account and kind if its own %s',
    async (ended) => {
      const { tokens } = scene;
      const createToken = async (fields: Fields) =>
        (await scene.post('/account/createToken', { tokenUUID: tokens.server, tokenKind: 'browser', ...fields })).body;
      const [own, other] = [
        await createToken(ended === 'has expired' ? { expiresTime: start + 1_000 } : {}),
        await createToken({}),
      ];
      await scene.post('/logEvent', { tokenUUID: own.tokenUUID, userUUID: newUserUUID(), eventID: 7 });
      if (ended === 'has expired') time += 1_000;
      else await scene.post('/account/revokeToken', { tokenUUID: tokens.server, tokenID: own.tokenID });
      await allowEverything();
      expect(await replayAll()).toMatchObject([{ code: 'invalid_token', message: expect.stringContaining('--as') }]);
      const [request] = (await list()) as [RefusedRequest];
      const { account } = (await scene.get('/account/getAccount', { tokenUUID: tokens.server })).body;
      const server = account.token.find(({ tokenKind }: Fields) => tokenKind === 'server');
      const send = createReplay(scene.store);
      await expect(send(request, { time, as: server.tokenID })).rejects.toMatchObject({ code: 'invalid_token' });
      expect(await send(request, { time, as: other.tokenID })).toMatchObject({ eventUUID: expect.any(String) });
      expect(await list()).toEqual([]);
      const [entry] = (await scene.store.listAudit({ limit: 1 })).entries;
      expect(entry).toMatchObject({ action: 'replayRefused', subject: { tokenID: other.tokenID } });
    },
  );

  it('creates and changes contacts with a server token', async () => {
    const { server: tokenUUID } = scene.tokens;
    const contactEmailaddress = newAddress();
    await scene.post('/contact/updateContact', { tokenUUID, contactEmailaddress, contactTitle: 'Dr' });
    await scene.post('/createContact', {
      tokenUUID,
      contactEmailaddress,
      contactProfileID: 'vip',
      userUUID: newUserUUID(),
    });
    await allowEverything();
    expect(await replayAll()).toMatchObject([{ code: 'unknown_contact' }, { exists: false }]);
    expect(await replayAll()).toMatchObject([{ updated: ['contactTitle'] }]);
    expect(await list()).toEqual([]);
    expect(await total()).toBe(2);
  });
});
