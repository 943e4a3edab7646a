/** Members' passkeys: joining and signing in with them, adding and removing them, and rejecting requests. */
import { limits } from '@firsthand/contract/limits';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createApp } from '../../../src/http/app.ts';
import { challengeRate } from '../../../src/http/console/passkeys/passkeys.ts';
import { createPasswords } from '../../../src/http/console/passwords.ts';
import type { Store } from '../../../src/store/store.ts';
import { type Changes, type Credential, makePasskey, newPrivateKey, signWith } from '../../fixtures/authenticator.ts';
import { createSenders, type Fields, noRateLimits, openScene, type Scene } from '../../fixtures/scene.ts';
import { soon } from '../../fixtures/timeouts.ts';
import { consoleOrigin, cookieFrom, fromConsole, signInWith } from './requests.ts';

const password = 'stone teapots sing at dawn';
const emailaddress = 'ben@shop.example';
const minute = 60_000;

let scene: Scene;
let time: number;
/** The store methods that requests have called, without recordTokenUses, which the server calls later. */
let storeCalls: string[];
const recordCalls = (store: Store): Store =>
  new Proxy(store, {
    get: (target, name: keyof Store) => {
      if (name !== 'recordTokenUses') storeCalls.push(name);
      return target[name];
    },
  });
beforeEach(async () => {
  time = Date.now();
  storeCalls = [];
  const passwords = createPasswords({ ln: 4, r: 8, p: 1 });
  scene = await openScene({ now: () => time, consoleOrigin, passwords, wrap: recordCalls });
});
afterEach(() => scene.close());

interface Page {
  readonly cookie?: string;
  readonly sessionID?: string;
  readonly origin?: string;
  /** Another server that uses the same database. */
  readonly ways?: Pick<Scene, 'send'>;
  readonly env?: object;
}

const send = (path: string, fields: Fields, page: Page = {}) => {
  const { cookie = '', sessionID, origin = consoleOrigin, ways = scene, env } = page;
  const headers = { ...fromConsole(cookie, sessionID, origin), 'Content-Type': 'application/json' };
  return ways.send(`/console/${path}`, { method: 'POST', headers, body: JSON.stringify(fields) }, env);
};

const fromAddress = (remoteAddress: string) => ({ incoming: { socket: { remoteAddress } } });

const cookies = (...all: string[]) => all.filter(Boolean).join('; ');

/** Requests WebAuthn options. The returned page also has the challenge's cookie. */
const requestOptions = async (path: string, fields: Fields = {}, page: Page = {}) => {
  const { status, headers, body } = await send(`passkeys/${path}`, fields, page);
  expect([status, body]).toEqual([200, expect.anything()]);
  return { options: body.options, page: { ...page, cookie: cookies(page.cookie ?? '', cookieFrom(headers)) } };
};

const invite = async (fields: Fields = {}): Promise<string> => {
  const invited = { memberEmailaddress: emailaddress, memberRole: 'editor', ...fields };
  const { body } = await scene.post('/account/inviteMember', { tokenUUID: scene.tokens.server, ...invited });
  return body.invitationCode;
};

const pageOf = ({ headers, body }: { headers: Headers; body: { session: { sessionID: string } } }) => ({
  cookie: cookieFrom(headers),
  sessionID: body.session.sessionID,
});

/** Joins with a passkey. */
const join = async (fields: Fields = {}, changes: Changes = {}) => {
  const code = await invite(fields);
  const { options, page } = await requestOptions('to-join', { code });
  const { passkey, credential } = makePasskey(options, consoleOrigin, changes);
  const joined = await send('accept', { code, memberName: 'Ben Lime', passkey }, page);
  expect([joined.status, joined.body]).toEqual([200, expect.anything()]);
  return { credential, page: pageOf(joined), options };
};

const joinWithPassword = async (fields: Fields = {}) =>
  pageOf(await send('accept', { code: await invite(fields), memberName: 'Ben', password }));

const signIn = async (credential: Credential, changes: Changes = {}) => {
  const { options, page } = await requestOptions('to-sign-in');
  return send('sign-in', { passkey: signWith(credential, options, consoleOrigin, changes) }, page);
};

const list = async ({ cookie, sessionID }: { cookie: string; sessionID: string }) =>
  (await scene.send('/console/passkeys', { headers: fromConsole(cookie, sessionID) })).body.passkeys;

