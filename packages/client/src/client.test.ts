import { operationNames, operations } from '@firsthand/contract/operations';
import { describe, expect, expectTypeOf, it, onTestFinished, vi } from 'vitest';
import * as z from 'zod';
import { type Client, type ClientOptions, createClient, FirsthandError, type PagedOperation } from './index.ts';

const url = 'https://events.shop.example/base/';
const token = 'server_0123456789abcdefghij';

interface JSONSchema {
  readonly type?: string;
  readonly format?: string;
  readonly properties?: Readonly<Record<string, JSONSchema>>;
  readonly items?: JSONSchema;
}

/** A client whose requests get `responses` in order (the last one repeatedly), and the requests that it has sent. */
const setUp = (responses: (() => Response | Promise<Response>)[], options: Partial<ClientOptions<false>> = {}) => {
  const sent: Request[] = [];
  const respond = async (input: RequestInfo | URL, init?: RequestInit) => {
    sent.push(new Request(input, init));
    const next = responses[Math.min(sent.length, responses.length) - 1];
    if (!next) throw new Error('no response was prepared');
    const response = next();
    return init?.signal ? Promise.race([response, rejectOnAbort(init.signal)]) : response;
  };
  return { client: createClient({ url, token, fetch: respond, ...options }), sent };
};

const rejectOnAbort = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));

const ok = (body: object) => () => Response.json({ ...body, status: '200' });
const refused =
  (status: number, error: object, headers: Record<string, string> = {}) =>
  () =>
    Response.json({ error, requestID: 'request-1', status: String(status) }, { status, headers });
const busy = refused(503, { code: 'unavailable', message: 'the store is unavailable' });
const unreachable = () => Promise.reject(new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } }));

const failureOf = async (promise: Promise<unknown>): Promise<FirsthandError> => {
  const error = await promise.then(
    () => undefined,
    (cause: unknown) => cause,
  );
  if (!(error instanceof FirsthandError)) throw new Error(`expected a FirsthandError, got ${error}`);
  return error;
};

describe('the client', () => {
  it('sends a read as a query string with lists as JSON, and the token only in a header', async () => {
    const { client, sent } = setUp([ok({ event: [], nextCursor: '' })]);
    const response = await client.getEvent({
      userUUID: 'u'.repeat(21),
      limit: 5,
      include: ['why'],
      eventID: undefined,
    });
    expect(response).toEqual({ event: [], nextCursor: '', status: '200' });
    const [request] = sent;
    const requestURL = new URL(request?.url ?? '');
    expect(requestURL.origin + requestURL.pathname).toBe('https://events.shop.example/base/event/getEvent');
    expect(Object.fromEntries(requestURL.searchParams)).toEqual({
      userUUID: 'u'.repeat(21),
      limit: '5',
      include: '["why"]',
    });
    expect(request?.headers.get('authorization')).toBe(`Bearer ${token}`);
    expect(request?.url).not.toContain(token);
  });

  it('sends a write as a JSON body', async () => {
    const { client, sent } = setUp([ok({ contactUUID: 'c-1', updated: ['contactTitle'] })]);
    await client.updateContact({ contactUUID: 'c-1', contactTitle: null });
    expect(sent[0]?.method).toBe('POST');
    expect(sent[0]?.headers.get('content-type')).toBe('application/json');
    expect(await sent[0]?.json()).toEqual({ contactUUID: 'c-1', contactTitle: null });
  });

  it('fails a call after a timeout', async () => {
    const { client } = setUp([() => new Promise<Response>(() => {})], { timeoutMs: 10 });
    const failure = await failureOf(client.updateContact({ contactUUID: 'c-1' }));
    expect(failure).toMatchObject({
      status: 0,
      code: 'unreachable',
      message: expect.stringContaining('timed out'),
    });
  });

  it('uses a call’s timeout instead of its own', async () => {
    const { client } = setUp([() => new Promise<Response>(() => {})]);
    const call = client.updateContact({ contactUUID: 'c-1' }, { timeoutMs: 10 });
    expect(await failureOf(call)).toMatchObject({ code: 'unreachable' });
  });

  it('has a longer timeout for reports', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { client } = setUp([() => new Promise<Response>(() => {})], { retries: 0 });
    const ended = vi.fn();
    const failed = failureOf(client.reportTotals({ from: 0 })).finally(ended);
    await vi.advanceTimersByTimeAsync(29_000);
    expect(ended).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await failed).toMatchObject({ code: 'unreachable' });
  });

  it('rejects a call that the caller aborts', async () => {
    const { client, sent } = setUp([() => new Promise<Response>(() => {})]);
    const stop = new AbortController();
    const call = client.getEvent({}, { signal: stop.signal });
    stop.abort(new Error('enough'));
    await expect(call).rejects.toThrow('enough');
    expect(sent).toHaveLength(1);
  });
});

