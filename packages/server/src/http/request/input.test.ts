/** Sends valid, invalid and hostile requests to the whole application. */
import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { isRead, type Operation, type OperationName, operationNames, operations } from '@firsthand/contract/operations';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type * as z from 'zod';
import { smallestInput } from '../../../test/fixtures/requests.ts';
import { openScene, type Scene, toStrings } from '../../../test/fixtures/scene.ts';

let scene: Scene;
beforeAll(async () => {
  scene = await openScene();
});
afterAll(() => scene.close());

const userUUID = 'user_aaaaaaaaaaaaaaaa';
const event = () => ({ tokenUUID: scene.tokens.browser, userUUID, eventID: 1 });

const sendBody = (body: NonNullable<RequestInit['body']>, headers: Record<string, string> = {}, path = '/logEvent') =>
  scene.send(path, { method: 'POST', body, headers: { 'Content-Type': 'application/json', ...headers } });

const json = (text: string, path?: string) => sendBody(text, {}, path);
const bytes = (...parts: (string | number[])[]) => Buffer.concat(parts.map((part) => Buffer.from(part as string)));

const outcome = ({ status, body }: { status: number; body: { error?: { code: string; field?: string } } }) => [
  status,
  body.error?.code,
];

describe('a body', () => {
  it.each([
    ['application/json'],
    ['Application/JSON; charset=UTF-8'],
    ['text/plain;charset=UTF-8'],
    ['text/plain'],
    ['application/json; charset="utf-8"'],
  ])('of JSON is accepted as %s', async (type) => {
    expect((await sendBody(JSON.stringify(event()), { 'Content-Type': type })).status).toBe(200);
  });

  it.each([
    ['application/xml'],
    ['image/png'],
    ['application/json; charset=iso-8859-1'],
    ['text/plain; charset=utf-16'],
    ['application/jsonp'],
    ['nonsense'],
  ])('is refused as %s', async (type) => {
    const response = await sendBody(JSON.stringify(event()), { 'Content-Type': type });
    expect(outcome(response)).toEqual([415, 'unsupported_media_type']);
  });

  it('that is empty does not replace the query string, whatever its type', async () => {
    const query = new URLSearchParams(toStrings(event()));
    const headers = { 'Content-Type': 'image/png' };
    const response = await scene.send(`/logEvent?${query}`, { method: 'POST', headers });
    expect(response.status).toBe(200);
  });

  it('takes precedence over the query string', async () => {
    const query = new URLSearchParams({ tokenUUID: scene.tokens.browser, eventID: 'wrong', eventUUID: 'from-query' });
    const response = await json(JSON.stringify({ userUUID, eventID: 1 }), `/logEvent?${query}`);
    expect(response.body).toEqual({ eventUUID: 'from-query', status: '200' });
  });

  it('in a GET request is ignored', async () => {
    // The Request constructor doesn't allow a body here; a GET's input is its query string.
    const response = await scene.get('/logEvent', event());
    expect(response.status).toBe(200);
  });

  it('can start with a byte order mark', async () => {
    expect((await sendBody(bytes([0xef, 0xbb, 0xbf], JSON.stringify(event())))).status).toBe(200);
  });

  it.each([
    ['a lone byte', [0xff]],
    ['an overlong form', [0xc0, 0xaf]],
    ['a truncated character', [0xe2, 0x82]],
    ['a surrogate', [0xed, 0xa0, 0x80]],
  ])('that is not UTF-8 is refused: %s', async (_, wrong) => {
    const [before, after] = JSON.stringify({ ...event(), x: '|' }).split('|') as [string, string];
    expect(outcome(await sendBody(bytes(before, wrong, after)))).toEqual([400, 'invalid_encoding']);
    const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
    expect(outcome(await sendBody(bytes('a=', wrong), form))).toEqual([400, 'invalid_encoding']);
    const multipart = { 'Content-Type': 'multipart/form-data; boundary=x' };
    const part = bytes('--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n', wrong, '\r\n--x--\r\n');
    expect(outcome(await sendBody(part, multipart))).toEqual([400, 'invalid_encoding']);
  });

  it('that is incomplete does not cause a server error', async () => {
    const body = new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode('{"a":')),
      pull: (controller) => controller.error(new Error('aborted')),
    });
    const response = await scene.send('/logEvent', { method: 'POST', body, duplex: 'half' } as RequestInit);
    expect(outcome(response)).toEqual([400, 'invalid_encoding']);
  });

  it('is parsed before the token is checked, and its content is checked after the token', async () => {
    expect((await json('{')).status).toBe(400);
    expect((await json('{"eventID":"wrong"}')).status).toBe(401);
    expect((await json(JSON.stringify({ tokenUUID: scene.tokens.operator, eventID: 'wrong' }))).status).toBe(403);
  });
});

