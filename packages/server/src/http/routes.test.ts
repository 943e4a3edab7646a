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

const resources: { close(): unknown }[] = [];
afterEach(async () => {
  for (const resource of resources.splice(0)) await resource.close();
});
const openTestScene = async (...options: Parameters<typeof openScene>) => {
  const scene = await openScene(...options);
  resources.push(scene);
  return scene;
};

describe('an unknown path', () => {
  it.each(['/', '/event', '/event/logEvents/', '/Event/LogEvent', '/tracker.js', '/ada.lovelace@example.com?a=b'])(
    'returns 404: %s',
    async (path) => {
      const scene = await openTestScene();
      const { status, body, headers } = await scene.send(path);
      expect([status, body.error.code, body.status]).toEqual([404, 'unknown_operation', '404']);
      expect(headers.get('x-request-id')).toBe(body.requestID);
      expect(scene.logged()).not.toContain('lovelace');
    },
  );
});

describe('a path similar to an operation’s', () => {
  it.each([
    ['/event/getEvents', '/event/getEvent'],
    ['/getEvent', '/event/getEvent'],
    ['/event/log_event', '/event/logEvent'],
    ['/x/contact/createcontact', '/contact/createContact'],
  ])('returns 404 with a suggestion: %s', async (path, suggestion) => {
    const scene = await openTestScene();
    const { status, body } = await scene.send(path);
    expect([status, body.error.message]).toEqual([404, `no operation has this path. Did you mean ${suggestion}?`]);
  });

  it('returns a suggestion with the base path', async () => {
    const scene = await openTestScene({ basePath: '/s/' });
    expect((await scene.send('/event/getEvent')).body.error.message).toContain('Did you mean /s/event/getEvent?');
  });
});

describe('an unsupported method', () => {
  it.each([
    ['GET', '/event/logEvents', 'POST, OPTIONS'],
    ['DELETE', '/logEvent', 'POST, GET, HEAD, OPTIONS'],
    ['POST', '/event/getEvent', 'GET, HEAD'],
    ['OPTIONS', '/event/getEvent', 'GET, HEAD'],
    ['PUT', '/healthz', 'GET, HEAD'],
  ])('returns 405 with the allowed methods: %s %s', async (method, path, allow) => {
    const scene = await openTestScene();
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
    ['', 'the request has no token: send `Authorization: Bearer <token>` or the field `tokenUUID`'],
  ])('without a token returns 401 with a hint about what to send: %s', async (Authorization, message) => {
    const scene = await openTestScene();
    const { status, body } = await scene.send('/event/getEvent', { headers: { Authorization } });
    expect([status, body.error.code, body.error.message]).toEqual([401, 'missing_token', message]);
  });
});

describe('a base path', () => {
  it.each(['/x/', '/x/y/'])('precedes every path: %s', async (basePath) => {
    const scene = await openTestScene({ basePath });
    for (const path of ['healthz', 'readyz', 'openapi.json']) {
      expect((await scene.send(`${basePath}${path}`)).status).toBe(200);
      expect((await scene.send(`/${path}`)).status).toBe(404);
    }
    const event = { tokenUUID: scene.tokens.browser, userUUID: newUserUUID(), eventID: 1 };
    expect((await scene.post(`${basePath}logEvent`, event)).status).toBe(200);
    expect((await scene.send(`${basePath}openapi.json`)).body.servers).toEqual([{ url: basePath.slice(0, -1) }]);
  });
});

describe('the monitoring routes', () => {
  it('report that the server is live and ready', async () => {
    const scene = await openTestScene();
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
    expect((await scene.send('/healthz')).body).toEqual({ version, status: '200' });
    expect((await scene.send('/readyz')).body).toEqual({ status: '200' });
    expect((await scene.send('/readyz', { method: 'POST' })).headers.get('allow')).toBe('GET, HEAD');
  });

  it('report that the server is not ready if the store fails its check', async () => {
    const check = () => Promise.reject(new Error('disk gone'));
    const scene = await openTestScene({ wrap: (store) => ({ ...store, check }) });
    expect((await scene.send('/healthz')).status).toBe(200);
    const { status, body, headers } = await scene.send('/readyz');
    expect([status, body.error.code, headers.get('retry-after')]).toEqual([503, 'unavailable', '1']);
  });

  it('report that the server is not ready while it stops', async () => {
    const scene = await openTestScene({ isStopping: () => true });
    expect((await scene.send('/readyz')).status).toBe(503);
    expect((await scene.send('/healthz')).status).toBe(200);
  });
});

