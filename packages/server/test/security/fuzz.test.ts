/**
 * Tests that random requests, generated from the operations table with a fixed seed, get a response in time and cause
 * no server error.
 */
import { once } from 'node:events';
import { Agent, createServer, request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { contactStatuses } from '@firsthand/contract/contact';
import { limits } from '@firsthand/contract/limits';
import { type Operation, type OperationName, operationNames, operations } from '@firsthand/contract/operations';
import { getRequestListener } from '@hono/node-server';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { createErrorResponder } from '../../src/http/routes.ts';
import type { Store } from '../../src/store/store.ts';
import { makeContact } from '../fixtures/requests.ts';
import { type Fields, type Scene, toStrings } from '../fixtures/scene.ts';
import { createRandom, times } from '../tools/counts.ts';
import { report } from '../tools/report.ts';
import { localConnection, openService, type Service } from './tools/service.ts';

const requests = times({ quick: 6_000, full: 980_000 });
const overHTTP = times({ quick: 300, full: 20_000 });
/** A slower response counts as a hang. Generous in quick runs, which share their machine. */
const timeoutMilliseconds = times({ quick: 60_000, full: 1_000 });

type Random = () => number;
const pick = <Entry>(random: Random, entries: readonly Entry[]): Entry =>
  entries[Math.floor(random() * entries.length)] as Entry;
const chance = (random: Random, share: number) => random() < share;

/** Tokens, IDs and other existing values for requests to use. */
interface KnownValues {
  readonly tokens: Scene['tokens'];
  readonly fields: Readonly<Record<string, readonly unknown[]>>;
}

const createKnownValues = async (service: Service): Promise<KnownValues> => {
  const { tokens, get, post } = service;
  const people = [];
  for (let nth = 0; nth < 8; nth++) people.push(await makeContact(service, nth % 2 === 0 ? 'server' : 'browser'));
  const contactUUIDs = people.map(({ contactUUID }) => contactUUID);
  const read = async (path: string, fields: Fields) => (await get(path, { tokenUUID: tokens.server, ...fields })).body;
  // Tokens for requests to revoke. Without them, requests would revoke the tokens that they need.
  const spare = [];
  for (let nth = 0; nth < 3; nth++) {
    const { body } = await post('/account/createToken', { tokenUUID: tokens.server, tokenKind: 'browser' });
    spare.push(body.tokenID);
  }
  const contactWithLinks = await read('/contact/getContact', { contactUUID: contactUUIDs[0], include: 'link' });
  // Erases two contacts, so that responses with 410 do not depend on the random order of requests.
  for (const contactUUID of contactUUIDs.slice(-2)) {
    await post('/contact/eraseContact', { tokenUUID: tokens.server, contactUUID });
  }
  return {
    tokens,
    fields: {
      userUUID: [...people.map(({ userUUID }) => userUUID), 'user_0123456789abc', 'undefined', 'short'],
      contactUUID: contactUUIDs,
      otherContactUUID: contactUUIDs,
      contactEmailaddress: [
        ...people.map((each) => each.contactEmailaddress),
        'new@example.com',
        'ü@bücher.example',
        '@',
      ],
      contactExternalID: ['customer-1', 'customer-2', 48_152],
      otherContactExternalID: ['customer-2', 'customer-3'],
      otherContactEmailaddress: people.map((each) => each.contactEmailaddress),
      contactProfileID: ['customer', 'lead'],
      contactTagID: ['a,b', '-a', 'vip', ',,'],
      contactAttr: [
        [{ attrID: 'a', attrValue: 1 }],
        [{ attrID: 'a', attrValue: null }],
        '[{"attrID":"b","attrValue":"c"}]',
      ],
      eventAttrArray: [[{ attrID: 'a', attrValue: 'x' }], [{ attrID: '__proto__', attrValue: true }], '[]'],
      event: [
        [{ eventID: 1 }],
        [{ eventID: 'x' }, null, { eventID: 2, userUUID: 'user_0123456789abc' }],
        '[{"eventID":3}]',
      ],
      eventID: [1, 2, '3', 2_147_483_647],
      eventName: ['Signed up', 'Bought'],
      eventUUID: ['event_00001', 'event_00002'],
      requestUUID: ['request_1', 'request_2'],
      accountUUID: [service.accountUUID],
      tokenID: spare,
      tokenKind: ['browser', 'browser', 'operator'],
      claimID: contactUUIDs,
      linkID: contactWithLinks.link.map(({ linkID }: { linkID: string }) => linkID),
      from: ['2026-01-01', 0, Date.now() - 86_400_000],
      to: ['2027-01-01', Date.now()],
      eventTime: [Date.now(), '2026-11-21T00:00:00Z'],
      sentTime: [Date.now()],
      interval: ['hour', 'day', 'week', 'month', 'total'],
      timezone: ['UTC', 'Europe/London', 'Asia/Kathmandu', '+05:45'],
      include: ['claim', 'link', 'users', 'definition,why', ['claim']],
      order: ['asc', 'desc'],
      limit: [1, '1000'],
      cursor: ['ZTEuMA', 'YzEuMA', 'e1.0'],
      contactStatus: [...contactStatuses],
      createdFrom: ['2026-01-01', 0],
      seenTo: ['2027-01-01', Date.now()],
      sort: ['created', 'seen', 'people'],
      by: ['event', 'weekday,attr:a', 'attr:__proto__'],
      filter: [{ event: 1 }, '{"attrID":"a","is":["x",1]}', { and: [{ not: { event: 'Bought' } }] }],
      step: [[{ event: 1 }, { event: 2 }], '[{"event":1},{"attrID":"a","exists":true}]'],
      first: [{ event: 1 }],
      back: [{ attrID: 'a', lessThan: 5 }],
      compare: ['previous', 'year'],
      within: [60, '86400'],
      per: ['person', 'session'],
      robots: ['exclude'],
      restore: [true, 'false'],
      strict: ['false'],
      accountOrigin: [[]],
      profile: [[{ profileID: 'p', profileName: 'P' }]],
      tag: [[{ tagID: 't', browser: true }]],
      attr: [[{ attrID: 'a', attrType: 'number' }]],
      contact: [[{ contactEmailaddress: 'in@example.com' }, { contactUUID: contactUUIDs[0] }, 1]],
      contactProof: ['1.00'],
      cookieDomain: ['example.com', 'com'],
    },
  };
};

const invalidValues: readonly unknown[] = [
  null,
  '',
  ' ',
  0,
  -1,
  1.5,
  1e308,
  -0,
  2 ** 53,
  true,
  false,
  [],
  {},
  [[]],
  [null],
  [{}],
  { __proto__: null, a: 1 },
  JSON.parse('{"__proto__":{"a":1},"constructor":{"prototype":1},"toString":1}'),
  'NaN',
  'null',
  '[',
  '[[[[',
  `${'['.repeat(200)}${']'.repeat(200)}`,
  '{"a":',
  '\0',
  '\ud800',
  '\u202e',
  '🍋'.repeat(300),
  'x'.repeat(3_000),
  ','.repeat(7_000),
  '%',
  '%00%ff',
  '../../etc/passwd',
  "'; DROP TABLE event; --",
  '99999999999999999999',
  '-9223372036854775809',
  '1e999',
  '9999-12-31T23:59:59Z',
  '0000-01-01',
  '+275760-09-13',
  Array(101).fill({ attrID: 'a', attrValue: 'b' }),
  Array(200).fill('a'),
];

const valueFor = (random: Random, values: KnownValues, field: string, invalidShare: number): unknown => {
  const validValues = values.fields[field];
  return validValues === undefined || chance(random, invalidShare)
    ? pick(random, invalidValues)
    : pick(random, validValues);
};

/** The fields of each operation, with whether each is required. */
const fieldsOf = Object.fromEntries(
  operationNames.map((name) => {
    const { shape } = operations[name].input as unknown as { shape: Record<string, z.ZodType> };
    return [
      name,
      Object.entries(shape).map(([field, schema]) => [field, !schema.safeParse(undefined).success] as const),
    ];
  }),
) as unknown as Readonly<Record<OperationName, readonly (readonly [field: string, isNeeded: boolean])[]>>;

const inventField = (random: Random, values: KnownValues): string =>
  chance(random, 0.5)
    ? pick(random, Object.keys(values.fields))
    : pick(random, ['__proto__', 'constructor', 'a', '', '\0', 'k'.repeat(500), 'tokenUUID', 'status']);

const mutate = (random: Random, text: string): string => {
  const at = Math.floor(random() * text.length);
  const cut = Math.floor(random() * 8);
  return pick(random, [
    text.slice(0, at),
    text.slice(0, at) + text.slice(at + cut),
    text.slice(0, at) +
      pick(random, ['"', '\\', '{', ']', ',', '\0', '&', '=', '%', '\u2028', '1e9', 'é']) +
      text.slice(at),
    text + text,
    text.slice(at) + text.slice(0, at),
  ]);
};

interface RandomRequest {
  readonly name: string;
  readonly target: string;
  readonly init: RequestInit & { headers: Record<string, string> };
}

/** Calls streams less often, because each is read until it is silent, which is slow. */
const names = operationNames.flatMap((name) => Array<typeof name>(name === 'streamEvents' ? 1 : 12).fill(name));

/** Operations that are called rarely: they remove what other requests use, or let it grow without limit. */
const rare = new Set<string>(['eraseContact', 'revokeToken', 'createAccount', 'createToken', 'mergeContact']);

const bodyTypes = {
  'application/json': JSON.stringify,
  'text/plain;charset=UTF-8': JSON.stringify,
  '': JSON.stringify,
  'application/x-www-form-urlencoded': (fields: Fields) => new URLSearchParams(toStrings(fields)).toString(),
  'multipart/form-data; boundary=b': (fields: Fields) =>
    `${toStrings(fields)
      .map(
        ([name, value]) =>
          `--b\r\nContent-Disposition: form-data; name="${encodeURI(name.toWellFormed())}"\r\n\r\n${value}\r\n`,
      )
      .join('')}--b--\r\n`,
} as const;

const oddTypes = [
  'image/png',
  'application/json; charset=utf-16',
  'multipart/form-data',
  'text/html',
  ';',
  'multipart/form-data; boundary=""',
];

const textOf = (value: unknown) => (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).toWellFormed();

/** Creates a random request, valid or invalid. */
const makeRequest = (random: Random, values: KnownValues): RandomRequest => {
  // Half of the requests resemble a correct client's.
  const invalidShare = chance(random, 0.5) ? 0.01 : 0.25;
  let name = pick(random, names);
  if (rare.has(name) && chance(random, 0.8)) name = 'logEvent';
  const { methods, paths } = operations[name] as Operation;
  const method = chance(random, 0.95)
    ? pick(random, methods)
    : pick(random, ['GET', 'POST', 'PUT', 'HEAD', 'OPTIONS', 'DELETE']);
  let path: string = pick(random, paths);
  if (chance(random, 0.02))
    path = pick(random, [
      `${path}/`,
      `/${path}`,
      path.toUpperCase(),
      `${path}%00`,
      '/demo/stream',
      '/%',
      '/\ufffd',
      '/tracker.js',
      '/openapi.json',
      '/readyz',
    ]);

  const fields: Record<string, unknown> = {};
  const setField = (field: string, value: unknown) =>
    Object.defineProperty(fields, field, { value, enumerable: true, configurable: true, writable: true });
  const share = pick(random, [0.1, 0.4, 1]);
  for (const [field, isNeeded] of fieldsOf[name]) {
    if (chance(random, isNeeded ? 1 - invalidShare : share))
      setField(field, valueFor(random, values, field, invalidShare));
  }
  while (chance(random, invalidShare)) setField(inventField(random, values), pick(random, invalidValues));

  const headers: Record<string, string> = {};
  const { tokens: kinds } = operations[name] as Operation;
  const suitable = kinds.map((kind) => values.tokens[kind]);
  const token = pick<unknown>(
    random,
    chance(random, invalidShare) ? [...Object.values(values.tokens), ...invalidValues] : suitable,
  );
  const place = pick(random, ['field', 'field', 'query', 'header'] as const);
  if (place === 'field') setField('tokenUUID', token);
  if (place === 'header') headers.Authorization = `Bearer ${encodeURI(textOf(token).slice(0, 200))}`;
  if (chance(random, invalidShare))
    headers.Origin = pick(random, ['https://shop.example', 'null', 'x', 'https://[', 'file://']);
  if (chance(random, 0.1)) headers.Accept = pick(random, ['image/png', '*/*', 'application/json']);
  if (chance(random, 0.03)) headers['Sec-Purpose'] = 'prefetch';
  if (chance(random, 0.03)) headers['Last-Event-ID'] = pick(random, ['ZTEuMA', 'x', '']);
  if (chance(random, 0.03))
    Object.assign(headers, { 'Sec-Fetch-Site': 'same-origin', Cookie: 'userUUID=user_0123456789abc' });

  const query: Record<string, unknown> = place === 'query' ? { tokenUUID: token } : {};
  const inQuery = method !== 'POST' || chance(random, 0.1);
  let search = new URLSearchParams(toStrings(inQuery ? { ...query, ...fields } : query)).toString();
  if (chance(random, 0.03)) search = encodeURI(mutate(random, search).toWellFormed()).replaceAll('%25', '%');
  const target = search === '' ? path : `${path}?${search.replaceAll('#', '')}`;
  if (method === 'GET' || method === 'HEAD') return { name, target, init: { method, headers } };

  const type = pick(random, Object.keys(bodyTypes) as (keyof typeof bodyTypes)[]);
  let text = bodyTypes[type](inQuery ? {} : fields);
  if (chance(random, 0.05)) text = mutate(random, text);
  headers['Content-Type'] = chance(random, 0.98) ? type : pick(random, oddTypes);
  if (headers['Content-Type'] === '') delete headers['Content-Type'];
  let body: Uint8Array<ArrayBuffer> = new Uint8Array(Buffer.from(text));
  // Invalid UTF-8.
  if (chance(random, 0.02) && body.length > 0) body[Math.floor(random() * body.length)] = 0xff;
  if (chance(random, 0.05)) {
    headers['Content-Encoding'] = pick(random, ['gzip', 'gzip', 'x-gzip', 'br', 'identity']);
    if (chance(random, 0.8)) body = new Uint8Array(gzipSync(body, { level: 1 }));
  }
  return { name, target, init: { method, headers, body } };
};

interface Reply {
  /** The status; 0 if there was no HTTP response. */
  readonly status: number;
  /** Whether the response has a Retry-After header. */
  readonly retry: boolean;
}

interface Tally {
  readonly statuses: Record<string, number>;
  readonly errors: string[];
  slowestMilliseconds: number;
}

const createTally = (): Tally => ({ statuses: {}, errors: [], slowestMilliseconds: 0 });
const inProcessTally = createTally();
const connectionTally = createTally();

/** Adds a tally to the sum. */
const addTo = (sum: Tally, { statuses, errors, slowestMilliseconds }: Tally) => {
  for (const [status, count] of Object.entries(statuses)) sum.statuses[status] = (sum.statuses[status] ?? 0) + count;
  sum.errors.push(...errors);
  sum.slowestMilliseconds = Math.max(sum.slowestMilliseconds, slowestMilliseconds);
};

const countResponses = ({ statuses }: Tally) => Object.values(statuses).reduce((sum, count) => sum + count, 0);

/** Records a response and anything wrong with it. */
const record = (
  tally: Tally,
  { name, target, init }: RandomRequest,
  { status, retry }: Reply,
  milliseconds: number,
) => {
  tally.statuses[status] = (tally.statuses[status] ?? 0) + 1;
  tally.slowestMilliseconds = Math.max(tally.slowestMilliseconds, milliseconds);
  const faulty = status === 0 || (status >= 500 && !(status === 503 && retry));
  if (!faulty && milliseconds <= timeoutMilliseconds) return;
  const body = init.body
    ? Buffer.from(init.body as Uint8Array)
        .toString()
        .slice(0, 2_000)
    : '';
  const sent = `${init.method} ${target.slice(0, 1_000)} ${JSON.stringify(init.headers)} ${body}`;
  tally.errors.push(`${name}: ${status} after ${milliseconds.toFixed(0)} ms to ${sent}`);
};

/** Sends a request and records its response. Resends a late request, to distinguish a hang from a busy machine. */
const sendTimed = async (tally: Tally, randomRequest: RandomRequest, send: () => Promise<Reply>) => {
  const timed = async () => {
    const started = performance.now();
    const reply = await send();
    return { reply, milliseconds: performance.now() - started };
  };
  const { reply, milliseconds } = await timed();
  const retry = milliseconds > timeoutMilliseconds ? await timed() : undefined;
  record(tally, randomRequest, reply, Math.min(milliseconds, retry?.milliseconds ?? milliseconds));
};

/** Sends `count` requests, and closes any streams. Stops after the tenth error. */
const fuzz = async (service: Service, count: number, seed: number): Promise<Tally> => {
  const tally = createTally();
  const random = createRandom(seed);
  const values = await createKnownValues(service);
  const one = async () => {
    const randomRequest = makeRequest(random, values);
    const send = async (): Promise<Reply> => {
      const response = await service.app.request(randomRequest.target, randomRequest.init, localConnection);
      await response.body?.cancel();
      return { status: response.status, retry: response.headers.has('retry-after') };
    };
    await sendTimed(tally, randomRequest, send);
  };
  const concurrency = 16;
  for (let sent = 0; sent < count && tally.errors.length < 10; sent += concurrency) {
    await Promise.all(Array.from({ length: concurrency }, one));
  }
  return tally;
};

const printTally = (what: string, { statuses, slowestMilliseconds }: Tally) =>
  process.stdout.write(
    `${what}: ${JSON.stringify(statuses)}, the slowest after ${slowestMilliseconds.toFixed(0)} ms\n`,
  );

/** Starts a new application after this number of requests, to limit its data. */
const perService = 50_000;

it(`responds to ${requests} arbitrary requests`, async () => {
  for (let sent = 0, seed = 1; sent < requests; sent += perService, seed += 1) {
    const fresh = await openService();
    const tally = await fuzz(fresh, Math.min(perService, requests - sent), seed);
    addTo(inProcessTally, tally);
    expect(
      fresh
        .logged()
        .split('\n')
        .filter((line) => line.includes('"level":50'))
        .slice(0, 3),
    ).toEqual([]);
    await fresh.close();
    if (requests > perService) printTally(`seed ${seed}`, tally);
    expect(inProcessTally.errors).toEqual([]);
  }
  printTally('in process', inProcessTally);
  // Enough requests must succeed, because refusals alone prove little.
  const share = (inProcessTally.statuses[200] ?? 0) / requests;
  expect(share).toBeGreaterThan(0.1);
  for (const status of [204, 400, 401, 403, 404, 405, 409, 410, 415])
    expect(inProcessTally.statuses[status]).toBeGreaterThan(0);
});

/** Sends a request over a connection with Node's client. */
const sendOver = (port: number, agent: Agent, { target, init }: RandomRequest): Promise<Reply> =>
  new Promise((resolve) => {
    const { method = 'GET', headers } = init;
    const body = init.body as Uint8Array | undefined;
    const sent = request({ port, agent, method, path: target, headers, setHost: true }, (response) => {
      resolve({ status: response.statusCode ?? 0, retry: 'retry-after' in response.headers });
      // Stops reading a stream, which never ends.
      if (response.headers['content-type']?.startsWith('text/event-stream')) response.destroy();
      else response.resume();
    });
    sent.on('error', () => resolve({ status: 0, retry: false }));
    sent.end(body);
  });

/** Sends a mutated request. Node itself responds with 400 or, if the connection closes early, not at all. */
const sendMutated = async (port: number, random: Random, { target, init }: RandomRequest): Promise<Reply> => {
  const { method, headers } = init;
  const body = Buffer.from((init.body as Uint8Array | undefined) ?? '');
  const lines = Object.entries({ Host: '127.0.0.1', 'Content-Length': body.length, Connection: 'close', ...headers });
  const head = `${method} ${target} HTTP/1.1\r\n${lines.map((line) => `${line.join(': ')}\r\n`).join('')}\r\n`;
  const socket = connect(port, '127.0.0.1');
  let text = '';
  socket.setEncoding('latin1').on('data', (chunk) => {
    text += chunk;
    if (text.includes('text/event-stream')) socket.destroy();
  });
  socket.on('error', () => {});
  socket.end(Buffer.concat([Buffer.from(mutate(random, head), 'latin1'), body]));
  await once(socket, 'close');
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 400);
  return { status, retry: /^retry-after:/im.test(text) };
};

