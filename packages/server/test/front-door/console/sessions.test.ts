/** Tests signing in to the console, and when a session ends. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSignInCodes, type SignInCodes } from '../../../src/http/console/sign-in-codes.ts';
import { openScene, type Scene } from '../../fixtures/scene.ts';
import { consoleOrigin, cookieFrom, fromConsole, signInWith } from './requests.ts';

let scene: Scene;
let time: number;
let clock: number;
let codes: SignInCodes;
beforeEach(async () => {
  time = Date.now();
  clock = 0;
  codes = createSignInCodes(() => clock);
  scene = await openScene({ now: () => time, signInCodes: codes, consoleOrigin });
});
afterEach(() => scene.close());

const advance = async (milliseconds: number) => {
  time += milliseconds;
  clock += milliseconds;
  await new Promise((resolve) => setImmediate(resolve));
};

const readSession = async (cookie: string) =>
  (await scene.send('/console/session', { headers: fromConsole(cookie) })).body.session;
const tokensOf = async () =>
  (await scene.get('/account/getAccount', { tokenUUID: scene.tokens.server })).body.account.token;
const account = async () => {
  const [first] = await scene.store.listAccounts();
  return first?.account as number;
};
const revoke = (tokenID: string) => scene.post('/account/revokeToken', { tokenUUID: scene.tokens.server, tokenID });

describe.each(['viewer', 'server'] as const)('a %s token', (kind) => {
  it('signs in with a cookie that scripts can’t read, for 12 hours', async () => {
    const { status, headers, body } = await signInWith(scene, { tokenUUID: scene.tokens[kind] });
    const session = { accountUUID: scene.accountUUID, accountName: 'Shop', kind, sessionID: expect.any(String) };
    expect([status, body]).toEqual([200, { session, status: '200' }]);
    expect(headers.get('set-cookie')).toMatch(
      /^__Host-firsthand=session_[\w-]{21}\.[\w-]{32}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict; Secure$/,
    );
    const cookie = cookieFrom(headers);
    const { sessionID } = body.session;
    expect(await readSession(cookie)).toEqual(body.session);
    expect((await tokensOf()).find((token: { session?: true }) => token.session)).toMatchObject({
      tokenID: sessionID,
      expiresTime: new Date(time + 43_200_000).toISOString(),
    });
    const read = () => scene.send('/event/getEvent', { headers: fromConsole(cookie, sessionID) });
    expect((await read()).status).toBe(200);
    await advance(43_199_999);
    expect(await readSession(cookie)).toMatchObject({ kind });
    await advance(1);
    expect(await readSession(cookie)).toBeNull();
    const late = await read();
    expect([late.status, late.body.error.code]).toEqual([401, 'invalid_token']);
  });
});

it.each(['browser', 'agent', 'operator'] as const)(
  'rejects a token of kind %s, and names the accepted kinds',
  async (kind) => {
    const { status, headers, body } = await signInWith(scene, { tokenUUID: scene.tokens[kind] });
    expect([status, body.error.code, body.error.field]).toEqual([403, 'token_kind', 'tokenUUID']);
    expect(body.error.message).toMatch(`this one is of kind ${kind}`);
    expect(headers.get('set-cookie')).toBeNull();
  },
);

it.each([
  ['an unknown token', { tokenUUID: 'server_nobody-has-this-one-000' }, 401, 'invalid_token'],
  ['a number', { tokenUUID: 5 }, 400, 'invalid_field'],
  ['a list as the code', { code: ['a'] }, 400, 'invalid_field'],
  ['an empty request', {}, 400, 'missing_field'],
  ['an unknown code', { code: 'x'.repeat(24) }, 401, 'invalid_token'],
])('rejects %s', async (_, fields, status, code) => {
  const response = await signInWith(scene, fields);
  expect([response.status, response.body.error.code]).toEqual([status, code]);
  expect(response.headers.get('set-cookie')).toBeNull();
});

it('ends a session when the user signs out, clears the cookie, and adds an entry to the audit log', async () => {
  const { headers, body: signedIn } = await signInWith(scene, { tokenUUID: scene.tokens.viewer });
  const cookie = cookieFrom(headers);
  const signOut = (sessionID: string) =>
    scene.send('/console/sign-out', { method: 'POST', headers: fromConsole(cookie, sessionID) });
  expect((await signOut('another-session')).status).toBe(401);
  expect(await readSession(cookie)).not.toBeNull();
  const out = await signOut(signedIn.session.sessionID);
  expect(out.headers.get('set-cookie')).toMatch(/^__Host-firsthand=; Path=\/; Max-Age=0; /);
  expect(await readSession(cookie)).toBeNull();
  const { body } = await scene.get('/account/listAudit', { tokenUUID: scene.tokens.server });
  const [ended, created] = body.audit;
  expect([ended.action, created.action]).toEqual(['revokeToken', 'createToken']);
  // Expects the token that began the session as the actor, because the session's row can be deleted later.
  expect(ended.actor).toBe(created.actor);
  expect([ended.subject.tokenID, created.subject.tokenID]).toEqual(Array(2).fill(signedIn.session.sessionID));
  await advance(10 * 86_400_000);
  const again = await signInWith(scene, { tokenUUID: scene.tokens.viewer });
  expect(await scene.store.deleteExpired({ time, after: 0, limit: 1_000 })).toMatchObject({ deleted: 1 });
  expect(await readSession(cookieFrom(again.headers))).not.toBeNull();
});

it('ends a session when the token that signed in is revoked, and lists the session until then', async () => {
  const cookie = cookieFrom((await signInWith(scene, { tokenUUID: scene.tokens.viewer })).headers);
  const tokens = await tokensOf();
  const session = tokens.find((token: { session?: true }) => token.session);
  const viewer = tokens.find((token: { tokenID: string }) => token.tokenID === session.createdBy);
  expect([session.tokenKind, session.tokenName, viewer.tokenKind]).toEqual(['viewer', 'Console', 'viewer']);
  await revoke(viewer.tokenID);
  expect(await readSession(cookie)).toBeNull();
  await advance(43_200_000);
  expect((await tokensOf()).filter((token: { session?: true }) => token.session)).toEqual([]);
});

it('ends a session when the token that signed in expires', async () => {
  const expiresTime = new Date(time + 60_000).toISOString();
  const fields = { tokenUUID: scene.tokens.server, tokenKind: 'viewer', expiresTime };
  const { tokenUUID } = (await scene.post('/account/createToken', fields)).body;
  const cookie = cookieFrom((await signInWith(scene, { tokenUUID })).headers);
  expect((await tokensOf()).find((token: { session?: true }) => token.session)).toMatchObject({ expiresTime });
  await advance(59_999);
  expect(await readSession(cookie)).toMatchObject({ kind: 'viewer' });
  await advance(1);
  expect(await readSession(cookie)).toBeNull();
});

it('starts a new session at each sign-in, no matter which cookie the browser sent', async () => {
  const planted = `__Host-firsthand=session_${'a'.repeat(32)}`;
  const first = cookieFrom((await signInWith(scene, { tokenUUID: scene.tokens.viewer }, planted)).headers);
  const second = cookieFrom((await signInWith(scene, { tokenUUID: scene.tokens.viewer }, first)).headers);
  expect(new Set([planted, first, second]).size).toBe(3);
  expect(await readSession(planted)).toBeNull();
});

it('limits a token to 100 sessions: each additional sign-in ends the oldest, even after 200 in a row', async () => {
  const owner = cookieFrom((await signInWith(scene, { tokenUUID: scene.tokens.server })).headers);
  const cookies: string[] = [];
  for (let nth = 0; nth < 101; nth += 1) {
    time += 1;
    cookies.push(cookieFrom((await signInWith(scene, { tokenUUID: scene.tokens.viewer })).headers));
  }
  expect(await readSession(cookies[0] as string)).toBeNull();
  expect(await readSession(cookies[1] as string)).not.toBeNull();
  expect((await tokensOf()).filter((token: { session?: true }) => token.session)).toHaveLength(101);
  for (let nth = 101; nth < 200; nth += 1) await signInWith(scene, { tokenUUID: scene.tokens.viewer });
  const { status, headers } = await signInWith(scene, { tokenUUID: scene.tokens.viewer });
  expect([status, headers.get('set-cookie')]).toEqual([429, null]);
  expect((await signInWith(scene, { tokenUUID: scene.tokens.server })).status).toBe(200);
  expect(await readSession(owner)).not.toBeNull();
});

describe('the code in a sign-in link', () => {
  const here = { incoming: { socket: { remoteAddress: '127.0.0.1' } } };
  const local = 'http://127.0.0.1:3000';

  it('signs in once with the rights of a server token, with a cookie for plain HTTP on this machine', async () => {
    const code = codes.issue(await account());
    const signedIn = await signInWith(scene, { code }, '', local, here);
    expect(signedIn.body.session).toMatchObject({ kind: 'server', accountUUID: scene.accountUUID });
    expect(signedIn.headers.get('set-cookie')).toMatch(
      /^firsthand-3000=session_[\w-]{21}\.[\w-]{32}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/,
    );
    expect(await readSession(cookieFrom(signedIn.headers))).toBeNull();
    const headers = fromConsole(cookieFrom(signedIn.headers), '1', local);
    expect((await scene.send('/console/session', { headers })).body.session).toMatchObject({ kind: 'server' });
    const forwarded = { ...headers, 'X-Forwarded-For': '192.0.2.7' };
    expect((await scene.send('/console/session', { headers: forwarded })).body.session).toBeNull();
    expect((await signInWith(scene, { code }, '', local, here)).status).toBe(401);
  });

  it('also signs in once from another machine, at CONSOLE_ORIGIN', async () => {
    const code = codes.issue(await account());
    const elsewhere = { incoming: { socket: { remoteAddress: '192.0.2.7' } } };
    const signedIn = await signInWith(scene, { code }, '', consoleOrigin, elsewhere);
    expect(signedIn.body.session).toMatchObject({ kind: 'server', accountUUID: scene.accountUUID });
    expect(signedIn.headers.get('set-cookie')).toMatch(/^__Host-firsthand=session_.*; Secure$/);
    expect((await signInWith(scene, { code }, '', consoleOrigin, elsewhere)).status).toBe(401);
  });

  it('is invalid after ten minutes, and is rejected from another machine', async () => {
    const late = codes.issue(await account());
    await advance(600_000);
    expect((await signInWith(scene, { code: late }, '', local, here)).status).toBe(401);
    const code = codes.issue(await account());
    const elsewhere = { incoming: { socket: { remoteAddress: '192.0.2.7' } } };
    const refused = await signInWith(scene, { code }, '', local, elsewhere);
    expect([refused.status, refused.body.error.field]).toEqual([401, 'code']);
    expect((await signInWith(scene, { code }, '', 'https://rebound.example', here)).status).toBe(403);
    // The code still works, because neither attempt has used it up.
    expect((await signInWith(scene, { code }, '', local, here)).status).toBe(200);
  });
});

it.each([
  'https://shop.example',
  'https://events.shop.example:8443',
  'http://events.shop.example',
  'http://192.0.2.7:3000',
])('sets no cookie for a page at %s, which is not the origin of the console', async (origin) => {
  const { status, headers, body } = await signInWith(scene, { tokenUUID: scene.tokens.viewer }, '', origin);
  expect([status, headers.get('set-cookie')]).toEqual([403, null]);
  expect(body.error.message).toBe(`this server's console is at ${consoleOrigin}`);
});

it('sets no cookie for a page on another machine while CONSOLE_ORIGIN is not set', async () => {
  const other = await openScene();
  const { status, headers, body } = await signInWith(other, { tokenUUID: other.tokens.viewer });
  expect([status, headers.get('set-cookie')]).toEqual([403, null]);
  expect(body.error.message).toMatch('CONSOLE_ORIGIN');
  await other.close();
});

it('reads the token only from the body', async () => {
  const path = `/console/sign-in?tokenUUID=${scene.tokens.viewer}`;
  const headers = { ...fromConsole(''), 'Content-Type': 'application/json' };
  const { status, body } = await scene.send(path, { method: 'POST', headers, body: '{}' });
  expect([status, body.error.code]).toEqual([400, 'invalid_field']);
});

it('rejects requests from a page that was loaded for another session', async () => {
  const first = await signInWith(scene, { tokenUUID: scene.tokens.viewer });
  const second = await signInWith(scene, { tokenUUID: scene.tokens.server });
  const read = (sessionID: string) =>
    scene.send('/event/getEvent', { headers: fromConsole(cookieFrom(second.headers), sessionID) });
  expect((await read(first.body.session.sessionID)).status).toBe(401);
  expect((await read('1')).status).toBe(401);
  expect((await read(second.body.session.sessionID)).status).toBe(200);
});