const add = async (page: Page, changes: Changes = {}, fields: Fields = {}) => {
  const { options, page: challenge } = await requestOptions('to-add', {}, page);
  const { passkey, credential } = makePasskey(options, consoleOrigin, changes);
  return { credential, options, ...(await send('passkeys/add', { passkey, ...fields }, challenge)) };
};

const audit = async (action: string) =>
  (await scene.get('/account/listAudit', { tokenUUID: scene.tokens.server, action })).body.audit;

it('lets a person join with a passkey, and sign in with it from any browser without an e-mail address', async () => {
  const { credential, page, options } = await join();
  expect(options).toMatchObject({
    rp: { id: 'events.shop.example' },
    user: { name: `${emailaddress} (Shop)` },
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    attestation: 'none',
  });
  expect((await scene.send('/event/getEvent', { headers: fromConsole(page.cookie, page.sessionID) })).status).toBe(200);
  const challenge = await requestOptions('to-sign-in');
  expect(challenge.options).toMatchObject({ rpId: 'events.shop.example', userVerification: 'required' });
  expect(challenge.options.allowCredentials ?? []).toEqual([]);
  expect(challenge.page.cookie).toMatch(/^__Host-firsthand-passkey=[\w-]{24}$/);
  const passkey = signWith(credential, challenge.options, consoleOrigin);
  const signedIn = await send('sign-in', { passkey }, challenge.page);
  expect(signedIn.body.session).toMatchObject({ accountUUID: scene.accountUUID, kind: 'editor' });
  expect(signedIn.body.session.sessionID).not.toBe(page.sessionID);
  expect(await list(pageOf(signedIn))).toEqual([
    {
      ...{ passkeyID: expect.any(String), passkeyName: 'Passkey' },
      ...{ createdTime: expect.any(String), lastUsedTime: expect.any(String) },
    },
  ]);
  // Expects no sign-in without a password, because the member has none.
  expect((await signInWith(scene, { emailaddress, password })).status).toBe(401);
  expect(scene.logged()).not.toContain(emailaddress);
  expect(scene.logged()).not.toContain(passkey.response.signature);
});

it('records who joined, who added and removed which passkey, and who signed in', async () => {
  const { page } = await join();
  const { body } = await add(page);
  expect((await send('passkeys/remove', { passkeyID: body.passkeyID }, page)).status).toBe(200);
  const [member] = (await scene.get('/account/listMembers', { tokenUUID: scene.tokens.server })).body.member;
  const { memberID } = member;
  expect(await audit('addPasskey')).toMatchObject([
    { memberID, subject: { memberID, passkeyID: body.passkeyID } },
    { memberID, subject: { memberID, passkeyID: expect.any(String) } },
  ]);
  expect(await audit('removePasskey')).toMatchObject([{ memberID, subject: { memberID, passkeyID: body.passkeyID } }]);
  expect(await audit('createToken')).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ memberID, subject: { tokenID: page.sessionID, tokenKind: 'editor' } }),
    ]),
  );
});

it.each<[string, Changes]>([
  ['for a page from another origin', { origin: 'https://shop.example' }],
  ['for another relying party', { rpID: 'shop.example' }],
  ['for another challenge', { challenge: 'A'.repeat(72) }],
  ['from a page that another site embeds', { crossOrigin: true }],
  ['that creates a passkey', { type: 'webauthn.create' }],
  ['without user verification', { flags: 1 }],
  ['without user presence', { flags: 4 }],
  ['with another key', { privateKey: newPrivateKey() }],
  ['with an unknown credential', { id: 'A'.repeat(43) }],
  ['that names another member', { userHandle: Buffer.from('somebody-else').toString('base64url') }],
  ['that names no member', { userHandle: '' }],
  ['whose counter decreased', { counter: 4 }],
  ['whose counter did not increase', { counter: 5 }],
  ['whose counter is zero again', { counter: 0 }],
])('rejects a sign-in response %s', async (_, changes) => {
  const { credential } = await join({}, { counter: 5 });
  const refused = await signIn(credential, changes);
  expect([refused.status, refused.body.error.code, refused.headers.get('set-cookie')]).toEqual([
    ...[401, 'invalid_token', null],
  ]);
  expect((await signIn(credential)).status).toBe(200);
});