describe('a request’s size', () => {
  const filled = (length: number) => JSON.stringify({ ...event(), x: 'x'.repeat(length) });
  const exactly = (length: number) => filled(length - filled(0).length);

  it('can be 64 KiB', async () => {
    expect((await json(exactly(65_536))).status).toBe(200);
    expect(outcome(await json(exactly(65_537)))).toEqual([413, 'body_too_large']);
  });

  it('can be 1 MiB for a batch', async () => {
    const batch = (length: number) =>
      JSON.stringify({ tokenUUID: scene.tokens.browser, userUUID, event: [{ eventID: 1 }], x: 'x'.repeat(length) });
    const exactly = (length: number) => batch(length - batch(0).length);
    expect((await json(exactly(1_048_576), '/event/logEvents')).status).toBe(200);
    expect(outcome(await json(exactly(1_048_577), '/event/logEvents'))).toEqual([413, 'body_too_large']);
  });

  it('is refused because of its Content-Length before a byte is read', async () => {
    let pulled = 0;
    const body = new ReadableStream({ pull: () => void pulled++ }, { highWaterMark: 0 });
    const init = { method: 'POST', body, duplex: 'half', headers: { 'Content-Length': '100000000' } } as RequestInit;
    expect(outcome(await scene.send('/logEvent', init))).toEqual([413, 'body_too_large']);
    expect(pulled).toBe(0);
  });

  it('is refused as soon as it exceeds the limit, without a Content-Length', async () => {
    let pulled = 0;
    const body = new ReadableStream({
      pull: (controller) => {
        pulled++;
        controller.enqueue(new Uint8Array(10_000));
      },
    });
    expect(outcome(await scene.send('/logEvent', { method: 'POST', body, duplex: 'half' } as RequestInit))).toEqual([
      413,
      'body_too_large',
    ]);
    expect(pulled).toBeLessThan(12);
  });

  it('is counted uncompressed', async () => {
    const gzip = { 'Content-Encoding': 'gzip' };
    expect((await sendBody(gzipSync(exactly(65_536)), gzip)).status).toBe(200);
    expect(outcome(await sendBody(gzipSync(exactly(65_537)), gzip))).toEqual([413, 'body_too_large']);
    expect(outcome(await sendBody(gzipSync(Buffer.alloc(60_000_000)), gzip))).toEqual([413, 'body_too_large']);
  });

  it.each([
    ['gzip', 'no gzip', 400, 'invalid_encoding'],
    ['gzip', gzipSync('{}').subarray(0, -4), 400, 'invalid_encoding'],
    ['gzip', randomBytes(100), 400, 'invalid_encoding'],
    ['br', '{}', 415, 'unsupported_media_type'],
    ['gzip, gzip', gzipSync(gzipSync('{}')), 415, 'unsupported_media_type'],
  ])('is checked for the encoding %s', async (encoding, body, status, code) => {
    expect(outcome(await sendBody(body, { 'Content-Encoding': encoding }))).toEqual([status, code]);
  });

  it('is limited to 8 KiB for the URL', async () => {
    const url = (length: number) => `/logEvent?x=${'x'.repeat(length - '/logEvent?x='.length)}`;
    expect((await scene.send(url(8_192))).status).toBe(401);
    expect(outcome(await scene.send(url(8_193)))).toEqual([414, 'url_too_long']);
  });
});

describe('the query string', () => {
  it('uses the last value of a repeated field', async () => {
    const query = new URLSearchParams([...toStrings(event()), ['eventUUID', 'the-first'], ['eventUUID', 'the-second']]);
    expect((await scene.send(`/logEvent?${query}`)).body.eventUUID).toBe('the-second');
  });

  it.each(['%', '%FF', '%C3%28', 'a=%ED%A0%80'])('is refused if it is not UTF-8: %s', async (wrong) => {
    expect(outcome(await scene.send(`/logEvent?${wrong}`))).toEqual([400, 'invalid_encoding']);
  });
});