it(`responds to ${overHTTP} requests over connections, an eighth of the requests malformed`, async () => {
  const service = await openService();
  const errorHandler = createErrorResponder(pino({ level: 'silent' }));
  const server = createServer(getRequestListener(service.app.fetch, { errorHandler })).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  const tally = connectionTally;
  const random = createRandom(4242);
  const values = await createKnownValues(service);
  let sent = 0;
  const client = async () => {
    while (sent < overHTTP && tally.errors.length < 10) {
      sent += 1;
      const randomRequest = makeRequest(random, values);
      // Skips requests that Node's client refuses to send.
      if (/[^\x21-\xff]/.test(randomRequest.target) || !randomRequest.target.startsWith('/')) continue;
      const isBroken = chance(random, 0.125);
      const bytes = random() * 2 ** 32;
      await sendTimed(tally, randomRequest, () =>
        isBroken ? sendMutated(port, createRandom(bytes), randomRequest) : sendOver(port, agent, randomRequest),
      );
    }
  };
  await Promise.all(Array.from({ length: 8 }, client));
  agent.destroy();
  server.close();
  server.closeAllConnections();
  await once(server, 'close');
  await service.close();
  printTally('over connections', tally);
  expect(tally.errors).toEqual([]);
  expect((tally.statuses[200] ?? 0) / overHTTP).toBeGreaterThan(0.05);
});