it('does not reveal which credentials exist', async () => {
  const { credential } = await join();
  const removed = await join({ memberEmailaddress: 'cleo@shop.example' });
  const { member } = (await scene.get('/account/listMembers', { tokenUUID: scene.tokens.server })).body;
  const { memberID } = member.find((each: Fields) => each.memberEmailaddress === 'cleo@shop.example');
  await scene.post('/account/removeMember', { tokenUUID: scene.tokens.server, memberID });
  const answers = [
    await signIn(credential, { privateKey: newPrivateKey() }),
    await signIn(credential, { id: 'A'.repeat(43) }),
    await signIn(removed.credential),
    await signIn({ ...credential, id: removed.credential.id }),
  ];
  const responses = answers.map(({ status, body: { error } }) => [status, error]);
  expect(responses).toEqual(responses.map(() => responses[0]));
  const storeCallsFor = async (changes: Changes) => {
    storeCalls = [];
    await signIn(credential, changes);
    return storeCalls;
  };
  const knownCalls = await storeCallsFor({ privateKey: newPrivateKey() });
  expect(knownCalls).toContain('findPasskey');
  expect(await storeCallsFor({ id: 'A'.repeat(43) })).toEqual(knownCalls);
});

it('accepts no response twice, even on another server with the same database', async () => {
  const { credential } = await join();
  const log = pino({ level: 'silent' });
  const other = createApp({
    ...{ store: scene.store, log, basePath: '/', trustProxy: [], rateLimits: noRateLimits, files: {} },
    ...{ consoleOrigin, now: () => time },
  });
  const { options, page } = await requestOptions('to-sign-in');
  const passkey = signWith(credential, options, consoleOrigin);
  // Sends the response to both servers. The server that did not create the challenge accepts it too, but only once.
  const answers = [
    await send('sign-in', { passkey }, { ...page, ways: createSenders(other) }),
    await send('sign-in', { passkey }, { ...page, ways: createSenders(other) }),
    await send('sign-in', { passkey }, page),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 401, 401]);
  const raced = await requestOptions('to-sign-in');
  const answer = { passkey: signWith(credential, raced.options, consoleOrigin) };
  const outcomes = await Promise.all([1, 2, 3].map(() => send('sign-in', answer, raced.page)));
  expect(outcomes.map(({ status }) => status).sort()).toEqual([200, 401, 401]);
});

it('restricts a challenge to five minutes, to the browser that requested it, and to its purpose', async () => {
  const { credential, page: signedIn } = await join();
  const challenge = await requestOptions('to-sign-in');
  const another = await requestOptions('to-sign-in');
  const answer = { passkey: signWith(credential, challenge.options, consoleOrigin) };
  expect((await send('sign-in', answer)).status).toBe(401);
  expect((await send('sign-in', answer, another.page)).status).toBe(401);
  expect((await send('sign-in', answer, { cookie: '__Host-firsthand-passkey=' })).status).toBe(401);
  const toAdd = await requestOptions('to-add', {}, signedIn);
  const forAnother = { passkey: signWith(credential, toAdd.options, consoleOrigin) };
  expect((await send('sign-in', forAnother, toAdd.page)).status).toBe(401);
  time -= 1;
  expect((await send('sign-in', answer, challenge.page)).status).toBe(401);
  time += 1 + 5 * minute;
  expect((await send('sign-in', answer, challenge.page)).status).toBe(401);
  time -= 1;
  expect((await send('sign-in', answer, challenge.page)).status).toBe(200);
});

it('accepts the responses from two tabs in a browser that each requested a challenge', async () => {
  const { credential } = await join();
  const first = await requestOptions('to-sign-in');
  const { options, page } = await requestOptions('to-sign-in', {}, first.page);
  expect(page.cookie.split('; ')[1]).toBe(first.page.cookie);
  for (const each of [first.options, options]) {
    const passkey = signWith(credential, each, consoleOrigin);
    expect((await send('sign-in', { passkey }, first.page)).status).toBe(200);
  }
  const cookieOf = async (cookie: string) =>
    (await requestOptions('to-sign-in', {}, { cookie })).page.cookie.split('; ').at(-1);
  for (const value of ['', 'short', 'x'.repeat(25), '<'.repeat(24)]) {
    const cookie = `__Host-firsthand-passkey=${value}`;
    expect(await cookieOf(cookie)).toMatch(/^__Host-firsthand-passkey=[\w-]{24}$/);
    expect(await cookieOf(cookie)).not.toBe(cookie);
  }
});

