import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { Context } from 'hono';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { noRateLimits, openScene, type Scene } from '../../../test/fixtures/scene.ts';
import { createAccount, serveHere } from '../../../test/fixtures/serving.ts';
import type { Access } from '../../store/store.ts';
import { type FindValidToken, tokensIn } from '../access/valid-token.ts';
import { createParsingBudget } from './parsing-budget.ts';

const userUUID = 'user_aaaaaaaaaaaaaaaa';

describe('the text of a body', () => {
  it.each([
    ['JSON', '{"tokenUUID":"browser_1234567890","eventID":1}'],
    ['JSON with spaces, in which the token is last', '{ "eventID" : 1,\n "tokenUUID" : "browser_1234567890" }'],
    ['a form', 'eventID=1&tokenUUID=browser_1234567890&userUUID=x'],
    ['a multipart form', '--x\r\nContent-Disposition: form-data; name="tokenUUID"\r\n\r\nbrowser_1234567890\r\n--x--'],
  ])('reveals the token of %s before it is parsed', (_, text) => {
    expect([...tokensIn(Buffer.from(text))]).toEqual(['browser_1234567890']);
  });

  it('reveals at most two tokens: those after the first and the last name', () => {
    const text = ['first', 'second', 'third'].map((name) => `"tokenUUID":"browser_${name}"`).join();
    expect([...tokensIn(Buffer.from(text))]).toEqual(['browser_first', 'browser_third']);
    expect([...tokensIn(Buffer.from('tokenUUID,'.repeat(1_000)))]).toEqual([]);
    expect([...tokensIn(Buffer.from('"eventID":1'))]).toEqual([]);
  });
});

describe('a gzip body', () => {
  it.each([
    ['is not decompressed if a token is outside it', true, [undefined]],
    ['is decompressed if a token is only inside it', false, [undefined, 'text']],
  ])('%s', async (_, isOutside, expected) => {
    const texts: (string | undefined)[] = [];
    const findValidToken: FindValidToken = async (_c, _query, text) => {
      texts.push(text && Buffer.from(text).toString());
      return isOutside || text ? ({ kind: 'server' } as Access) : undefined;
    };
    const budgetOf = createParsingBudget(findValidToken, () => '192.0.2.1', noRateLimits);
    await budgetOf({} as Context).mayUnpack(gzipSync('text'), 1_024, {});
    expect(texts).toEqual(expected);
  });
});

describe('an address whose parsing budget is used up', () => {
  let scene: Scene;
  beforeAll(async () => {
    const unprovenBytes = { perSecond: 0.001, burst: 100 * 1024 };
    scene = await openScene({ rateLimits: { ...noRateLimits, unprovenBytes } });
    expect((await send({ padding: padding(60) })).status).toBe(401);
    expect((await send({ padding: padding(60) })).status).toBe(429);
    expect((await send({ padding: padding(39) })).status).toBe(401);
  });
  afterAll(() => scene.close());

  const padding = (kilobytes: number) => 'x'.repeat(kilobytes * 1024);
  const event = (more: object = {}) => ({ userUUID, eventID: 1, ...more });
  const send = (fields: object, { path = '/event/logEvent', headers = {} } = {}) => {
    const body = JSON.stringify(fields);
    return scene.send(path, {
      method: 'POST',
      body,
      headers: { 'Content-Type': 'application/json', 'Content-Length': String(body.length), ...headers },
    });
  };

  it('gets 429 with Retry-After, and still 401 for a small body', async () => {
    const response = await send({ padding: padding(2) });
    expect([response.status, response.body.error.code]).toEqual([429, 'too_many_requests']);
    expect((await send(event())).status).toBe(401);
    expect((await send(event({ tokenUUID: 'browser_of_nobody', padding: padding(2) }))).status).toBe(429);
  });

  it('is served with a valid token in a body of ordinary size', async () => {
    const tokenUUID = scene.tokens.browser;
    expect((await send(event({ tokenUUID }))).status).toBe(200);
    expect((await send(event({ padding: padding(10), tokenUUID }))).status).toBe(200);
  });

  it('can send a long URL only with a valid token in it', async () => {
    const query = `userUUID=${userUUID}&eventID=1&padding=${padding(3)}`;
    const get = (more: string) => scene.send(`/event/logEvent?${query}${more}`, {});
    expect((await get('')).status).toBe(429);
    expect((await get('&tokenUUID=browser_of_nobody')).status).toBe(429);
    expect((await get(`&tokenUUID=${scene.tokens.browser}`)).status).toBe(200);
  });

  it('can send a large body only with a valid token before it', async () => {
    const tokenUUID = scene.tokens.browser;
    const large = event({ padding: padding(30) });
    expect((await send({ ...large, tokenUUID })).status).toBe(429);
    expect((await send(large, { headers: { Authorization: `Bearer ${tokenUUID}` } })).status).toBe(200);
    expect((await send(large, { path: `/event/logEvent?tokenUUID=${tokenUUID}` })).status).toBe(200);
    expect((await send(large, { headers: { Authorization: 'Bearer browser_of_nobody' } })).status).toBe(429);
  });
});