it('detects a server that occasionally fails', async (context) => {
  let calls = 0;
  const failing = (store: Store): Store => ({
    ...store,
    logEvents: (batch) => {
      calls += 1;
      return calls % 3 === 0 ? Promise.reject(new RangeError('now and then')) : store.logEvents(batch);
    },
  });
  const weakened = await openService({ wrap: failing });
  const weakenedTally = await fuzz(weakened, 5_000, 3);
  const { errors, statuses } = weakenedTally;
  await weakened.close();
  expect(errors.length).toBeGreaterThan(0);
  expect(statuses[500]).toBeGreaterThan(0);
  const [inside, over] = [countResponses(inProcessTally), countResponses(connectionTally)];
  if (inside === 0 || over === 0) return;
  const all = createTally();
  for (const each of [inProcessTally, connectionTally]) addTo(all, each);
  report(context, {
    fault: 'fuzzing',
    count: `${inside} requests in process, ${over} over connections, an eighth of these malformed`,
    result: `${all.errors.length} server faults or responses after more than ${timeoutMilliseconds} ms; ${all.statuses[200]} × 200, ${all.statuses[400]} × 400, the slowest after ${Math.round(all.slowestMilliseconds)} ms`,
    weakened: `fails at every third write of events: ${statuses[500]} × 500 among the first ${countResponses(weakenedTally)} responses`,
  });
});