it('rejects a removed passkey, and does not remove the last way to sign in', async () => {
  const { credential, page } = await join();
  const [{ passkeyID }] = await list(page);
  const remove = (id: unknown) => send('passkeys/remove', { passkeyID: id }, page);
  const last = await remove(passkeyID);
  expect([last.status, last.body.error.field]).toEqual([400, 'passkeyID']);
  expect(last.body.error.message).toMatch(/only way to sign in/);
  const added = await add(page, {}, { passkeyName: ' Laptop ' });
  expect(added.body).toMatchObject({ passkeyName: 'Laptop' });
  expect((await remove(passkeyID)).status).toBe(200);
  expect((await signIn(credential)).status).toBe(401);
  expect((await signIn(added.credential)).status).toBe(200);
  expect(await list(page)).toMatchObject([{ passkeyName: 'Laptop' }]);
  for (const id of [passkeyID, '', 7, null, 'x'.repeat(10_000)]) expect((await remove(id)).status).toBe(400);
});

it('lets a member with a password remove every passkey', async () => {
  const page = await joinWithPassword();
  const { body, credential } = await add(page);
  expect((await signIn(credential)).status).toBe(200);
  expect((await send('passkeys/remove', { passkeyID: body.passkeyID }, page)).status).toBe(200);
  expect(await list(page)).toEqual([]);
  expect((await signInWith(scene, { emailaddress, password })).status).toBe(200);
});

it('lets a member who joined with a passkey set a password and then remove the last passkey', async () => {
  const { credential, page } = await join();
  const own = async () =>
    (await scene.send('/console/passkeys', { headers: fromConsole(page.cookie, page.sessionID) })).body;
  expect(await own()).toMatchObject({ passkeys: [{}], memberEmailaddress: emailaddress, hasPassword: false });
  const other = await signIn(credential);
  expect((await send('password', { password }, page)).status).toBe(200);
  expect(await own()).toMatchObject({ passkeys: [{}], hasPassword: true });
  expect((await scene.send('/console/passkeys', { headers: fromConsole(pageOf(other).cookie) })).status).toBe(401);
  expect((await signIn(credential)).status).toBe(200);
  expect((await signInWith(scene, { emailaddress, password })).status).toBe(200);
  const [{ passkeyID }] = await list(page);
  expect((await send('passkeys/remove', { passkeyID }, page)).status).toBe(200);
  const { body } = await send('password', { password: 'another sentence of words' }, page);
  expect(body.error).toMatchObject({ code: 'missing_field', field: 'currentPassword' });
});

it('replaces passkeys through a new invitation, even if the member then joins with a password', async () => {
  const { credential, page } = await join();
  const { credential: second } = await add(page);
  const again = await joinWithPassword();
  for (const each of [credential, second]) expect((await signIn(each)).status).toBe(401);
  expect(await list(again)).toEqual([]);
  const third = await join();
  expect((await signIn(third.credential)).status).toBe(200);
  expect((await signInWith(scene, { emailaddress, password })).status).toBe(401);
});

it('names an unnamed passkey after the browser and operating system that created it', async () => {
  const page = await joinWithPassword();
  const { options, page: challenge } = await requestOptions('to-add', {}, page);
  const { passkey } = makePasskey(options, consoleOrigin);
  const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:139.0) Gecko/20100101 Firefox/139.0';
  const headers = { ...fromConsole(challenge.cookie ?? '', challenge.sessionID), 'User-Agent': firefox };
  const body = JSON.stringify({ passkey, passkeyName: ' ' });
  const { body: added } = await scene.send('/console/passkeys/add', { method: 'POST', headers, body });
  expect(added).toMatchObject({ passkeyName: 'Firefox, Linux' });
});

it('limits a member to ten passkeys, and to one passkey per authenticator', async () => {
  const page = await joinWithPassword();
  const first = await add(page);
  const { options } = await requestOptions('to-add', {}, page);
  expect(options.excludeCredentials).toMatchObject([{ id: first.credential.id, transports: ['internal'] }]);
  expect((await add(page, { id: first.credential.id })).body.error.field).toBe('passkey');
  for (let nth = 1; nth < limits.passkeysPerMember; nth += 1) expect((await add(page)).status).toBe(200);
  // Expects an early refusal, before the person creates a useless passkey.
  const refused = await send('passkeys/to-add', {}, page);
  expect([refused.status, refused.body.error.message]).toEqual([
    400,
    expect.stringContaining('already have 10 passkeys'),
  ]);
});

it('limits each member to adding twenty passkeys a day, because the audit log keeps an entry for each', async () => {
  const page = await joinWithPassword({ memberRole: 'viewer' });
  for (let nth = 0; nth < 20; nth += 1) {
    const { body } = await add(page);
    expect((await send('passkeys/remove', { passkeyID: body.passkeyID }, page)).status).toBe(200);
  }
  const { status, headers } = await add(page);
  expect([status, Number(headers.get('retry-after'))]).toEqual([429, expect.any(Number)]);
  expect(Number(headers.get('retry-after'))).toBeGreaterThan(3_600);
  expect(await list(page)).toEqual([]);
  const cleo = await joinWithPassword({ memberEmailaddress: 'cleo@shop.example' });
  expect((await add(cleo)).status).toBe(200);
});