describe('a large body from an address whose parsing budget is used up', () => {
  it.each([
    ['is read with a valid token among its first bytes', (token: string) => ({ tokenUUID: token, padding }), 200],
    ['is not read with an invalid token', () => ({ tokenUUID: 'browser_of_nobody', padding }), 429],
  ])('%s', async (_, fields, status) => {
    const { url } = await serveHere({ RATE_LIMIT: 'unprovenBytes=0.001/17000' });
    const { browserTokenUUID } = await createAccount(url);
    const send = (body: object) =>
      fetch(`${url}/event/logEvent`, { method: 'POST', body: JSON.stringify({ userUUID, eventID: 1, ...body }) });
    expect((await send({ padding: 'x'.repeat(15_000) })).status).toBe(401);
    const sent = fields(browserTokenUUID);
    const responses = await Promise.all([1, 2, 3].map(() => send(sent)));
    expect(responses.map((response) => response.status)).toEqual([status, status, status]);
  });
  const padding = 'x'.repeat(60_000);

  it('is abandoned when its connection closes', async () => {
    const { url } = await serveHere({ RATE_LIMIT: 'unprovenBytes=0.001/17000' });
    await fetch(`${url}/event/logEvent`, { method: 'POST', body: 'x'.repeat(15_000) });
    const { port } = new URL(url);
    const socket = connect(Number(port), '127.0.0.1');
    socket.write('POST /event/logEvent HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n\r\n');
    await wait(50);
    socket.destroy();
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });
});

describe('a browser token from an address whose parsing budget is used up', () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await openScene({ rateLimits: { ...noRateLimits, addressBytes: { perSecond: 0.001, burst: 50_000 } } });
  });
  afterAll(() => scene.close());

  it('gets no further bodies parsed, valid or not, although a server token still does', async () => {
    const send = (tokenUUID: string, kilobytes = 30) => {
      const body = `{"tokenUUID":"${tokenUUID}","padding":"${'x'.repeat(kilobytes * 1_024)}" broken`;
      return scene.send(`/event/logEvent?tokenUUID=${tokenUUID}`, { method: 'POST', body });
    };
    const { browser, server } = scene.tokens;
    expect([(await send(browser)).status, (await send(browser)).status]).toEqual([400, 429]);
    expect([(await send(server)).status, (await send(server)).status]).toEqual([400, 400]);
  });
});

describe('a body larger than most operations accept', () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await openScene();
  });
  afterAll(() => scene.close());

  it.each([
    ['without a token', '', 'missing_token'],
    ['with an unknown token', '"tokenUUID":"browser_of_nobody",', 'invalid_token'],
  ])('is not parsed %s', async (_, token, code) => {
    const body = `{${token}"padding":"${'x'.repeat(70_000)}" broken`;
    const response = await scene.send('/event/logEvents', { method: 'POST', body });
    expect([response.status, response.body.error.code]).toEqual([401, code]);
  });

  it('is parsed if the token is valid', async () => {
    const body = JSON.stringify({ padding: 'x'.repeat(70_000), event: [{ userUUID, eventID: 1 }] });
    const sent = body.replace('{', `{"tokenUUID":"${scene.tokens.browser}",`);
    expect((await scene.send('/event/logEvents', { method: 'POST', body: sent })).status).toBe(200);
  });
});