describe('an internal error', () => {
  it('returns 500 without details, which are logged with the requestID', async () => {
    const scene = await openTestScene({
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

  it('in the store returns 503 with the store’s retry delay', async () => {
    const logEvents = () => Promise.reject(new Refusal('unavailable', { retryAfterSeconds: 4.2 }));
    const scene = await openTestScene({ wrap: (store) => ({ ...store, logEvents }) });
    const event = { tokenUUID: scene.tokens.browser, userUUID: newUserUUID(), eventID: 1 };
    const { status, body, headers } = await scene.post('/logEvent', event);
    expect([status, body.error.code, headers.get('retry-after')]).toEqual([503, 'unavailable', '5']);
  });
});

describe('rate limits', () => {
  const limit = (rates: Partial<typeof noRateLimits>) => openTestScene({ rateLimits: { ...noRateLimits, ...rates } });
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

  it('apply to the bytes that a browser token, an address or a user stores', async () => {
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
      const expected = name === 'userBytes' ? 200 : 429;
      expect((await scene.post('/event/logEvents', batch)).status).toBe(expected);
    }
  });

  it('apply per browser token, and report when to retry', async () => {
    const scene = await limit({ token: one });
    expect((await sendEvent(scene, 'browser')).status).toBe(200);
    const { status, body, headers } = await sendEvent(scene, 'browser');
    expect([status, body.error.code]).toEqual([429, 'too_many_requests']);
    expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(9);
    expect(headers.get('access-control-expose-headers')).toContain('Retry-After');
    expect((await sendEvent(scene, 'server')).status).toBe(200);
    expect((await sendEvent(scene, 'server')).status).toBe(200);
  });

  it('apply per address', async () => {
    const scene = await limit({ address: one });
    const statuses = [];
    for (const address of ['192.0.2.1', '192.0.2.1', '192.0.2.2'])
      statuses.push((await sendEvent(scene, 'browser', {}, from(address))).status);
    expect(statuses).toEqual([200, 429, 200]);
  });

  it('apply per user', async () => {
    const scene = await limit({ user: one });
    const userUUID = newUserUUID();
    expect((await sendEvent(scene, 'browser', { userUUID })).status).toBe(200);
    expect((await sendEvent(scene, 'browser', { userUUID })).status).toBe(429);
    expect((await sendEvent(scene, 'browser')).status).toBe(200);
  });

  it('count each event in a batch, and requests with invalid content', async () => {
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

  it.each(['createContactAddress', 'createContactUser'])('are stricter for createContact: %s', async (name) => {
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

  it('distinguish client addresses only behind a trusted proxy', async () => {
    for (const [trustProxy, expected] of [
      [['10.0.0.0/8'], [200, 200, 429]],
      [[], [200, 429, 429]],
    ] as const) {
      const scene = await openTestScene({ rateLimits: { ...noRateLimits, address: one }, trustProxy });
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

describe('an unlisted proxy', () => {
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
  ])('on %s is reported once, without a visitor’s address', async (peer, headers) => {
    const scene = await openTestScene();
    for (let times = 0; times < 3; times++) await ask(scene, { peer, headers });
    expect(warnings(scene)).toBe(1);
    expect(scene.logged()).not.toContain('198.51');
  });

  it.each([
    ['a visitor who uses no proxy', '127.0.0.1', {}, {}],
    ['a header from a public address', '203.0.113.9', { 'X-Forwarded-For': '198.51.100.7' }, {}],
    ['a trusted proxy', '127.0.0.1', { 'X-Forwarded-For': '198.51.100.7' }, { trustProxy: ['127.0.0.1'] }],
    ['no address', '', { 'X-Forwarded-For': '198.51.100.7' }, {}],
  ])('is not suspected for %s', async (_, peer, headers, options) => {
    const scene = await openTestScene(options);
    await ask(scene, { peer, headers: headers as Record<string, string> });
    expect(warnings(scene)).toBe(0);
  });

  it('is recorded for firsthand doctor once an hour, until a proxy is trusted', async () => {
    const notes: (number | null)[] = [];
    let time = Date.UTC(2026, 5, 1, 12);
    const wrap = (store: Store): Store => ({
      ...store,
      recordUnknownProxy: async ({ seenTime }) => {
        notes.push(seenTime);
        throw new Error('not stored');
      },
    });
    const scene = await openTestScene({ wrap, now: () => time });
    const sendForwarded = async () => ask(scene, { peer: '127.0.0.1', headers: { 'X-Forwarded-For': '198.51.100.7' } });
    for (const minutes of [0, 30, 29, 1, 30]) {
      time += minutes * 60_000;
      await sendForwarded();
    }
    expect(notes).toEqual([time - 90 * 60_000, time - 30 * 60_000]);
    expect(warnings(scene)).toBe(1);
    await openTestScene({ wrap, trustProxy: ['127.0.0.1'] });
    expect(notes.at(-1)).toBeNull();
  });

  it('is not reported for a server token, which has no rate limit', async () => {
    const scene = await openTestScene();
    await ask(scene, { peer: '127.0.0.1', headers: { 'X-Forwarded-For': '198.51.100.7' }, kind: 'server' });
    expect(warnings(scene)).toBe(0);
  });
});

describe('the log', () => {
  it('contains no token, e-mail address or query string from any request', async () => {
    const scene = await openTestScene();
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
    // Removes requestIDs, which are random and might contain the letters of a short secret.
    const logged = scene.logged().replaceAll(/"requestID":"[\w-]{21}"/g, '');
    for (const secret of [...Object.values(tokens), 'guessed', 'lovelace', 'ada', '?', 'tokenUUID', fields.userUUID]) {
      expect(logged).not.toContain(secret);
    }
  });
});

describe('an HTTP connection', () => {
  const listen = async () => {
    const scene = await openTestScene();
    const server = createAdaptorServer({ fetch: scene.app.fetch }) as Server;
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    // Closed before the scene, because the server uses the scene's store.
    resources.unshift({
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

  it('ignores a client that disconnects in the middle of its body', async () => {
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

  it('stores an event whose page has been closed', async () => {
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

  it('refuses a body that is too large with 413, and keeps serving', async () => {
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

  it('sends responses with their length, and HEAD without a body', async () => {
    const { scene, url } = await listen();
    const response = await fetch(`${url}/logEvent`, { method: 'POST', body: event(scene) });
    expect(Number(response.headers.get('content-length'))).toBe((await response.text()).length);
    const head = await fetch(`${url}/healthz`, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
  });
});