it.each<[string, Changes]>([
  ['for a page from another origin', { origin: 'https://shop.example' }],
  ['for another relying party', { rpID: 'shop.example' }],
  ['from a page that another site embeds', { crossOrigin: true }],
  ['without user verification', { flags: 1 }],
  ['that signs in', { type: 'webauthn.get' }],
  ['with a key for an algorithm that was not requested', { algorithm: -65_535 }],
  ['with certificates', { format: 'packed', statement: new Map([['x5c', [Buffer.from('certificate')]]]) }],
  ['with a different kind of certificate', { format: 'android-key' }],
  ['with an unexpected statement', { statement: new Map([['sig', Buffer.from('signature')]]) }],
  ['with a credential ID that is too long', { id: 'A'.repeat(1_368) }],
])('rejects a new passkey %s', async (_, changes) => {
  const page = await joinWithPassword();
  const refused = await add(page, changes);
  expect(refused.status, JSON.stringify(refused.body)).toBeGreaterThanOrEqual(400);
  expect(refused.status).toBeLessThan(402);
  expect(await list(page)).toEqual([]);
});

it('accepts self attestation', async () => {
  const page = await joinWithPassword();
  const { credential, status } = await add(page, { format: 'packed' });
  expect(status).toBe(200);
  expect((await signIn(credential)).status).toBe(200);
  const wrong = new Map<string, number | Buffer>([
    ['alg', -7],
    ['sig', Buffer.from('signature')],
  ]);
  expect((await add(page, { format: 'packed', statement: wrong })).status).toBe(400);
});

it('quickly rejects bytes that are not an attestation', async () => {
  const page = await joinWithPassword();
  const { options, page: challenge } = await requestOptions('to-add', {}, page);
  // Omits user verification, which makes the attestation invalid whichever byte changes.
  const { passkey } = makePasskey(options, consoleOrigin, { flags: 1 });
  const whole = Buffer.from(passkey.response.attestationObject, 'base64url');
  const attestations = [
    ...Array.from({ length: whole.length }, (_, cut) => whole.subarray(0, cut)),
    ...Array.from({ length: whole.length }, (_, nth) =>
      Buffer.from(whole.map((byte, at) => (at === nth ? 0xff : byte))),
    ),
    // Inputs with nested arrays (RFC 8949), and a map and a string with a huge declared length.
    ...['81'.repeat(12_000), `bb${'f'.repeat(16)}`, `7b001fffffffffffff${'61'.repeat(99)}`, '9f'.repeat(12_000)].map(
      (hex) => Buffer.from(hex, 'hex'),
    ),
  ];
  const began = performance.now();
  for (const [nth, bytes] of attestations.entries()) {
    const response = { ...passkey.response, attestationObject: bytes.toString('base64url') };
    const from = { ...challenge, env: fromAddress(`192.0.2.${nth % 250}`) };
    const { status } = await send('passkeys/add', { passkey: { ...passkey, response } }, from);
    expect(status).toBe(400);
  }
  expect(performance.now() - began).toBeLessThan(soon.timeout);
});

it('adds one passkey per response, only for the member who requested it and soon after signing in', async () => {
  const ben = await joinWithPassword();
  const cleo = await joinWithPassword({ memberEmailaddress: 'cleo@shop.example' });
  const { options, page } = await requestOptions('to-add', {}, ben);
  const answer = { passkey: makePasskey(options, consoleOrigin).passkey };
  const challenge = page.cookie.split('; ')[1] as string;
  const asCleo = await send('passkeys/add', answer, { ...cleo, cookie: cookies(cleo.cookie, challenge) });
  expect([asCleo.status, await list(cleo)]).toEqual([401, []]);
  const added = await send('passkeys/add', answer, page);
  expect(added.status).toBe(200);
  await send('passkeys/remove', { passkeyID: added.body.passkeyID }, ben);
  expect((await send('passkeys/add', answer, page)).status).toBe(401);
  expect(await list(ben)).toEqual([]);
  const remaining = await add(ben);
  const late = await requestOptions('to-add', {}, ben);
  time += 10 * minute;
  for (const path of ['to-add', 'remove']) {
    const stale = await send(`passkeys/${path}`, { passkeyID: remaining.body.passkeyID }, ben);
    expect([stale.status, stale.body.error.message]).toEqual([
      401,
      expect.stringContaining('within ten minutes of signing in'),
    ]);
  }
  expect(await list(ben)).toHaveLength(1);
  expect(
    (await send('passkeys/add', { passkey: makePasskey(late.options, consoleOrigin).passkey }, late.page)).status,
  ).toBe(401);
});