describe('a maximum-size body', () => {
  let service: Service;
  beforeAll(async () => {
    service = await openService();
  });
  afterAll(() => service.close());
  const maxBytes = limits.batchBodyBytes - 300;
  const fill = (text: string, bytes = maxBytes) => text.repeat(bytes / Buffer.byteLength(text));
  const userUUID = 'user_0123456789abc';
  const listOf = (entries: string) => `{"userUUID":"${userUUID}","event":[${entries}1]}`;
  const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
  const parts = { 'Content-Type': 'multipart/form-data; boundary=b' };
  const part = '--b\r\nContent-Disposition: form-data; name="a"';

  it.each<[what: string, body: string | Uint8Array<ArrayBuffer>, headers?: Record<string, string>]>([
    ['events', JSON.stringify({ userUUID, event: Array(1_000).fill({ eventID: 1 }) })],
    ['invalid events', JSON.stringify({ userUUID, event: Array(1_000).fill({ eventID: 'x'.repeat(900) }) })],
    ['numbers', listOf(fill('1,'))],
    ['unsafe integers', listOf(fill('1234567890123456789,'))],
    ['a long number', listOf(fill('1').slice(0, -1))],
    ['a number with zeros', `${listOf(`0.${fill('0', maxBytes / 2)}1${fill('0', maxBytes / 2 - 100)}`)}`],
    ['minuses', fill('-')],
    ['quotes', `{"a":${fill('"\\"')}`],
    ['field names', `{${Array.from({ length: 80_000 }, (_, at) => `"k${at}":1`).join(',')}}`],
    ['repetitions of a field name', `{${fill('"a":1,')}"a":1}`],
    ['text that looks like tokens', fill('"tokenUUID" ')],
    ['text that looks like one token', `"tokenUUID"${fill(' ')}`],
    ['a form with escapes', fill('%41'), form],
    ['a form with invalid escapes', fill('%'), form],
    ['a form with many fields', fill('&a=b'), form],
    ['parts', `${fill(`${part}\r\n\r\nx\r\n`)}--b--\r\n`, parts],
    ['text that nearly ends a multipart part', `${part}\r\n\r\n${fill('\r\n--', maxBytes - 100)}`, parts],
    ['part headers', `--b\r\n${fill('a: b\r\n')}`, parts],
    ['a long part name', `${part.slice(0, -1)}${fill('%22', maxBytes - 100)}"\r\n\r\nx\r\n--b--\r\n`, parts],
    ['gzip of a much larger body', new Uint8Array(gzipSync(Buffer.alloc(2 ** 28))), { 'Content-Encoding': 'gzip' }],
  ])('gets a response in time with %s', async (_, body, headers = {}) => {
    const init = { method: 'POST', body, headers: { Authorization: `Bearer ${service.tokens.server}`, ...headers } };
    const started = performance.now();
    const response = await service.app.request('/event/logEvents', init);
    const milliseconds = performance.now() - started;
    expect(response.status).toBeLessThan(500);
    expect(milliseconds).toBeLessThan(timeoutMilliseconds);
  });
});