describe('times', () => {
  const time = new Date('2026-11-01T09:30:00.125Z');
  const event = {
    eventUUID: 'e-1',
    eventTime: time.toISOString(),
    receivedTime: time.toISOString(),
    eventName: 'from',
  };

  it('can be Dates in a request, and are sent as ISO 8601', async () => {
    const { client, sent } = setUp([ok({ event: [] })]);
    await client.getEvent({ from: time, to: '2026-12-01' });
    await client.logEvents({ userUUID: 'u'.repeat(21), sentTime: time, event: [{ eventID: 1, eventTime: time }] });
    expect(Object.fromEntries(new URL(sent[0]?.url ?? '').searchParams)).toEqual({
      from: '2026-11-01T09:30:00.125Z',
      to: '2026-12-01',
    });
    expect(await sent[1]?.json()).toMatchObject({
      sentTime: '2026-11-01T09:30:00.125Z',
      event: [{ eventTime: '2026-11-01T09:30:00.125Z' }],
    });
  });

  it.each([
    ['a read', (client: Client) => client.getEvent({ from: new Date('soon') })],
    [
      'a write',
      (client: Client) => client.logEvent({ eventID: 1, userUUID: 'u'.repeat(21), eventTime: new Date('soon') }),
    ],
  ])('are rejected if they are invalid Dates, in %s', async (_, call) => {
    const { client, sent } = setUp([ok({})]);
    await expect(call(client)).rejects.toThrow(/^`(from|eventTime)` is an invalid Date$/);
    expect(sent).toEqual([]);
  });

  it('are strings in responses, or Dates with the `dates` option', async () => {
    const response = ok({ event: [event], eventDefinition: [{ firstTime: event.eventTime }], nextCursor: '' });
    const asText = await setUp([response]).client.getEvent({});
    expect(asText.event).toEqual([event]);
    const client = createClient({ url, token, dates: true, fetch: async () => response() });
    const asDates = await client.getEvent({});
    expect(asDates.event).toEqual([{ ...event, eventTime: time, receivedTime: time }]);
    expect(asDates.eventDefinition?.[0]?.firstTime.getTime()).toBe(time.getTime());
    expectTypeOf(asText.event[0]?.eventTime).toEqualTypeOf<string | undefined>();
    expectTypeOf(asDates.event[0]?.eventTime).toEqualTypeOf<Date | undefined>();
    expectTypeOf(asDates.event[0]?.eventName).toEqualTypeOf<string | undefined>();
  });

  it('have names in the contract that let the client recognize them, and that no other string has', () => {
    const named: Record<string, boolean> = {};
    const walk = (schema: JSONSchema) => {
      for (const [name, member] of Object.entries(schema.properties ?? {})) {
        if (member.type === 'string') named[name] = member.format === 'date-time';
        walk(member);
      }
      if (schema.items) walk(schema.items);
    };
    for (const name of operationNames) walk(z.toJSONSchema(operations[name].output) as JSONSchema);
    const isTime = (name: string) => /Time$|^(from|to)$/.test(name);
    expect(named).toEqual(Object.fromEntries(Object.keys(named).map((name) => [name, isTime(name)])));
    expect(named).toMatchObject({ eventTime: true, from: true, eventName: false });
  });
});