it('lets only members have passkeys, and lets each see and remove only their own', async () => {
  const ben = await join();
  const cleo = await join({ memberEmailaddress: 'cleo@shop.example' });
  const [{ passkeyID }] = await list(ben.page);
  expect((await send('passkeys/remove', { passkeyID }, cleo.page)).body.error.field).toBe('passkeyID');
  expect(await list(ben.page)).toMatchObject([{ passkeyID }]);
  const owner = pageOf(await signInWith(scene, { tokenUUID: scene.tokens.server }));
  expect(await list(owner)).toBeNull();
  for (const path of ['to-add', 'add', 'remove']) {
    expect((await send(`passkeys/${path}`, { passkeyID }, owner)).body.error.code).toBe('token_kind');
    expect((await send(`passkeys/${path}`, { passkeyID })).body.error.code).toBe('missing_token');
  }
});

it('applies role changes and removals to sessions that began with a passkey', async () => {
  const { credential } = await join();
  const [{ memberID }] = (await scene.get('/account/listMembers', { tokenUUID: scene.tokens.server })).body.member;
  const owner = { tokenUUID: scene.tokens.server, memberID };
  await scene.post('/account/updateMember', { ...owner, memberRole: 'viewer' });
  const signedIn = await signIn(credential);
  expect(signedIn.body.session.kind).toBe('viewer');
  await scene.post('/account/removeMember', owner);
  expect((await signIn(credential)).status).toBe(401);
  const { cookie, sessionID } = pageOf(signedIn);
  expect((await scene.send('/event/getEvent', { headers: fromConsole(cookie, sessionID) })).status).toBe(401);
});

it('accepts an invitation only with the passkey that was created for it', async () => {
  const code = await invite();
  const other = await invite({ memberEmailaddress: 'cleo@shop.example' });
  const { options, page } = await requestOptions('to-join', { code });
  const { passkey } = makePasskey(options, consoleOrigin);
  const accept = (fields: Fields, from: Page = page) =>
    send('accept', { code, memberName: 'Ben', passkey, ...fields }, from);
  expect((await accept({ code: other })).status).toBe(401);
  expect((await accept({}, {})).status).toBe(401);
  expect((await accept({ memberName: '' })).body.error.field).toBe('memberName');
  for (const input of ['short', password]) {
    const both = await accept({ password: input });
    expect([both.status, both.body.error.field]).toEqual([400, 'password']);
    expect(both.body.error.message).toMatch(/send either `password` or `passkey`/);
  }
  expect((await accept({ passkey: undefined, password: 'short' })).body.error.field).toBe('password');
  expect((await accept({ passkey: undefined })).body.error.field).toBe('password');
  expect((await accept({ passkeyName: 'x'.repeat(256) })).body.error.field).toBe('passkeyName');
  expect((await accept({ passkeyName: 'a\u0007' })).body.error.field).toBe('passkeyName');
  expect((await accept({})).status).toBe(200);
  expect((await accept({})).status).toBe(401);
  expect((await send('passkeys/to-join', { code })).status).toBe(401);
  expect((await send('passkeys/to-join', {})).body.error.field).toBe('code');
});

it.each<[string, unknown, string]>([
  ['a string', 'passkey', 'passkey'],
  ['a list', [], 'passkey'],
  ['null', null, 'passkey'],
  ['an empty object', {}, 'passkey.id'],
  ['a long ID', { id: 'A'.repeat(1_365) }, 'passkey.id'],
  ['a long signature', { response: { signature: 'A'.repeat(2_049) } }, 'passkey.response.signature'],
  ['long client data', { response: { clientDataJSON: 'A'.repeat(4_097) } }, 'passkey.response.clientDataJSON'],
  [
    'long authenticator data',
    { response: { authenticatorData: 'A'.repeat(4_097) } },
    'passkey.response.authenticatorData',
  ],
  ['a long user handle', { response: { userHandle: 'A'.repeat(89) } }, 'passkey.response.userHandle'],
  ['no user handle', { response: { userHandle: undefined } }, 'passkey.response.userHandle'],
  ['other characters', { response: { signature: 'a+b/c=' } }, 'passkey.response.signature'],
  ['another type', { type: 'password' }, 'passkey.type'],
])('rejects a response with %s, and returns the field’s name', async (_, changes, field) => {
  const { credential } = await join();
  const { options, page } = await requestOptions('to-sign-in');
  const whole = signWith(credential, options, consoleOrigin);
  const isPart =
    typeof changes === 'object' && changes !== null && !Array.isArray(changes) && Object.keys(changes).length > 0;
  const { response, ...rest } = (isPart ? changes : {}) as { response?: object };
  const passkey = isPart ? { ...whole, ...rest, response: { ...whole.response, ...response } } : changes;
  const refused = await send('sign-in', { passkey }, page);
  expect([refused.status, refused.body.error.field]).toEqual([400, field]);
  expect((await signIn(credential)).status).toBe(200);
});

