import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { afterEach, describe, expect, it } from 'vitest';
import { newAddress, newUserUUID } from '../../test/fixtures/requests.ts';
import { noRateLimits, openScene, type Scene } from '../../test/fixtures/scene.ts';
import { Refusal } from '../shared/refusal.ts';
import type { Store } from '../store/store.ts';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const thing of open.splice(0)) await thing.close();
});
const begin = async (...options: Parameters<typeof openScene>) => {
  const scene = await openScene(...options);
  open.push(scene);
  return scene;
};

describe('an unknown path', () => {
  it.each(['/', '/event', '/event/logEvents/', '/Event/LogEvent', '/tracker.js', '/ada.lovelace@example.com?a=b'])(
    'is 404: %s',
    async (path) => {
      const scene = await begin();
      const { status, body, headers } = await scene.send(path);
      expect([status, body.error.code, body.status]).toEqual([404, 'unknown_operation', '404']);
      expect(headers.get('x-request-id')).toBe(body.requestID);
      expect(scene.logged()).not.toContain('lovelace');
    },
  );
});

describe('a path that is nearly that of an operation', () => {
  it.each([
    ['/event/getEvents', '/event/getEvent'],
    ['/getEvent', '/event/getEvent'],
    ['/event/log_event', '/event/logEvent'],
    ['/x/contact/createcontact', '/contact/createContact'],
  ])('is answered with the right one: %s', async (path, meant) => {
    const scene = await begin();
    const { status, body } = await scene.send(path);
    expect([status, body.error.message]).toEqual([404, `no operation has this path. Did you mean ${meant}?`]);
  });

  it('is answered with the base path', async () => {
    const scene = await begin({ basePath: '/s/' });
    expect((await scene.send('/event/getEvent')).body.error.message).toContain('Did you mean /s/event/getEvent?');
  });
});

describe('a method that a path does not take', () => {
  it.each([
    ['GET', '/event/logEvents', 'POST, OPTIONS'],
    ['DELETE', '/logEvent', 'POST, GET, HEAD, OPTIONS'],
    ['POST', '/event/getEvent', 'GET, HEAD'],
    ['OPTIONS', '/event/getEvent', 'GET, HEAD'],
    ['PUT', '/healthz', 'GET, HEAD'],
  ])('is 405 with those that it takes: %s %s', async (method, path, allow) => {
    const scene = await begin();
    const { status, body, headers } = await scene.send(path, { method });
    expect([status, body.error.code, headers.get('allow')]).toEqual([405, 'method_not_allowed', allow]);
    expect(body.error.message).toBe(`the path takes ${allow}, not ${method}`);
  });
});

describe('an Authorization header', () => {
  it.each([
    ['Basic c2VydmVyOnNlY3JldA==', 'the Authorization header must be `Bearer <token>`, not Basic'],
    ['server_secretsecretsecretsecret', 'the Authorization header must be `Bearer <token>`'],
    ['Bearer', 'the Authorization header must be `Bearer <token>`'],
    ['', 'the request has no token: neither the field `tokenUUID` nor `Authorization: Bearer <token>`'],
  ])('that holds no token is 401 with what to send: %s', async (Authorization, message) => {
    const scene = await begin();
    const { status, body } = await scene.send('/event/getEvent', { headers: { Authorization } });
    expect([status, body.error.code, body.error.message]).toEqual([401, 'missing_token', message]);
  });
});

describe('a base path', () => {
  it.each(['/x/', '/x/y/'])('stands in front of every path: %s', async (basePath) => {
    const scene = await begin({ basePath });
    for (const path of ['healthz', 'readyz', 'openapi.json']) {
      expect((await scene.send(`${basePath}${path}`)).status).toBe(200);
      expect((await scene.send(`/${path}`)).status).toBe(404);
    }
    const event = { tokenUUID: scene.tokens.browser, userUUID: newUserUUID(), eventID: 1 };
    expect((await scene.post(`${basePath}logEvent`, event)).status).toBe(200);
    expect((await scene.send(`${basePath}openapi.json`)).body.servers).toEqual([{ url: basePath.slice(0, -1) }]);
  });
});