describe('csv', () => {
  it('resolves with a stream of the file, or rejects with the reason', async () => {
    const file = () => new Response('contactUUID\r\nV1StGXR8_Z5jdHi6B-myT\r\n');
    const { client, sent } = setUp([busy, file, refused(403, { code: 'token_kind', message: 'no' })]);
    const text = await new Response(await client.csv('searchContact', { contactTagID: 'vip' })).text();
    expect(text).toBe('contactUUID\r\nV1StGXR8_Z5jdHi6B-myT\r\n');
    expect(sent.map((request) => request.headers.get('accept'))).toEqual(['text/csv', 'text/csv']);
    expect((await failureOf(client.csv('searchContact', {}))).code).toBe('token_kind');
  });

  it('has a counterpart for NDJSON', async () => {
    const { client, sent } = setUp([() => new Response('{"contactUUID":"V1StGXR8_Z5jdHi6B-myT"}\n')]);
    const text = await new Response(await client.ndjson('searchContact', {})).text();
    expect(JSON.parse(text)).toEqual({ contactUUID: 'V1StGXR8_Z5jdHi6B-myT' });
    expect(sent[0]?.headers.get('accept')).toBe('application/x-ndjson');
  });
});

describe('pages', () => {
  it('continue until the last page, including empty pages', async () => {
    const page = (nextCursor: string, ...event: object[]) => ok({ event, nextCursor });
    const { client, sent } = setUp([page('a', { eventID: 1 }), page('b'), busy, page('', { eventID: 2 })]);
    expectTypeOf<PagedOperation>().toEqualTypeOf<
      | 'getEvent'
      | 'getContact'
      | 'searchContact'
      | 'exportContact'
      | 'listAudit'
      | 'listImports'
      | 'listRefused'
      | 'reportPeople'
    >();
    const eventIDs: number[] = [];
    for await (const { event } of client.pages('getEvent', { eventID: 7 }))
      eventIDs.push(...event.map((one) => one.eventID));
    expect(eventIDs).toEqual([1, 2]);
    const cursors = sent.map((request) => new URL(request.url).searchParams.get('cursor'));
    expect(cursors).toEqual([null, 'a', 'b', 'b']);
  });

  it('start at the given cursor, and fail when a cursor repeats', async () => {
    const { client, sent } = setUp([ok({ contact: [], nextCursor: 'c' })]);
    const pages = client.pages('searchContact', { cursor: 'b' });
    expect((await pages.next()).value?.nextCursor).toBe('c');
    expect((await pages.next()).value?.nextCursor).toBe('c');
    await expect(pages.next()).rejects.toMatchObject({ code: 'unreadable' });
    expect(new URL(sent[0]?.url ?? '').searchParams.get('cursor')).toBe('b');
  });
});

describe('an error', () => {
  it('has the response’s code, field, message and requestID', async () => {
    const { client } = setUp([refused(400, { code: 'invalid_field', message: 'eventID must be …', field: 'eventID' })]);
    expect(await failureOf(client.logEvent({ eventID: 0, userUUID: 'u'.repeat(21) }))).toMatchObject({
      status: 400,
      code: 'invalid_field',
      message: 'eventID must be …',
      field: 'eventID',
      requestID: 'request-1',
      retryAfterSeconds: undefined,
    });
  });

  it('has the code `unavailable` if a server of version 0.1.0 or earlier sends `not_kept`', async () => {
    const { client } = setUp([refused(503, { code: 'not_kept', message: 'the store is unavailable' })]);
    expect(await failureOf(client.logEvent({ eventID: 1, userUUID: 'u'.repeat(21) }))).toMatchObject({
      status: 503,
      code: 'unavailable',
    });
  });

  it.each([
    ["a proxy's error page", () => new Response('<h1>Not here</h1>', { status: 404 }), 404],
    ['a 200 response that is not JSON', () => new Response('hello'), 200],
  ])('has the code `unreadable` for %s', async (_, response, status) => {
    const { client } = setUp([response]);
    expect(await failureOf(client.getEvent({}))).toMatchObject({ status, code: 'unreadable' });
  });
});

