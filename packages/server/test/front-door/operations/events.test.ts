import type { ErrorBody } from '@firsthand/contract/response';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Refusal } from '../../../src/shared/refusal.ts';
import { makeContact, newUserUUID } from '../../fixtures/requests.ts';
import { type Fields, openScene, type Scene } from '../../fixtures/scene.ts';

let scene: Scene;
let now = Date.parse('2026-06-15T12:00:00.000Z');
beforeAll(async () => {
  scene = await openScene({ now: () => now, account: { accountTimezone: 'Europe/London' } });
});
afterAll(() => scene.close());

const log = (fields: Fields, kind: 'browser' | 'server' = 'browser') =>
  scene.post('/event/logEvent', { tokenUUID: scene.tokens[kind], ...fields });
const logMany = (fields: Fields, kind: 'browser' | 'server' = 'browser') =>
  scene.post('/event/logEvents', { tokenUUID: scene.tokens[kind], ...fields });
const read = (fields: Fields) => scene.get('/event/getEvent', { tokenUUID: scene.tokens.server, ...fields });
const count = (fields: Fields) => scene.get('/event/countEvents', { tokenUUID: scene.tokens.server, ...fields });

describe('logEvent', () => {
  it('stores an event, and getEvent returns it', async () => {
    const userUUID = newUserUUID();
    const { body } = await log({ userUUID, eventID: 7, eventAttrArray: [{ attrID: 'price', attrValue: 9.5 }] });
    expect(body).toEqual({ eventUUID: expect.stringMatching(/^[\w-]{21}$/), status: '200' });
    const { event, nextCursor } = (await read({ userUUID })).body;
    expect(nextCursor).toBe('');
    expect(event).toEqual([
      {
        eventUUID: body.eventUUID,
        eventID: 7,
        eventName: '7',
        eventTime: '2026-06-15T12:00:00.000Z',
        receivedTime: '2026-06-15T12:00:00.000Z',
        userUUID,
        contactUUID: '',
        eventAttrArray: [{ attrID: 'price', attrValue: '9.5' }],
      },
    ]);
  });

  it('stores an event only once, and reports a duplicate', async () => {
    const event = { userUUID: newUserUUID(), eventID: 1, eventUUID: 'sent-twice' };
    expect((await log(event)).body).toEqual({ eventUUID: 'sent-twice', status: '200' });
    expect((await log(event)).body).toEqual({ eventUUID: 'sent-twice', duplicate: true, status: '200' });
    expect((await read({ userUUID: event.userUUID })).body.event).toHaveLength(1);
  });

  it('requires a user or a contact', async () => {
    const { status, body } = await log({ eventID: 1 });
    expect([status, body.error.code, body.error.field]).toEqual([400, 'missing_field', 'userUUID']);
  });

  it('replaces and marks an implausible time from a browser', async () => {
    const userUUID = newUserUUID();
    await log({ userUUID, eventID: 1, eventTime: '2020-01-01' });
    const [event] = (await read({ userUUID })).body.event;
    expect(event).toMatchObject({ eventTime: '2026-06-15T12:00:00.000Z', eventTimeReplaced: true });
  });

  it('rejects an implausible time from a server, also in a batch, except in imports', async () => {
    const [userUUID, other] = [newUserUUID(), newUserUUID()];
    const seconds = { userUUID, eventID: 1, eventTime: 1_763_800_000 };
    const { status, body } = await log(seconds, 'server');
    expect([status, body.error.code, body.error.field]).toEqual([400, 'invalid_field', 'eventTime']);
    expect(body.error.message).toBe(
      '`eventTime` is 1763800000, a time in 1970. It looks like seconds; send milliseconds or ISO 8601.',
    );
    const batch = { userUUID: other, event: [{ eventID: 1 }, { eventID: 1, eventTime: '2027-07-01' }] };
    const mixed = (await logMany(batch, 'server')).body.event;
    expect(mixed[0].status).toBe('200');
    expect(mixed[1].error.message).toMatch(/^`event\[1\].eventTime` is more than a year ahead. Send .* `import`: true/);
    expect((await log({ ...seconds, import: true }, 'server')).status).toBe(200);
    expect((await logMany({ ...batch, import: true }, 'server')).body.event[1].status).toBe('200');
    const [event] = (await read({ userUUID })).body.event;
    expect(event.eventTime).toBe('1970-01-21T09:56:40.000Z');
    expect((await read({ userUUID: other })).body.event).toHaveLength(3);
  });

  it('accepts `import` only from servers', async () => {
    const refused = await log({ userUUID: newUserUUID(), eventID: 1, import: true });
    expect([refused.status, refused.body.error.code, refused.body.error.field]).toEqual([403, 'token_kind', 'import']);
  });

  it('corrects a wrong clock', async () => {
    const userUUID = newUserUUID();
    await log({ userUUID, eventID: 1, eventTime: '2031-01-01T00:00:00Z', sentTime: '2031-01-01T00:01:00Z' });
    expect((await read({ userUUID })).body.event[0].eventTime).toBe('2026-06-15T11:59:00.000Z');
  });

  it('assigns an event with a handle to its user, and returns 404 if the event has another user', async () => {
    const { userUUID, contactUUID } = await makeContact(scene, 'browser');
    expect((await log({ contactUUID, eventID: 1 })).status).toBe(200);
    expect((await log({ contactUUID, userUUID, eventID: 1 })).status).toBe(200);
    const other = await log({ contactUUID, userUUID: newUserUUID(), eventID: 1 });
    expect([other.status, other.body.error.code]).toEqual([404, 'unknown_contact']);
    expect((await read({ userUUID })).body.event).toHaveLength(2);
  });

  it('accepts a contactUUID only from servers', async () => {
    const { contactUUID } = await makeContact(scene, 'server');
    expect((await log({ contactUUID, eventID: 1 }, 'browser')).status).toBe(404);
    expect((await log({ contactUUID, eventID: 1 }, 'server')).status).toBe(200);
    expect((await read({ contactUUID })).body.event).toMatchObject([{ contactUUID, userUUID: '' }]);
  });
});