describe('the routes for whoever runs the service', () => {
  it('say that it lives and is ready', async () => {
    const scene = await begin();
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
    expect((await scene.send('/healthz')).body).toEqual({ version, status: '200' });
    expect((await scene.send('/readyz')).body).toEqual({ status: '200' });
    expect((await scene.send('/readyz', { method: 'POST' })).headers.get('allow')).toBe('GET, HEAD');
  });

  it('say that it isn’t ready when the store is not fit', async () => {
    const check = () => Promise.reject(new Error('disk gone'));
    const scene = await begin({ wrap: (store) => ({ ...store, check }) });
    expect((await scene.send('/healthz')).status).toBe(200);
    const { status, body, headers } = await scene.send('/readyz');
    expect([status, body.error.code, headers.get('retry-after')]).toEqual([503, 'unavailable', '1']);
  });

  it('say so while the server stops', async () => {
    const scene = await begin({ isStopping: () => true });
    expect((await scene.send('/readyz')).status).toBe(503);
    expect((await scene.send('/healthz')).status).toBe(200);
  });
});

describe('a fault', () => {
  it('is 500 without a word of why, which is in the log under the requestID', async () => {
    const scene = await begin({
      wrap: (store) => ({
        ...store,
        logEvents: () => Promise.reject(Object.assign(new Error('bug with ada@example.com'), { row: 'secret row' })),
      }),
    });
    const event = { tokenUUID: scene.tokens.browser, userUUID: newUserUUID(), eventID: 1 };
    const { status, body, headers } = await scene.post('/logEvent', event);
    expect([status, body.error.code, headers.get('access-control-allow-origin')]).toEqual([500, 'internal', '*']);
    expect(JSON.stringify(body)).not.toContain('bug');
    const line =
      scene
        .logged()
        .split('\n')
        .find((text) => text.includes(body.requestID)) ?? '';
    expect(JSON.parse(line)).toMatchObject({
      level: 50,
      fault: { name: 'Error', stack: expect.stringContaining('bug with …@…') },
    });
    expect(scene.logged()).not.toContain('secret row');
  });

  it('of keeping is 503, to be tried again after the seconds that the store says', async () => {
    const logEvents = () => Promise.reject(new Refusal('unavailable', { retryAfterSeconds: 4.2 }));
    const scene = await begin({ wrap: (store) => ({ ...store, logEvents }) });
    const event = { tokenUUID: scene.tokens.browser, userUUID: newUserUUID(), eventID: 1 };
    const { status, body, headers } = await scene.post('/logEvent', event);
    expect([status, body.error.code, headers.get('retry-after')]).toEqual([503, 'unavailable', '5']);
  });
});