describe('a retry', () => {
  it.each([
    ['a busy store', busy],
    ['a rate limit', refused(429, { code: 'too_many_requests', message: 'later' }, { 'retry-after': '0' })],
    ['a broken connection', unreachable],
  ])('is attempted after %s', async (_, failing) => {
    const { client, sent } = setUp([failing, ok({ event: [], nextCursor: '' })]);
    await client.getEvent({});
    expect(sent).toHaveLength(2);
  });

  it('resends an event with its original eventUUID', async () => {
    const { client, sent } = setUp([busy, unreachable, ok({ eventUUID: '', duplicate: true })]);
    await client.logEvent({ eventID: 1, userUUID: 'u'.repeat(21) });
    const bodies = await Promise.all(sent.map((request) => request.json()));
    expect(bodies).toHaveLength(3);
    expect(bodies[0].eventUUID).toMatch(/^[\w-]{8,64}$/);
    expect(new Set(bodies.map((body) => body.eventUUID)).size).toBe(1);
  });

  it('keeps the eventUUIDs given in a batch, and adds an eventUUID to every event that has none', async () => {
    const { client, sent } = setUp([ok({ event: [] })]);
    await client.logEvents({
      userUUID: 'u'.repeat(21),
      event: [{ eventID: 1 }, { eventID: 2, eventUUID: 'mine-mine' }],
    });
    const [{ event }] = await Promise.all(sent.map((request) => request.json()));
    expect(event[0].eventUUID).toMatch(/^[\w-]{8,64}$/);
    expect(event[1].eventUUID).toBe('mine-mine');
  });

  it.each<[string, (client: Client) => Promise<unknown>]>([
    ['createImport', (client) => client.createImport({ kind: 'events', importName: 'a', fingerprint: 'a'.repeat(64) })],
    ['importEvents', (client) => client.importEvents({ importID: 'import-1', position: 0, message: [] })],
    ['importContacts', (client) => client.importContacts({ importID: 'import-1', position: 0, contact: [] })],
    ['undoImport', (client) => client.undoImport({ importID: 'import-1' })],
  ])('resends %s, which has no effect the second time', async (_, call) => {
    const { client, sent } = setUp([busy, unreachable, ok({ position: 0 })]);
    await call(client);
    expect(sent).toHaveLength(3);
  });

  it('is not attempted for an operation that is unsafe to repeat', async () => {
    const { client, sent } = setUp([busy]);
    await failureOf(client.updateContact({ contactUUID: 'c-1' }));
    expect(sent).toHaveLength(1);
  });

  it('is not attempted for a report that was too slow', async () => {
    const { client, sent } = setUp([refused(503, { code: 'report_too_slow', message: 'too slow' })]);
    expect(await failureOf(client.reportTotals({ from: 0 }))).toMatchObject({ code: 'report_too_slow', status: 503 });
    expect(sent).toHaveLength(1);
  });

  it('is not attempted after a long Retry-After', async () => {
    const { client, sent } = setUp([
      refused(429, { code: 'too_many_requests', message: 'later' }, { 'retry-after': '60' }),
    ]);
    expect(await failureOf(client.getEvent({}))).toMatchObject({ status: 429, retryAfterSeconds: 60 });
    expect(sent).toHaveLength(1);
  });

  it('is not attempted with `retries: 0`', async () => {
    const { client, sent } = setUp([busy], { retries: 0 });
    await failureOf(client.getEvent({}));
    expect(sent).toHaveLength(1);
  });

  it('is attempted at most `retries` times, and calls `onRetry` with each failure', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { client, sent } = setUp([busy], { retries: 0 });
    const onRetry = vi.fn();
    const failed = failureOf(client.getEvent({}, { retries: 7, onRetry }));
    await vi.runAllTimersAsync();
    expect(await failed).toMatchObject({ status: 503 });
    expect(sent).toHaveLength(8);
    expect(onRetry.mock.calls).toEqual(Array.from({ length: 7 }, () => [expect.objectContaining({ status: 503 })]));
  });

  it('is attempted at most four times by default', async () => {
    vi.useFakeTimers();
    const { client, sent } = setUp([busy]);
    const failed = failureOf(client.getEvent({}));
    await vi.runAllTimersAsync();
    expect(await failed).toMatchObject({ status: 503, code: 'unavailable' });
    expect(sent).toHaveLength(5);
    vi.useRealTimers();
  });
});