it('rejects client data that is not JSON, is nested or lacks fields', async () => {
  const { credential } = await join();
  const { options, page } = await requestOptions('to-sign-in');
  const whole = signWith(credential, options, consoleOrigin);
  for (const text of ['', 'null', '7', '{', '{}', '[]', '{"challenge":7}', '['.repeat(3_000)]) {
    const clientDataJSON = Buffer.from(text).toString('base64url');
    const passkey = { ...whole, response: { ...whole.response, clientDataJSON } };
    expect((await send('sign-in', { passkey }, page)).status).toBe(401);
  }
});

it('locks nobody out after failed attempts, not even from signing in with a password', async () => {
  const { credential } = await join();
  await joinWithPassword({ memberEmailaddress: 'cleo@shop.example' });
  for (let nth = 0; nth < 15; nth += 1) expect((await signIn(credential, { id: 'A'.repeat(43) })).status).toBe(401);
  expect((await signIn(credential)).status).toBe(200);
  expect((await signInWith(scene, { emailaddress: 'cleo@shop.example', password })).status).toBe(200);
});

describe('an IP address', () => {
  /** Sends requests until the address is rate limited. One more request can pass each second. */
  const spend = async (from: Page) => {
    const maxRequests = challengeRate.burst * 3;
    for (let nth = 0; nth < maxRequests; nth += 1) {
      if ((await send('passkeys/to-sign-in', {}, from)).status === 429) return;
    }
    throw new Error(`${maxRequests} requests have passed`);
  };
  /** Sends up to five requests, and returns the first rate-limited response. */
  const limited = async (sendRequest: () => ReturnType<typeof send>) => {
    for (let nth = 0; nth < 5; nth += 1) {
      const answer = await sendRequest();
      if (answer.status === 429) return answer;
    }
    return undefined;
  };

  it('can request challenges, sign in and add passkeys at a limited rate', async () => {
    const page = { ...(await joinWithPassword()), env: fromAddress('192.0.2.7') };
    await spend(page);
    const paths = [
      ['passkeys/to-sign-in', {}],
      ['passkeys/to-join', { code: 'invitation_unknown' }],
      ['passkeys/to-add', {}],
      ['sign-in', { passkey: {} }],
      ['passkeys/add', { passkey: {} }],
    ] as const;
    // Sends concurrently, because each 429 is delayed by a second.
    await Promise.all(
      paths.map(async ([path, fields]) => {
        const refused = await limited(() => send(path, fields, page));
        expect(refused?.headers.get('retry-after'), path).toMatch(/^\d+$/);
      }),
    );
    for (const [path, fields] of paths) {
      expect((await send(path, fields, { ...page, env: fromAddress('192.0.2.8') })).status, path).not.toBe(429);
    }
  });

  it('can join with passkeys at a limited rate', async () => {
    const page = { env: fromAddress('192.0.2.7') };
    const code = await invite();
    const accept = (from: Page) => send('accept', { code, memberName: 'Ben', passkey: {} }, from);
    expect((await accept(page)).status).toBe(400);
    await spend(page);
    expect(await limited(() => accept(page))).toBeDefined();
    expect((await accept({ env: fromAddress('192.0.2.8') })).status).toBe(400);
  });

  it('causes no store calls when it sends too many requests', async () => {
    const page = { ...(await joinWithPassword()), env: fromAddress('192.0.2.7') };
    await spend(page);
    const refused = await limited(() => {
      storeCalls = [];
      return send('passkeys/to-add', {}, page);
    });
    expect(refused).toBeDefined();
    // Excludes token uses, which the server records in the background.
    expect(storeCalls.filter((name) => name !== 'recordTokenUses')).toEqual([]);
  });
});