describe('an event that has a name instead of an eventID', () => {
  it('is logged in every encoding, and read, counted and defined by its name', async () => {
    const userUUID = newUserUUID();
    const eventName = 'Signed up, with é';
    await log({ userUUID, eventName: `  Signed up, with e\u0301` });
    await logMany({ userUUID, event: [{ eventName }, { eventID: 7 }] }, 'server');
    await scene.get('/logEvent', { tokenUUID: scene.tokens.browser, userUUID, eventName });
    const form = new URLSearchParams({ tokenUUID: scene.tokens.browser, userUUID, eventName });
    expect((await scene.send('/logEvent', { method: 'POST', body: form })).status).toBe(200);
    const { event } = (await read({ userUUID, eventName })).body;
    expect(event).toHaveLength(4);
    expect(new Set(event.map((each: Fields) => `${each.eventID} ${each.eventName}`))).toEqual(
      new Set([`1000000 ${eventName}`]),
    );
    expect((await read({ userUUID, eventID: '1000000' })).body.event).toEqual(event);
    const day = { from: '2026-06-15', to: '2026-06-16', interval: 'total' };
    expect((await count({ eventName, ...day })).body.count).toMatchObject([{ events: 4 }]);
    expect((await count({ eventName: 'Nothing', ...day, include: 'users' })).body.count).toMatchObject([
      { events: 0, users: 0 },
    ]);
    expect((await read({ eventName: 'Nothing' })).body).toEqual({ event: [], nextCursor: '', status: '200' });
    const { eventDefinition } = (await read({ include: 'definition', limit: '1' })).body;
    expect(eventDefinition).toContainEqual(expect.objectContaining({ eventID: 1_000_000, eventName, count: 4 }));
  });

  it('is rejected separately if it has neither field, both fields, or a number as its name', async () => {
    const event = [{ eventName: 'Sold' }, {}, { eventID: 1, eventName: 'Sold' }, { eventName: '12' }];
    const { body } = await logMany({ userUUID: newUserUUID(), event });
    expect(body.event[0].status).toBe('200');
    expect(body.event.slice(1).map(({ error }: ErrorBody) => [error.code, error.field, error.message])).toEqual([
      ['missing_field', 'event[1].eventID', '`event[1].eventID` is required unless `eventName` is given'],
      ['invalid_field', 'event[2].eventName', '`event[2].eventName` must not be given together with `eventID`'],
      ['invalid_field', 'event[3].eventName', expect.stringContaining('send a number as `eventID`')],
    ]);
  });

  it('can’t be queried together with an eventID', async () => {
    for (const query of [read, count]) {
      const { status, body } = await query({ eventID: '1', eventName: 'Sold', from: '2026-06-15' });
      expect([status, body.error.code, body.error.field]).toEqual([400, 'invalid_field', 'eventName']);
    }
  });
});