describe('rate limits', () => {
  const limit = (of: Partial<typeof noRateLimits>) => begin({ rateLimits: { ...noRateLimits, ...of } });
  const from = (remoteAddress: string) => ({ incoming: { socket: { remoteAddress } } });
  const one = { perSecond: 0.1, burst: 1 };
  const sendEvent = (scene: Scene, kind: 'browser' | 'server', fields = {}, env?: object) =>
    scene.send(
      '/logEvent',
      {
        method: 'POST',
        body: JSON.stringify({ tokenUUID: scene.tokens[kind], userUUID: newUserUUID(), eventID: 1, ...fields }),
      },
      env,
    );

  it('bind the bytes that a browser token, an address and a user may have stored', async () => {
    const eventAttrArray = [{ attrID: 'note', attrValue: 'x'.repeat(2_000) }];
    for (const name of ['tokenBytes', 'addressBytes', 'userBytes'] as const) {
      const scene = await limit({ [name]: { perSecond: 100, burst: 4_000 } });
      const userUUID = newUserUUID();
      expect((await sendEvent(scene, 'browser', { userUUID, eventAttrArray })).status).toBe(200);
      const { status, headers } = await sendEvent(scene, 'browser', { userUUID, eventAttrArray });
      expect([status, Number(headers.get('retry-after')) > 1]).toEqual([429, true]);
      expect((await sendEvent(scene, 'server', { userUUID, eventAttrArray })).status).toBe(200);
      const users = Array.from({ length: 20 }, () => ({ userUUID: newUserUUID(), eventID: 1 }));
      const batch = { tokenUUID: scene.tokens.browser, event: users };
      const bound = name === 'userBytes' ? 200 : 429;
      expect((await scene.post('/event/logEvents', batch)).status).toBe(bound);
    }
  });

  it('bind a browser token, and say when to try again', async () => {
    const scene = await limit({ token: one });
    expect((await sendEvent(scene, 'browser')).status).toBe(200);
    const { status, body, headers } = await sendEvent(scene, 'browser');
    expect([status, body.error.code]).toEqual([429, 'too_many_requests']);
    expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(9);
    expect(headers.get('access-control-expose-headers')).toContain('Retry-After');
    expect((await sendEvent(scene, 'server')).status).toBe(200);
    expect((await sendEvent(scene, 'server')).status).toBe(200);
  });

  it('bind an address', async () => {
    const scene = await limit({ address: one });
    const statuses = [];
    for (const address of ['192.0.2.1', '192.0.2.1', '192.0.2.2'])
      statuses.push((await sendEvent(scene, 'browser', {}, from(address))).status);
    expect(statuses).toEqual([200, 429, 200]);
  });

  it('bind a user', async () => {
    const scene = await limit({ user: one });
    const userUUID = newUserUUID();
    expect((await sendEvent(scene, 'browser', { userUUID })).status).toBe(200);
    expect((await sendEvent(scene, 'browser', { userUUID })).status).toBe(429);
    expect((await sendEvent(scene, 'browser')).status).toBe(200);
  });

  it('count the events of a batch, and what is refused for its content', async () => {
    const scene = await limit({ token: { perSecond: 0.1, burst: 10 } });
    const batch = (events: number) =>
      scene.post('/event/logEvents', {
        tokenUUID: scene.tokens.browser,
        userUUID: newUserUUID(),
        event: Array(events).fill({ eventID: 1 }),
      });
    expect((await batch(8)).status).toBe(200);
    expect((await batch(3)).status).toBe(429);
    expect((await sendEvent(scene, 'browser', { eventID: 'none' })).status).toBe(400);
    expect((await batch(1)).status).toBe(200);
    expect((await sendEvent(scene, 'browser', { eventID: 'none' })).status).toBe(429);
  });

  it.each(['createContactAddress', 'createContactUser'])('bind createContact tighter: %s', async (name) => {
    const scene = await limit({ [name]: one });
    const userUUID = newUserUUID();
    const create = () =>
      scene.post('/createContact', {
        tokenUUID: scene.tokens.browser,
        userUUID,
        contactEmailaddress: newAddress(),
        contactProfileID: 'p',
      });
    expect([(await create()).status, (await create()).status]).toEqual([200, 429]);
    expect((await sendEvent(scene, 'browser', { userUUID })).status).toBe(200);
  });

  it('count addresses behind a trusted proxy, and no others', async () => {
    for (const [trustProxy, expected] of [
      [['10.0.0.0/8'], [200, 200, 429]],
      [[], [200, 429, 429]],
    ] as const) {
      const scene = await begin({ rateLimits: { ...noRateLimits, address: one }, trustProxy });
      const statuses = [];
      for (const client of ['192.0.2.1', '192.0.2.2', '192.0.2.1']) {
        const query = new URLSearchParams({ tokenUUID: scene.tokens.browser, userUUID: newUserUUID(), eventID: '1' });
        const headers = { 'X-Forwarded-For': `203.0.113.7, ${client}` };
        statuses.push((await scene.send(`/logEvent?${query}`, { headers }, from('10.0.0.1'))).status);
      }
      expect(statuses).toEqual(expected);
    }
  });
});

