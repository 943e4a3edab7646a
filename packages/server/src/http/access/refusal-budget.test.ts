import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { noRateLimits, openScene, type Scene } from '../../../test/fixtures/scene.ts';
import { createAccount, serveHere } from '../../../test/fixtures/serving.ts';

const userUUID = 'user_aaaaaaaaaaaaaaaa';
const refused = { RATE_LIMIT: 'unprovenRequests=0.001/3' };

describe('an address with many refused requests and no valid token', () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await openScene({ rateLimits: { ...noRateLimits, unprovenRequests: { perSecond: 0.001, burst: 3 } } });
    const statuses = [];
    for (let sent = 0; sent < 4; sent += 1) statuses.push((await send('/event/getEvent')).status);
    expect(statuses).toEqual([401, 401, 401, 429]);
  });
  afterAll(() => scene.close());
  const send = (path: string, init?: RequestInit) => scene.send(path, init);
  const post = (body: string, headers = {}) => send('/event/logEvent', { method: 'POST', body, headers });

  it.each([
    ['an unknown path', () => send('/nowhere')],
    ['a wrong method', () => send('/event/getEvent', { method: 'PUT' })],
    ['an invalid token in the URL', () => send('/event/getEvent?tokenUUID=server_of_nobody')],
    [
      'an invalid token in the header',
      () => send('/event/getEvent', { headers: { Authorization: 'Bearer server_of_nobody' } }),
    ],
    ['an invalid token in the body', () => post(JSON.stringify({ tokenUUID: 'browser_of_nobody', eventID: 1 }))],
    ['a body that is not JSON', () => post('{"eventID":')],
    ['a body of an unsupported type', () => post('a', { 'Content-Type': 'image/png' })],
  ])('gets 429 with Retry-After for %s', async (_, request) => {
    const { status, headers, body } = await request();
    expect([status, body.error.code, Number(headers.get('retry-after')) > 100]).toEqual([
      429,
      'too_many_requests',
      true,
    ]);
  });

  it('is no longer limited once it sends a valid token, even with invalid requests', async () => {
    const { browser, server } = scene.tokens;
    const bearer = { Authorization: `Bearer ${browser}` };
    const responses = [
      await post(JSON.stringify({ tokenUUID: browser, userUUID, eventID: 1 })),
      await post(JSON.stringify({ userUUID, eventID: 1 }), bearer),
      await send(`/event/getEvent?tokenUUID=${server}`),
      await post(`{"tokenUUID":"${browser}","eventID":`),
      await post('{"eventID":', bearer),
      await post('a', { ...bearer, 'Content-Type': 'image/png' }),
      await send('/event/getEvent', { headers: bearer }),
      await send('/nowhere', { headers: bearer }),
      await send(`/event/logEvents?tokenUUID=${browser}`, { method: 'PUT' }),
    ];
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 400, 400, 415, 403, 404, 405]);
  });

  it('is still served on routes that need no token', async () => {
    for (const path of ['/healthz', '/readyz', '/openapi.json']) expect((await send(path)).status).toBe(200);
    expect((await send('/event/logEvent', { method: 'OPTIONS' })).status).toBe(204);
  });
});

const sendTimed = async (url: string, headers = {}) => {
  const startTime = performance.now();
  const { status } = await fetch(`${url}/nowhere`, { headers });
  return { status, isDelayed: performance.now() - startTime > 900 };
};

// Retried, because a busy machine can take a second even without a delay.
it('delays each 429 from another limit by a second, unless a proxy at a private address forwards the request', {
  retry: 4,
}, async () => {
  const { url } = await serveHere({ RATE_LIMIT: 'user=0.001/1' });
  const { browserTokenUUID } = await createAccount(url);
  const log = async (headers = {}) => {
    const startTime = performance.now();
    const body = JSON.stringify({ tokenUUID: browserTokenUUID, userUUID, eventID: 1 });
    const { status } = await fetch(`${url}/event/logEvent`, { method: 'POST', body, headers });
    return { status, isDelayed: performance.now() - startTime > 900 };
  };
  expect((await log()).status).toBe(200);
  expect(await log()).toEqual({ status: 429, isDelayed: true });
  expect(await log({ 'X-Forwarded-For': '192.0.2.1' })).toEqual({ status: 429, isDelayed: false });
});

it('delays each 429 by a second without delaying other requests', { retry: 4 }, async () => {
  const { url } = await serveHere(refused);
  const { browserTokenUUID } = await createAccount(url);
  for (let sent = 0; sent < 3; sent += 1) expect(await sendTimed(url)).toEqual({ status: 404, isDelayed: false });
  const delayed = sendTimed(url);
  const good = await fetch(`${url}/event/logEvent`, {
    method: 'POST',
    body: JSON.stringify({ tokenUUID: browserTokenUUID, userUUID, eventID: 1 }),
  });
  expect([good.status, await Promise.race([delayed, 'not yet'])]).toEqual([200, 'not yet']);
  expect(await delayed).toEqual({ status: 429, isDelayed: true });
});

it('does not delay responses to a trusted proxy, and counts the proxy’s clients separately', { retry: 4 }, async () => {
  const { url } = await serveHere({ ...refused, TRUST_PROXY: '127.0.0.1' });
  const from = (address: string) => sendTimed(url, { 'X-Forwarded-For': address });
  for (let sent = 0; sent < 3; sent += 1) await from('192.0.2.1');
  expect(await from('192.0.2.1')).toEqual({ status: 429, isDelayed: false });
  expect(await from('192.0.2.2')).toEqual({ status: 404, isDelayed: false });
});