describe('attributes', () => {
  const attributesOf = async (eventUUID: string) => {
    const { body } = await scene.get('/event/getEvent', { tokenUUID: scene.tokens.server, userUUID });
    const event = (body.event as { eventUUID: string; eventAttrArray: { attrID: string; attrValue: string }[] }[]).find(
      (each) => each.eventUUID === eventUUID,
    );
    const own = event?.eventAttrArray.filter(({ attrID }) => !attrID.startsWith('$') && attrID !== 'robot');
    return Object.fromEntries((own ?? []).map(({ attrID, attrValue }) => [attrID, attrValue]));
  };

  it('are flattened, and fields that do not fit are reported', async () => {
    const eventAttrArray = { product: 'Cup', tags: ['a', 'b'], size: { cm: 9, note: 'x'.repeat(3_000) } };
    const flat = { product: 'Cup', 'tags.0': 'a', 'tags.1': 'b', 'size.cm': '9' };
    const single = await scene.post('/logEvent', { ...event(), eventUUID: 'nested-single', eventAttrArray });
    expect(single.body.ignored).toEqual(['eventAttrArray.size.note']);
    const batch = {
      ...event(),
      eventID: undefined,
      event: [{ eventID: 1, eventUUID: 'nested-batch', eventAttrArray }],
    };
    const { body } = await scene.post('/event/logEvents', batch);
    expect(body.ignored).toEqual(['event[0].eventAttrArray.size.note']);
    expect([await attributesOf('nested-single'), await attributesOf('nested-batch')]).toEqual([flat, flat]);
  });

  it('can be a single value, even in a query string', async () => {
    await scene.post('/logEvent', { ...event(), eventUUID: 'single-body', eventAttrArray: 'Stone teapot' });
    const query = { ...event(), eventID: '1', eventUUID: 'single-query', eventAttrArray: 'Stone teapot' };
    await scene.get('/logEvent', query);
    const values = [await attributesOf('single-body'), await attributesOf('single-query')];
    expect(values).toEqual([{ value: 'Stone teapot' }, { value: 'Stone teapot' }]);
  });
});

describe('unknown fields', () => {
  it('are reported, so that a typo is visible', async () => {
    const { body } = await scene.post('/logEvent', {
      ...event(),
      eventUuid: 'x',
      eventAttrArray: [{ attrID: 'a', attrValue: 'b', attrName: 'c' }],
    });
    expect(body.ignored).toEqual(['eventUuid (did you mean eventUUID?)', 'eventAttrArray[0].attrName']);
  });

  it('are reported inside a batch', async () => {
    const { body } = await scene.post('/event/logEvents', {
      tokenUUID: scene.tokens.browser,
      userUUID,
      event: [{ eventID: 1 }, { eventID: 1, eventid: 2 }],
    });
    expect(body.ignored).toEqual(['event[1].eventid']);
  });

  it('are reported with a suggestion if they look like a misspelled field', async () => {
    const contact = { contactEmailaddress: 'ann@shop.example', contactProfileID: 'customer' };
    const { body } = await scene.post('/createContact', {
      ...{ tokenUUID: scene.tokens.browser, userUUID, ...contact, contactPhone: '1', product: 'x' },
    });
    expect(body.ignored).toEqual(['contactPhone (did you mean contactTelephone?)', 'product']);
    const missing = { tokenUUID: scene.tokens.browser, userUUID, contactEmail: 'ann@shop.example' };
    const refused = await scene.post('/createContact', { ...missing, contactProfileID: 'customer' });
    expect(refused.body.error?.message).toContain('has `contactEmail`; did you mean `contactEmailaddress`?');
  });

  it('can be called __proto__ without polluting prototypes', async () => {
    const response = await json(
      `{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},${JSON.stringify(event()).slice(1)}`,
      '/logEvent?__proto__=x&a=b',
    );
    expect(response.status).toBe(200);
    expect(response.body.ignored).toEqual(expect.arrayContaining(['__proto__', 'constructor']));
    expect(({} as { polluted?: 1 }).polluted).toBeUndefined();
  });

  it('cannot set fields through __proto__', async () => {
    const response = await json(`{"__proto__":${JSON.stringify(event())}}`);
    expect(outcome(response)).toEqual([401, 'missing_token']);
  });

  it('are ignored even if they contain hostile text', async () => {
    const hostile = `"\\u0000\\ud800":"\\udfff\\u0000","":1e400,"${'k'.repeat(30_000)}":9007199254740993,"n":-1e999`;
    const response = await json(`{${hostile},${JSON.stringify(event()).slice(1)}`);
    expect(response.status).toBe(200);
  });
});

const readPaths = operationNames
  .filter((name) => isRead(operations[name]))
  .flatMap((name) => operations[name].paths.map((path) => [name, path] as const));