describe('a proxy that nobody told of', () => {
  const ask = async (
    scene: Scene,
    { peer, headers, kind = 'browser' }: { peer: string; headers: Record<string, string>; kind?: 'browser' | 'server' },
  ) => {
    const query = new URLSearchParams({ tokenUUID: scene.tokens[kind], userUUID: newUserUUID(), eventID: '1' });
    const env = { incoming: { socket: { remoteAddress: peer } } };
    expect((await scene.send(`/logEvent?${query}`, { headers }, env)).status).toBe(200);
  };
  const warnings = (scene: Scene) => scene.logged().split('TRUST_PROXY is not set').length - 1;

  it.each([
    ['127.0.0.1', { 'X-Forwarded-For': '198.51.100.7' }],
    ['::1', { 'X-Forwarded-For': '198.51.100.7' }],
    ['::ffff:172.17.0.1', { 'X-Forwarded-For': '198.51.100.7' }],
    ['10.1.2.3', { Forwarded: 'for=198.51.100.7' }],
    ['192.168.1.1', { 'X-Forwarded-For': 'nonsense' }],
    ['fd00::1', { Forwarded: 'for=198.51.100.7' }],
  ])('on %s is reported once, without the address of a visitor', async (peer, headers) => {
    const scene = await begin();
    for (let times = 0; times < 3; times++) await ask(scene, { peer, headers });
    expect(warnings(scene)).toBe(1);
    expect(scene.logged()).not.toContain('198.51');
  });

  it.each([
    ['a visitor without a proxy', '127.0.0.1', {}, {}],
    ['a header from a public address', '203.0.113.9', { 'X-Forwarded-For': '198.51.100.7' }, {}],
    ['a trusted proxy', '127.0.0.1', { 'X-Forwarded-For': '198.51.100.7' }, { trustProxy: ['127.0.0.1'] }],
    ['no address', '', { 'X-Forwarded-For': '198.51.100.7' }, {}],
  ])('is not seen in %s', async (_, peer, headers, options) => {
    const scene = await begin(options);
    await ask(scene, { peer, headers: headers as Record<string, string> });
    expect(warnings(scene)).toBe(0);
  });

  it('is noted for the doctor once an hour, and forgotten where proxies are trusted', async () => {
    const noted: (number | null)[] = [];
    let time = Date.UTC(2026, 5, 1, 12);
    const wrap = (store: Store): Store => ({
      ...store,
      noteUnknownProxy: async ({ seenTime }) => {
        noted.push(seenTime);
        throw new Error('not kept');
      },
    });
    const scene = await begin({ wrap, now: () => time });
    const seen = async () => ask(scene, { peer: '127.0.0.1', headers: { 'X-Forwarded-For': '198.51.100.7' } });
    for (const minutes of [0, 30, 29, 1, 30]) {
      time += minutes * 60_000;
      await seen();
    }
    expect(noted).toEqual([time - 90 * 60_000, time - 30 * 60_000]);
    expect(warnings(scene)).toBe(1);
    await begin({ wrap, trustProxy: ['127.0.0.1'] });
    expect(noted.at(-1)).toBeNull();
  });

  it('does not matter to a server token, which has no rate limit', async () => {
    const scene = await begin();
    await ask(scene, { peer: '127.0.0.1', headers: { 'X-Forwarded-For': '198.51.100.7' }, kind: 'server' });
    expect(warnings(scene)).toBe(0);
  });
});