describe('logEvent by GET', () => {
  const sendByGet = async (headers: Record<string, string>, init: RequestInit = {}) => {
    const userUUID = newUserUUID();
    const query = new URLSearchParams({ tokenUUID: scene.tokens.browser, userUUID, eventID: '1' });
    const response = await scene.app.request(`/event/logEvent?${query}`, { headers, ...init });
    const bytes = Buffer.from(await response.arrayBuffer());
    const storedCount = (await read({ userUUID })).body.event.length;
    return {
      status: response.status,
      type: response.headers.get('content-type'),
      bytes,
      storedCount,
      headers: response.headers,
    };
  };

  it.each([
    ['image/avif,image/webp,*/*;q=0.8', 'image/gif'],
    ['image/gif', 'image/gif'],
    ['image/*, application/json', 'application/json'],
    ['*/*', 'application/json'],
    ['', 'application/json'],
    ['application/*', 'application/json'],
    ['text/html', 'image/gif'],
    ['*/*', 'image/gif', 'image'],
    ['', 'image/gif', 'image'],
    ['*/*', 'application/json', 'empty'],
    ['application/json', 'application/json', 'image'],
  ])('responds to Accept %s with %s (Sec-Fetch-Dest: %s)', async (accept, type, destination = '') => {
    const result = await sendByGet({ Accept: accept, ...(destination && { 'Sec-Fetch-Dest': destination }) });
    expect([result.status, result.type, result.storedCount]).toEqual([200, type, 1]);
    if (type !== 'image/gif') return;
    expect(result.bytes.subarray(0, 6).toString()).toBe('GIF89a');
    expect([result.bytes.readUInt16LE(6), result.bytes.readUInt16LE(8)]).toEqual([1, 1]);
    expect(result.headers.get('cache-control')).toBe('no-store');
    expect(result.headers.get('cross-origin-resource-policy')).toBe('cross-origin');
  });

  it('returns errors as JSON, no matter what the Accept header is', async () => {
    const { status, headers } = await scene.send('/logEvent?eventID=1', { headers: { Accept: 'image/*' } });
    expect([status, headers.get('content-type')]).toEqual([401, 'application/json']);
  });

  it.each([
    ['a prefetch', { 'Sec-Purpose': 'prefetch' }, {}],
    ['a prerender', { 'Sec-Purpose': 'prefetch;prerender' }, {}],
    ['an older prefetch', { Purpose: 'prefetch' }, {}],
    ['HEAD', {}, { method: 'HEAD' }],
  ])('logs nothing for %s', async (_, headers, init) => {
    const result = await sendByGet(headers as Record<string, string>, init);
    expect([result.status, result.bytes.length, result.storedCount]).toEqual([204, 0, 0]);
  });
});