describe('an unknown parameter in a read request', () => {
  const ask = async (name: OperationName, path: string, unknown: Record<string, string>) => {
    const operation: Operation = operations[name];
    const kind = operation.tokens.includes('server') ? 'server' : 'operator';
    return scene.get(path, { tokenUUID: scene.tokens[kind], ...(await smallestInput[name](scene, kind)), ...unknown });
  };

  it('is tested for every read operation', () => {
    expect(readPaths.map(([name]) => name)).toEqual(
      expect.arrayContaining(['getAccount', 'getContact', 'searchContact', 'getEvent', 'countEvents', 'streamEvents']),
    );
  });

  it.each(readPaths)('%s at %s gets 400 with the nearest name', async (name, path) => {
    for (const field of ['tokenUUID', ...Object.keys((operations[name].input as z.ZodObject).shape)]) {
      const response = await ask(name, path, { [`${field}_`]: 'x' });
      expect(outcome(response)).toEqual([400, 'unknown_field']);
      expect(response.body.error).toMatchObject({
        field: `${field}_`,
        message: `\`${field}_\` is not a parameter of ${name}. Did you mean \`${field}\`?`,
      });
    }
  });

  it.each(readPaths)('%s at %s gets 400 with all names if none is similar', async (name, path) => {
    for (const unknown of ['_', '__proto__', 'constructor', '', 'x'.repeat(5_000)]) {
      const response = await ask(name, path, { [unknown]: 'x' });
      expect(outcome(response)).toEqual([400, 'unknown_field']);
      expect(response.body.error.message).toContain(`is not a parameter of ${name}, which takes tokenUUID`);
    }
  });

  it.each([
    ['getEvent', { eventId: '3' }, 'Did you mean `eventID`? Parameter names are case-sensitive.'],
    [
      'getEvent',
      { contactEmailaddress: 'ann@shop.example' },
      'which takes tokenUUID, userUUID, contactUUID, contactExternalID, eventID',
    ],
    ['countEvents', { contactUUID: 'x' }, 'which takes tokenUUID, eventID, eventName, from, to'],
    ['searchContact', { eventID: '3' }, 'which takes tokenUUID, text, contactExternalID, contactEmailaddress'],
  ] as const)('does not make %s return the whole account: %j', async (name, unknown, text) => {
    const { status, body } = await ask(name, operations[name].paths[0], unknown);
    expect([status, body.event, body.contact, body.count]).toEqual([400, undefined, undefined, undefined]);
    expect(body.error.message).toContain(text);
  });

  it('is checked only after the token and its rights', async () => {
    expect(outcome(await scene.get('/event/getEvent', { eventId: '1' }))).toEqual([401, 'missing_token']);
    const browser = { tokenUUID: scene.tokens.browser, eventId: '1' };
    expect(outcome(await scene.get('/event/getEvent', browser))).toEqual([403, 'token_kind']);
  });
});

describe('a missing field', () => {
  it.each([
    [
      '/logEvent',
      { userUUID, eventId: 3 },
      'eventID',
      '`eventID` is required unless `eventName` is given. The request has `eventId`; field names',
    ],
    ['/logEvent', { userUUID, event_name: 'x' }, 'eventID', 'The request has `event_name`; did you mean `eventName`?'],
    ['/logEvent', { userUUID, name: 'x' }, 'eventID', 'The request has `name`; did you mean `eventName`?'],
    [
      '/logEvent',
      { contactEmailaddress: 'a@b.example', eventID: 1 },
      'userUUID',
      'createContacts returns the contactUUID',
    ],
    [
      '/contact/createContact',
      { contactEmailaddress: 'a@b.example', contactProfileID: '1', contactFirstName: 'Ann' },
      'userUUID',
      'createContact links a visitor. Without one, send a contactExternalID or use createContacts. Another mistake: the request has `contactFirstName`; did you mean `contactFirstname`?',
    ],
    ['/logEvent', { userUUID, eventName: ' ' }, 'eventName', '`eventName` is required'],
    ['/logEvent', { eventID: 3, userUuid: userUUID }, 'userUUID', 'The request has `userUuid`; field names are case'],
    ['/logEvent', { eventID: 3, contactUuid: 'x' }, 'userUUID', '`contactUuid`; did you mean `contactUUID`?'],
    [
      '/logEvent',
      { userUUID, eventID: 3, eventAttrArray: [{ attrId: 'a', attrValue: 'b' }] },
      'eventAttrArray[0].attrID',
      '`eventAttrArray[0].attrID` is required. The request has `attrId`; field names are case-sensitive.',
    ],
    [
      '/createContact',
      { userUUID, contactEmailAddress: 'a@b.example', contactProfileID: 'customer' },
      'contactEmailaddress',
      '`contactEmailAddress`;',
    ],
  ])('in %s %j is reported with the name that was sent instead', async (path, fields, field, text) => {
    const response = await scene.post(path, { tokenUUID: scene.tokens.browser, ...fields });
    expect([...outcome(response), response.body.error.field]).toEqual([400, 'missing_field', field]);
    expect(response.body.error.message).toContain(text);
  });

  it('in one event of a batch is reported with the name that the client sent', async () => {
    const { body } = await scene.post('/event/logEvents', { ...event(), event: [{ eventID: 1 }, { eventid: 2 }] });
    expect(body.event[1].error.message).toBe(
      '`event[1].eventID` is required unless `eventName` is given. The request has `eventid`; field names are case-sensitive.',
    );
  });
});