describe('streamEvents', () => {
  const stream =
    (...chunks: string[]) =>
    () =>
      new Response(new Blob(chunks).stream(), { headers: { 'content-type': 'text/event-stream' } });
  const message = (id: string, eventID: number) => `id: ${id}\ndata: ${JSON.stringify({ eventID })}\n\n`;

  it('resumes after the last event when the connection is lost', async () => {
    const { client, sent } = setUp([stream(': hello\n\n', message('a', 1), message('b', 2)), stream(message('c', 3))]);
    const eventIDs: number[] = [];
    for await (const { eventID, cursor } of client.streamEvents({ eventID: 7 })) {
      eventIDs.push(eventID);
      if (cursor === 'c') break;
    }
    expect(eventIDs).toEqual([1, 2, 3]);
    expect(sent.map((request) => new URL(request.url).searchParams.get('cursor'))).toEqual([null, 'b']);
  });

  it('resumes at the same position when the connection is lost before the first event', async () => {
    const { client, sent } = setUp([stream('id: a\n\n'), stream('id: a\n\n', ':\n\n'), stream(message('b', 1))]);
    expect((await client.streamEvents({}).next()).value).toEqual({ eventID: 1, cursor: 'b' });
    expect(sent.map((request) => new URL(request.url).searchParams.get('cursor'))).toEqual([null, 'a', 'a']);
  });

  it('reconnects after a long outage', async () => {
    vi.useFakeTimers();
    const outage = Array.from({ length: 30 }, () => unreachable);
    const { client } = setUp([stream(message('a', 1)), ...outage, stream(message('b', 2))]);
    const events = client.streamEvents({});
    expect((await events.next()).value?.eventID).toBe(1);
    const second = events.next();
    await vi.runAllTimersAsync();
    expect((await second).value?.eventID).toBe(2);
    vi.useRealTimers();
  });

  it('reconnects after a transient error, and throws a permanent one', async () => {
    const error = (status: number, code: string) =>
      `event: error\ndata: ${JSON.stringify({ error: { code, message: 'because' }, requestID: 'request-1', status: String(status) })}\n\n`;
    const { client, sent } = setUp([
      stream(message('a', 1), error(503, 'unavailable')),
      stream(message('b', 2), error(410, 'erased_contact')),
    ]);
    const events = client.streamEvents({ contactUUID: 'c-1' });
    expect([(await events.next()).value?.eventID, (await events.next()).value?.eventID]).toEqual([1, 2]);
    expect(await failureOf(events.next())).toMatchObject({
      status: 410,
      code: 'erased_contact',
      message: 'because',
      requestID: 'request-1',
    });
    expect(sent.map((request) => new URL(request.url).searchParams.get('cursor'))).toEqual([null, 'a']);
  });

  it('ends when the caller aborts, and throws when the service rejects the request', async () => {
    const stop = new AbortController();
    const { client } = setUp([stream(message('a', 1)), refused(401, { code: 'invalid_token', message: 'revoked' })]);
    for await (const _ of client.streamEvents({}, { signal: stop.signal })) stop.abort();
    await expect(client.streamEvents({}).next()).rejects.toMatchObject({ code: 'invalid_token' });
  });
});