describe('logEvents', () => {
  it('returns a result for each event in order, and rejects each one separately', async () => {
    const userUUID = newUserUUID();
    const { status, body } = await logMany({
      userUUID,
      event: [
        { eventID: 1, eventUUID: 'batch-first' },
        { eventID: 'none' },
        'no event',
        { eventID: 2, eventUUID: 'batch-first' },
        { eventID: 3, contactUUID: 'nobody' },
        { eventID: 4, eventAttrArray: [{ attrID: 'a' }] },
        { eventID: 5, eventUUID: 'batch-last' },
      ],
    });
    expect(status).toBe(200);
    expect(
      body.event.map((event: { status: string; error?: { field: string } }) => [event.status, event.error?.field]),
    ).toEqual([
      ['200', undefined],
      ['400', 'event[1].eventID'],
      ['400', 'event[2]'],
      ['200', undefined],
      ['404', 'event[4].contactUUID'],
      ['400', 'event[5].eventAttrArray[0].attrValue'],
      ['200', undefined],
    ]);
    expect(body.event[3]).toEqual({ status: '200', eventUUID: 'batch-first', duplicate: true });
    expect((await read({ userUUID })).body.event.map(({ eventID }: { eventID: number }) => eventID)).toEqual([5, 1]);
  });

  it('uses the batch’s userUUID for events without their own', async () => {
    const [userUUID, own] = [newUserUUID(), newUserUUID()];
    await logMany({ userUUID, event: [{ eventID: 1 }, { eventID: 2, userUUID: own }] });
    expect((await read({ userUUID })).body.event).toMatchObject([{ eventID: 1 }]);
    expect((await read({ userUUID: own })).body.event).toMatchObject([{ eventID: 2 }]);
  });

  it('rejects an event without any user, and stores the others', async () => {
    const userUUID = newUserUUID();
    const { body } = await logMany({ event: [{ eventID: 1 }, { eventID: 2, userUUID }] });
    expect(body.event[0].error).toMatchObject({ code: 'missing_field', field: 'event[0].userUUID' });
    expect(body.event[1].status).toBe('200');
  });

  it.each([
    ['no events', { event: [] }, 'event'],
    ['a string instead of a list', { event: 'a' }, 'event'],
    ['no fields', {}, 'event'],
    ['too many events', { event: Array(1_001).fill({ eventID: 1 }) }, 'event'],
    ['a placeholder userUUID', { userUUID: 'undefinedundefined', event: [{ eventID: 1 }] }, 'userUUID'],
  ])('rejects a request body with %s', async (_, fields, field) => {
    const { status, body } = await logMany(fields);
    expect([status, body.error.field]).toEqual([400, field]);
  });

  it('accepts 1,000 events', async () => {
    const userUUID = newUserUUID();
    const { body } = await logMany({ userUUID, event: Array(1_000).fill({ eventID: 1 }) });
    expect(new Set(body.event.map(({ status }: { status: string }) => status))).toEqual(new Set(['200']));
    expect((await read({ userUUID, limit: 1_000 })).body.event).toHaveLength(1_000);
  });
});

describe('getEvent', () => {
  it.each(['asc', 'desc'])('returns each event once, page by page, in order %s', async (order) => {
    const userUUID = newUserUUID();
    await logMany({ userUUID, event: [1, 2, 3, 4, 5, 6, 7].map((eventID) => ({ eventID })) });
    const eventIDs: number[] = [];
    let cursor = '';
    do {
      const { body } = await read({ userUUID, order, limit: 3, cursor });
      eventIDs.push(...body.event.map(({ eventID }: { eventID: number }) => eventID));
      cursor = body.nextCursor;
    } while (cursor);
    expect(eventIDs).toEqual(order === 'asc' ? [1, 2, 3, 4, 5, 6, 7] : [7, 6, 5, 4, 3, 2, 1]);
  });

  it('rejects a cursor that it never returned', async () => {
    const { status, body } = await read({ cursor: 'abc' });
    expect([status, body.error.field]).toEqual([400, 'cursor']);
  });

  it('adds definitions and reasons on request', async () => {
    const { userUUID } = await makeContact(scene);
    await log({ userUUID, eventID: 4_711 });
    const { body } = await read({ userUUID, include: 'definition, why' });
    expect((await read({ userUUID, include: ['definition', 'why'] })).body).toEqual(body);
    expect(body.event[0].why).toMatchObject({ rule: 'linked', verified: true });
    const definition = body.eventDefinition.find(({ eventID }: { eventID: number }) => eventID === 4_711);
    const time = '2026-06-15T12:00:00.000Z';
    expect(definition).toEqual({ eventID: 4_711, eventName: '4711', count: 1, firstTime: time, lastTime: time });
  });
});