describe('a value of the wrong type', () => {
  it.each([
    ['/logEvent', { eventUUID: ['a'] }, '`eventUUID` must be 8 to 64 of A-Z a-z 0-9 _ -; the value is a list'],
    ['/logEvent', { userUUID: 12_345 }, '`userUUID` must be 16 to 64 of A-Z a-z 0-9 _ -; the value is a number'],
    ['/logEvent', { eventID: {} }, '`eventID` must be a whole number from 1 to 2147483647; the value is an object'],
    ['/logEvent', { eventID: 'x' }, '`eventID` must be a whole number from 1 to 2147483647'],
    ['/logEvent', { eventAttrArray: '[x' }, '`eventAttrArray` must be a JSON array; the value is text'],
    [
      '/logEvent',
      { eventAttrArray: ['x'] },
      '`eventAttrArray[0]` must be an object with attrID and attrValue; the value is text',
    ],
    [
      '/logEvent',
      { eventID: undefined, eventName: 7 },
      '`eventName` must be text of at most 255 characters; the value is a number',
    ],
    [
      '/logEvent',
      { eventID: undefined, eventName: ' 7 ' },
      '`eventName` must not be a number: send a number as `eventID`',
    ],
    ['/logEvent', { eventID: 7, eventName: 'x' }, '`eventName` must not be given together with `eventID`'],
    ['/logEvent', { contactUUID: true }, '`contactUUID` must be text of at most 255 characters; the value is true'],
    ['/logEvent', { eventTime: '2026-11-01T09:30:00' }, /; the value has no offset: end it with Z for UTC$/],
    ['/createContact', { contactEmailaddress: [] }, /^`contactEmailaddress` must be text .*; the value is a list$/],
  ])('is reported with its type: %s %j', async (path, fields, message) => {
    const { body } = await scene.post(path, {
      ...event(),
      contactProfileID: 'p',
      contactEmailaddress: 'a@b.example',
      ...fields,
    });
    expect(body.error.code).toBe('invalid_field');
    if (typeof message === 'string') expect(body.error.message).toBe(message);
    else expect(body.error.message).toMatch(message);
  });
});

describe('an empty user or contact filter', () => {
  it.each([
    ...['userUUID', 'contactUUID', 'contactExternalID'].flatMap((field) => [
      ['/event/getEvent', field] as const,
      ['/event/streamEvents', field] as const,
    ]),
    ['/contact/searchContact', 'contactExternalID'] as const,
    ['/contact/searchContact', 'contactEmailaddress'] as const,
  ])('in %s is refused, because omitting it would return all data: %s', async (path, field) => {
    for (const empty of ['', ' ']) {
      const response = await scene.get(path, { tokenUUID: scene.tokens.server, [field]: empty });
      expect([...outcome(response), response.body.error.message]).toEqual([
        400,
        'invalid_field',
        `\`${field}\` must not be empty: omit it to read without this filter`,
      ]);
    }
  });
});

describe('hostile text', () => {
  it('is stored unchanged where it is allowed', async () => {
    const attrValue = '<script>"\'\\ \u2028 é e\u0301 🍋 __proto__ %00 \t\r\n';
    const eventUUID = 'hostile-text';
    const eventAttrArray = [
      { attrID: '__proto__', attrValue },
      { attrID: 'constructor', attrValue: '[' },
    ];
    const response = await scene.post('/logEvent', { ...event(), eventUUID, eventAttrArray });
    expect(response.body).toEqual({ eventUUID, status: '200' });
    const { body } = await scene.get('/event/getEvent', { tokenUUID: scene.tokens.server, attrID: '__proto__' });
    expect(body.event[0]).toMatchObject({ eventUUID });
    expect(body.event[0].eventAttrArray).toEqual(expect.arrayContaining(eventAttrArray));
  });
});