describe('the log', () => {
  it('holds no token, no e-mail address and no query string, whatever the request', async () => {
    const scene = await begin();
    const contactEmailaddress = 'ada.lovelace@example.com';
    const fields = { userUUID: newUserUUID(), contactEmailaddress, contactProfileID: 'p', eventID: 1 };
    const { send, post, get, tokens } = scene;
    for (const tokenUUID of [...Object.values(tokens), 'server_guessed']) {
      const headers = { Authorization: `Bearer ${tokenUUID}`, Referer: `https://shop.example/?${tokenUUID}` };
      for (const path of [
        '/createContact',
        '/logEvent',
        '/contact/updateContact',
        '/nowhere',
        `/${contactEmailaddress}`,
      ]) {
        await post(path, { tokenUUID, ...fields }, headers);
        await get(path, { tokenUUID, ...fields }, headers);
        await send(path, { method: 'POST', body: `{"tokenUUID":"${tokenUUID}","${contactEmailaddress}"`, headers });
      }
    }
    const lines = scene
      .logged()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.length).toBeGreaterThan(50);
    expect(lines.find(({ path }) => path === '/createContact')).toMatchObject({
      method: 'POST',
      status: expect.any(Number),
      milliseconds: expect.any(Number),
      requestID: expect.any(String),
    });
    // A requestID is random: it may hold the letters of a short secret.
    const logged = scene.logged().replaceAll(/"requestID":"[\w-]{21}"/g, '');
    for (const secret of [...Object.values(tokens), 'guessed', 'lovelace', 'ada', '?', 'tokenUUID', fields.userUUID]) {
      expect(logged).not.toContain(secret);
    }
  });
});

describe('on a socket', () => {
  const listen = async () => {
    const scene = await begin();
    const server = createAdaptorServer({ fetch: scene.app.fetch }) as Server;
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    // Before the scene, whose store it uses.
    open.unshift({
      close: () => {
        const closed = once(server, 'close');
        server.close();
        server.closeAllConnections();
        return closed;
      },
    });
    const { port } = server.address() as AddressInfo;
    return { scene, port, url: `http://127.0.0.1:${port}` };
  };
  const event = (scene: Scene, fields = {}) =>
    JSON.stringify({ tokenUUID: scene.tokens.browser, userUUID: newUserUUID(), eventID: 1, ...fields });

  it('a client that goes away in the middle of its body leaves no trace', async () => {
    const { scene, port, url } = await listen();
    for (let times = 0; times < 20; times++) {
      const socket = connect(port, '127.0.0.1');
      socket.write('POST /logEvent HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{"tokenUUID":');
      await new Promise((resolve) => setTimeout(resolve, 5));
      socket.destroy();
    }
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    expect(scene.logged()).not.toContain('"level":50');
  });

  it('an event whose page has gone is kept', async () => {
    const { scene, port } = await listen();
    const userUUID = newUserUUID();
    const body = event(scene, { userUUID });
    const socket = connect(port, '127.0.0.1');
    socket.write(
      `POST /logEvent HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      () => socket.destroy(),
    );
    await expect
      .poll(async () => {
        const read = await scene.get('/event/getEvent', { tokenUUID: scene.tokens.server, userUUID });
        return read.body.event.length;
      })
      .toBe(1);
  });

  it('a body that is too large is answered 413, and the connection lives on', async () => {
    const { scene, url } = await listen();
    const large = await fetch(`${url}/logEvent`, { method: 'POST', body: 'x'.repeat(200_000) });
    expect(large.status).toBe(413);
    await large.text();
    const chunked = new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(50_000)) });
    const endless = await fetch(`${url}/logEvent`, {
      method: 'POST',
      body: chunked,
      duplex: 'half',
    } as RequestInit).catch(() => undefined);
    expect([413, undefined]).toContain(endless?.status);
    expect((await fetch(`${url}/logEvent`, { method: 'POST', body: event(scene) })).status).toBe(200);
  });

  it('answers come with their length, and HEAD without a body', async () => {
    const { scene, url } = await listen();
    const response = await fetch(`${url}/logEvent`, { method: 'POST', body: event(scene) });
    expect(Number(response.headers.get('content-length'))).toBe((await response.text()).length);
    const head = await fetch(`${url}/healthz`, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
  });
});