describe('countEvents', () => {
  it('counts by day in the account’s time zone, including empty days', async () => {
    const userUUID = newUserUUID();
    const times = ['2026-03-28T23:59:59Z', '2026-03-29T00:00:00Z', '2026-03-29T22:59:59Z', '2026-03-29T23:00:00Z'];
    await logMany({ userUUID, event: times.map((eventTime) => ({ eventID: 900, eventTime })) }, 'server');
    const { body } = await count({
      eventID: 900,
      from: '2026-03-28T12:00:00Z',
      to: '2026-03-31T12:00:00Z',
      include: 'users',
    });
    expect(body).toEqual({
      count: [
        { from: '2026-03-28T00:00:00.000Z', to: '2026-03-29T00:00:00.000Z', events: 1, users: 1 },
        { from: '2026-03-29T00:00:00.000Z', to: '2026-03-29T23:00:00.000Z', events: 2, users: 1 },
        { from: '2026-03-29T23:00:00.000Z', to: '2026-03-30T23:00:00.000Z', events: 1, users: 1 },
        { from: '2026-03-30T23:00:00.000Z', to: '2026-03-31T23:00:00.000Z', events: 0, users: 0 },
      ],
      timezone: 'Europe/London',
      status: '200',
    });
  });

  it('counts until now by default, and rounds both ends to multiples of 15 minutes', async () => {
    now = Date.parse('2026-06-15T12:20:00Z');
    const { body } = await count({ from: '2026-06-15T12:05:00Z', interval: 'total', timezone: 'UTC' });
    const [bucket] = body.count;
    expect([bucket.from, bucket.to, bucket.users]).toEqual([
      '2026-06-15T12:00:00.000Z',
      '2026-06-15T12:30:00.000Z',
      undefined,
    ]);
  });

  it.each([
    ['an end before the start', { from: '2026-06-15', to: '2026-06-14' }, 'to', '`to` must be later than `from`'],
    ['a start in the future', { from: '2026-07-15' }, 'to', '`to` must be later than `from`; without it, `to` is now'],
    [
      'too many intervals',
      { from: '2026-01-01', to: '2026-03-01', interval: 'hour' },
      'interval',
      'The range from `from` to `to` has more than 1,000 intervals; choose a longer interval or a shorter range.',
    ],
    [
      'an unknown time zone',
      { from: '2026-01-01', timezone: 'Europe/Atlantis' },
      'timezone',
      '`timezone` must be an IANA time zone, such as Europe/London',
    ],
  ])('rejects %s', async (_, fields, field, message) => {
    const { status, body } = await count(fields);
    expect([status, body.error.field, body.error.message]).toEqual([400, field, message]);
  });
});