describe('the relying party', () => {
  it.each([
    ['http://localhost:3000', 'localhost', 'firsthand-3000-passkey'],
    ['http://shop.localhost:3000', 'shop.localhost', 'firsthand-3000-passkey'],
    [consoleOrigin, 'events.shop.example', '__Host-firsthand-passkey'],
  ])('depends on the page’s origin: at %s it is %s', async (origin, id, cookie) => {
    const { status, body, headers } = await send('passkeys/to-sign-in', {}, { origin });
    expect([status, body.options?.rpId, cookieFrom(headers).split('=')[0]]).toEqual([200, id, cookie]);
    expect(headers.get('set-cookie')).toMatch(/; Max-Age=300; HttpOnly; SameSite=Strict/);
  });

  it.each([
    'http://127.0.0.1:3000',
    'http://[::1]:3000',
    'https://shop.example',
    'https://events.shop.example.evil.example',
    'null',
  ])('does not exist for a page at %s', async (origin) => {
    const headers = {
      ...{ 'X-Firsthand-Console': '1', 'Sec-Fetch-Site': 'same-origin', Host: 'localhost:3000', Origin: origin },
      'Content-Type': 'application/json',
    };
    const { status, body } = await scene.send('/console/passkeys/to-sign-in', { method: 'POST', headers, body: '{}' });
    expect([status, body.error.code]).toEqual([403, 'origin_not_allowed']);
  });

  it('is not derived from the Host header', async () => {
    const headers = { ...fromConsole(''), Host: 'evil.example', 'Content-Type': 'application/json' };
    const { body } = await scene.send('/console/passkeys/to-sign-in', { method: 'POST', headers, body: '{}' });
    expect(body.options.rpId).toBe('events.shop.example');
  });

  it('is separate for each origin: a passkey created on this machine does not sign in elsewhere', async () => {
    const { credential } = await join();
    const origin = 'http://localhost:3000';
    const { options, page } = await requestOptions('to-sign-in', {}, { origin });
    const local = await send('sign-in', { passkey: signWith(credential, options, consoleOrigin) }, page);
    expect(local.status).toBe(401);
    const moved = await requestOptions('to-sign-in', {}, { origin });
    const passkey = signWith(credential, moved.options, origin);
    expect((await send('sign-in', { passkey }, moved.page)).status).toBe(401);
  });

  it.each<[string, string, string]>([
    ['a page on another port of this machine', 'http://localhost:3000', 'http://localhost:6666'],
    ['another name for this machine', 'http://localhost:3000', 'http://shop.localhost:3000'],
    ['a page without TLS', 'https://localhost:3000', 'http://localhost:3000'],
    ['the console of this server', 'http://localhost:3000', consoleOrigin],
    ['this machine', consoleOrigin, 'http://localhost:3000'],
  ])(
    'can’t be %s for a passkey that was created elsewhere, even if it signs for this origin',
    async (_, ownOrigin, origin) => {
      const code = await invite();
      const { options, page } = await requestOptions('to-join', { code }, { origin: ownOrigin });
      const { passkey, credential } = makePasskey(options, ownOrigin);
      expect((await send('accept', { code, memberName: 'Ben', passkey }, page)).status).toBe(200);
      const challenge = await requestOptions('to-sign-in', {}, { origin });
      for (const signedFor of [ownOrigin, origin]) {
        const { rpId: rpID } = challenge.options;
        const answer = signWith(credential, challenge.options, signedFor, { rpID });
        expect((await send('sign-in', { passkey: answer }, challenge.page)).status).toBe(401);
      }
      const there = await requestOptions('to-sign-in', {}, { origin: ownOrigin });
      const right = signWith(credential, there.options, ownOrigin);
      expect((await send('sign-in', { passkey: right }, there.page)).status).toBe(200);
    },
  );
});

it('rejects requests that the console’s pages never send', async () => {
  for (const path of ['to-sign-in', 'to-join', 'to-add', 'add', 'remove']) {
    const crossSite = { ...fromConsole(''), 'Sec-Fetch-Site': 'cross-site' };
    const request = { method: 'POST', headers: crossSite, body: '{}' };
    expect((await scene.send(`/console/passkeys/${path}`, request)).body.error.code).toBe('origin_not_allowed');
    expect((await scene.send(`/console/passkeys/${path}`, { method: 'POST', body: '{}' })).status).toBe(403);
    expect((await scene.send(`/console/passkeys/${path}?a=1`, { ...request, headers: fromConsole('') })).status).toBe(
      400,
    );
  }
});