describe('bots', () => {
  const robot = { 'User-Agent': 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)' };
  const person = { 'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0' };
  const mark = [{ attrID: 'robot', attrValue: 'true' }];
  const eventID = 4_242;
  const send = (path: string, fields: Fields, kind: 'browser' | 'server', headers: Record<string, string>) =>
    scene.post(path, { tokenUUID: scene.tokens[kind], ...fields }, headers);

  it('are marked once by their user agent, and excluded on request', async () => {
    const [searcher, reader, shop] = [newUserUUID(), newUserUUID(), newUserUUID()];
    await send('/logEvent', { eventID, userUUID: searcher }, 'browser', robot);
    const event = [{ eventID }, { eventID, eventAttrArray: mark }];
    await send('/event/logEvents', { userUUID: searcher, event }, 'browser', robot);
    await send('/logEvent', { eventID, userUUID: reader }, 'browser', person);
    await send('/logEvent', { eventID, userUUID: reader, eventAttrArray: mark }, 'browser', person);
    const alike = [
      { attrID: 'x', attrValue: 'robot' },
      { attrID: 'true', attrValue: 'robot' },
      { attrID: 'robot', attrValue: 'no' },
    ];
    await send('/logEvent', { eventID, userUUID: shop, eventAttrArray: alike }, 'server', robot);

    const all = (await read({ eventID })).body.event;
    const marksOf = ({ eventAttrArray }: { eventAttrArray: { attrID: string; attrValue: string }[] }) =>
      eventAttrArray.filter(({ attrID, attrValue }) => attrID === 'robot' && attrValue === 'true').length;
    expect(all.map(marksOf)).toEqual([0, 1, 0, 1, 1, 1]);
    const people = (await read({ eventID, robots: 'exclude' })).body.event;
    expect(people.map(({ userUUID }: { userUUID: string }) => userUUID)).toEqual([shop, reader]);

    const range = {
      eventID,
      from: '2026-06-15',
      to: '2026-06-16',
      interval: 'total',
      timezone: 'UTC',
      include: 'users',
    };
    const countOf = async (fields: Fields) => (await count({ ...range, ...fields })).body.count[0];
    expect(await countOf({})).toMatchObject({ events: 6, users: 3 });
    expect(await countOf({ robots: 'include' })).toMatchObject({ events: 6, users: 3 });
    expect(await countOf({ robots: 'exclude' })).toMatchObject({ events: 2, users: 2 });
    expect((await count({ ...range, robots: 'no' })).body.error.field).toBe('robots');
  });

  it('are accepted by a strict account that does not list the mark', async () => {
    const strict = await openScene({ now: () => now, account: { strict: true, event: [{ eventID: 1 }] } });
    const fields = { tokenUUID: strict.tokens.browser, userUUID: newUserUUID(), eventID: 1 };
    expect((await strict.post('/logEvent', fields, robot)).status).toBe(200);
    await strict.close();
  });

  it('are not excluded if there are more events than can be scanned', async () => {
    const many = await openScene({
      wrap: (store) => ({
        ...store,
        countEvents: async ({ edges }) => edges.slice(1).map(() => ({ events: 500_001 })),
      }),
    });
    const { status, body } = await many.get('/event/countEvents', {
      tokenUUID: many.tokens.server,
      from: '2026-06-15',
      to: '2026-06-16',
      timezone: 'UTC',
      robots: 'exclude',
    });
    expect([status, body.error.field]).toEqual([400, 'robots']);
    expect(body.error.message).toBe(
      'The range from `from` to `to` has 500,001 events; `robots=exclude` allows at most 500,000. Choose a shorter range.',
    );
    await many.close();
  });
});

describe('the reason for an event’s owner', () => {
  it('identifies the claim and the merged contact', async () => {
    const { userUUID, contactUUID: handle } = await makeContact(scene, 'browser');
    const { contactUUID: keep } = await makeContact(scene);
    await log({ userUUID, eventID: 1 });
    const whyOf = async () => {
      const { body } = await read({ userUUID, include: 'why' });
      return body.event[0];
    };
    const before = await whyOf();
    expect(before.why).toMatchObject({ rule: 'linked', verified: false, claimID: handle });
    expect(before.why).not.toHaveProperty('mergedFrom');
    const { tokens } = scene;
    const merge = { tokenUUID: tokens.server, contactUUID: keep, otherContactUUID: before.contactUUID };
    expect((await scene.post('/contact/mergeContact', merge)).status).toBe(200);
    const after = await whyOf();
    expect(after).toMatchObject({ contactUUID: keep, why: { claimID: handle, mergedFrom: before.contactUUID } });
  });
});

describe('a refused event that cannot be recorded', () => {
  const openWith = (error: Error) =>
    openScene({ wrap: (store) => ({ ...store, addRefused: () => Promise.reject(error) }) });
  const batch = (tokenUUID: string) => ({
    tokenUUID,
    userUUID: newUserUUID(),
    event: [{ eventID: 1 }, { eventID: 'nonsense' }],
  });

  it('gets 503 while there is no room, and the other events are stored', async () => {
    const { post, tokens, close } = await openWith(new Refusal('unavailable'));
    const { status, body } = await post('/event/logEvents', batch(tokens.server));
    expect(status).toBe(200);
    expect(body.event).toMatchObject([{ status: '200' }, { status: '503', error: { code: 'unavailable' } }]);
    await close();
  });

  it('fails the request with 500 if recording fails unexpectedly', async () => {
    const { post, tokens, close } = await openWith(new Error('disk'));
    expect((await post('/event/logEvents', batch(tokens.server))).status).toBe(500);
    await close();
  });
});
