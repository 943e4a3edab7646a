/** Members: invitations, joining, and signing in to the console with a password. */
import { scryptSync } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createPasswords } from '../../../src/http/console/passwords.ts';
import type { Store } from '../../../src/store/store.ts';
import { type Fields, noRateLimits, openScene, type Scene } from '../../fixtures/scene.ts';
import { consoleOrigin, cookieFrom, fromConsole, signInWith } from './requests.ts';

const password = 'stone teapots sing at dawn';
const emailaddress = 'ben@shop.example';

let scene: Scene;
let time: number;
beforeEach(async () => {
  time = Date.now();
  scene = await openScene({ now: () => time, consoleOrigin, passwords: createPasswords({ ln: 4, r: 8, p: 1 }) });
});
afterEach(() => scene.close());

const asOwner = (path: string, fields: Fields = {}) =>
  scene.post(`/account/${path}`, { tokenUUID: scene.tokens.server, ...fields });
const invite = async (fields: Fields = {}) =>
  (await asOwner('inviteMember', { memberEmailaddress: emailaddress, memberRole: 'editor', ...fields })).body;
const members = async () => (await scene.get('/account/listMembers', { tokenUUID: scene.tokens.server })).body.member;
const send = (path: string, fields: Fields, cookie = '') =>
  scene.send(`/console/${path}`, {
    method: 'POST',
    headers: { ...fromConsole(cookie), 'Content-Type': 'application/json' },
    body: JSON.stringify(fields),
  });
const accept = (code: string, fields: Fields = {}) =>
  send('accept', { code, memberName: 'Ben Lime', password, ...fields });
const join = async (fields: Fields = {}) => {
  const { invitationCode } = await invite(fields);
  const { headers, body } = await accept(invitationCode);
  return { cookie: cookieFrom(headers), sessionID: body.session.sessionID as string };
};

it('lets an invited person choose a password and sign in with it', async () => {
  const { memberID, invitationCode, expiresTime } = await invite({ memberName: 'Ben' });
  expect(expiresTime).toBe(new Date(time + 7 * 86_400_000).toISOString());
  const { invitation } = (await send('invitation', { code: invitationCode })).body;
  expect(invitation).toEqual({
    ...{ accountName: 'Shop', memberEmailaddress: emailaddress, memberName: 'Ben', memberRole: 'editor' },
  });
  const joined = await accept(invitationCode);
  expect(joined.body.session).toMatchObject({ accountUUID: scene.accountUUID, kind: 'editor' });
  const signedIn = await signInWith(scene, { emailaddress: ' Ben@Shop.example', password });
  expect(signedIn.body.session).toMatchObject({ accountUUID: scene.accountUUID, kind: 'editor' });
  const headers = fromConsole(cookieFrom(signedIn.headers), signedIn.body.session.sessionID);
  expect((await scene.send('/contact/searchContact', { headers })).status).toBe(200);
  expect(await members()).toEqual([
    {
      ...{ memberID, memberEmailaddress: emailaddress, memberName: 'Ben Lime', memberRole: 'editor' },
      ...{ createdTime: expect.any(String), joinedTime: expect.any(String), signedInTime: expect.any(String) },
      passkeys: 0,
    },
  ]);
  const { token } = (await scene.get('/account/getAccount', { tokenUUID: scene.tokens.server })).body.account;
  expect(token.filter((each: { memberID?: string }) => each.memberID === memberID)).toMatchObject([
    { session: true },
    { session: true },
  ]);
  expect(scene.logged()).not.toContain(password);
  expect(scene.logged()).not.toContain(invitationCode);
  expect(scene.logged()).not.toContain(emailaddress);
});

it.each([
  ['a short password', { password: 'fourteen chars' }, 400, 'password'],
  ['a password of few different characters', { password: 'abababababababababab' }, 400, 'password'],
  ['a very long password', { password: 'abcde'.repeat(60) }, 400, 'password'],
  ['the e-mail address', { password: emailaddress }, 400, 'password'],
  ['no password', { password: '' }, 400, 'password'],
  ['a list as the password', { password: [password] }, 400, 'password'],
  ['no name', { memberName: '' }, 400, 'memberName'],
  ['a name with control characters', { memberName: 'Ben\u0007' }, 400, 'memberName'],
  ['a name that is too long', { memberName: 'B'.repeat(256) }, 400, 'memberName'],
  ['another code', { code: 'x'.repeat(24) }, 401, 'code'],
])('rejects %s without using up the invitation', async (_, fields, status, field) => {
  const { invitationCode } = await invite();
  const refused = await accept(invitationCode, fields);
  expect([refused.status, refused.body.error.field, refused.headers.get('set-cookie')]).toEqual([status, field, null]);
  expect((await accept(invitationCode)).status).toBe(200);
});

it('ends an invitation after seven days, and once it is accepted', async () => {
  const { invitationCode } = await invite();
  time += 7 * 86_400_000;
  expect((await accept(invitationCode)).body.error.code).toBe('invalid_token');
  const again = await invite();
  expect((await accept(again.invitationCode)).status).toBe(200);
  expect((await accept(again.invitationCode)).status).toBe(401);
  expect((await send('invitation', { code: again.invitationCode })).status).toBe(401);
});

it('replaces a forgotten password with a new invitation, which ends existing sessions', async () => {
  const { cookie, sessionID } = await join();
  const read = () => scene.send('/event/getEvent', { headers: fromConsole(cookie, sessionID) });
  const { invitationCode } = await invite();
  expect((await read()).status).toBe(200);
  expect((await signInWith(scene, { emailaddress, password })).status).toBe(200);
  const other = 'another sentence of words';
  expect((await accept(invitationCode, { password: other })).status).toBe(200);
  expect((await read()).status).toBe(401);
  expect((await signInWith(scene, { emailaddress, password })).status).toBe(401);
  expect((await signInWith(scene, { emailaddress, password: other })).status).toBe(200);
});

it('does not reveal who is a member', async () => {
  await join();
  const attempts = [
    await signInWith(scene, { emailaddress, password: 'not this one, not this' }),
    await signInWith(scene, { emailaddress: 'nobody@shop.example', password }),
    await signInWith(scene, { emailaddress: 'not an address', password }),
  ];
  const responses = attempts.map(({ status, headers, body: { error } }) => [status, headers.get('set-cookie'), error]);
  expect(responses).toEqual(responses.map(() => responses[0]));
  expect(responses[0]).toEqual([401, null, expect.objectContaining({ code: 'invalid_token', field: 'password' })]);
});

it('derives one key per sign-in, whether the e-mail address belongs to no member or to several', async () => {
  const outerScene = scene;
  let keyCount = 0;
  const counting = createPasswords({ ln: 4, r: 8, p: 1 }, async (input, salt, length, options) => {
    keyCount += 1;
    return scryptSync(input, salt, length, options);
  });
  scene = await openScene({ now: () => time, consoleOrigin, passwords: counting });
  try {
    const counts = async (nth: number) => {
      const from = { incoming: { socket: { remoteAddress: `192.0.2.${nth}` } } };
      const keyCounts: number[] = [];
      for (const fields of [
        { emailaddress, password },
        { emailaddress, password: 'not this one, not this' },
        { emailaddress: 'nobody@shop.example', password },
        { emailaddress: 'not an address', password },
      ]) {
        keyCount = 0;
        await signInWith(scene, fields, '', consoleOrigin, from);
        keyCounts.push(keyCount);
      }
      return keyCounts;
    };
    for (let accounts = 0; accounts <= 4; accounts += 1) {
      expect([accounts, await counts(accounts)]).toEqual([accounts, [1, 1, 1, 1]]);
      const { body } = await scene.post('/account/createAccount', {
        ...{ tokenUUID: scene.tokens.operator, accountName: `Account ${accounts}` },
      });
      const invited = { memberEmailaddress: emailaddress, memberRole: 'viewer', tokenUUID: body.serverTokenUUID };
      const { invitationCode } = (await scene.post('/account/inviteMember', invited)).body;
      expect((await accept(invitationCode, accounts % 2 ? { password: 'another sentence of words' } : {})).status).toBe(
        200,
      );
    }
  } finally {
    await scene.close();
    scene = outerScene;
  }
});

it('accepts a valid invitation from an IP address from which others guess codes', async () => {
  const outerScene = scene;
  scene = await openScene({
    ...{ now: () => time, consoleOrigin, passwords: createPasswords({ ln: 4, r: 8, p: 1 }) },
    rateLimits: { ...noRateLimits, unknownToken: { perSecond: 0.001, burst: 10 } },
  });
  try {
    const { invitationCode } = await invite();
    const statuses = [];
    for (let nth = 0; nth < 15; nth += 1) statuses.push((await accept(`${nth}`.padEnd(24, 'x'))).status);
    expect(statuses).toEqual([...Array(10).fill(401), ...Array(5).fill(429)]);
    expect((await accept(invitationCode)).status).toBe(200);
  } finally {
    await scene.close();
    scene = outerScene;
  }
});

it('limits an IP address to ten failed sign-ins, with separate limits for members who are known there', async () => {
  await join();
  for (let nth = 0; nth < 12; nth += 1) expect((await signInWith(scene, { emailaddress, password })).status).toBe(200);
  const stranger = (nth: number) => signInWith(scene, { emailaddress: `b${nth}@shop.example`, password });
  for (let nth = 0; nth < 10; nth += 1) expect((await stranger(nth)).status).toBe(401);
  const limited = await stranger(10);
  expect([limited.status, Number(limited.headers.get('retry-after'))]).toEqual([429, expect.any(Number)]);
  for (let nth = 0; nth < 10; nth += 1)
    expect((await signInWith(scene, { emailaddress, password: 'not this one, not this' })).status).toBe(401);
  expect((await signInWith(scene, { emailaddress, password })).status).toBe(429);
  // Signs in with a token, which still works.
  expect((await signInWith(scene, { tokenUUID: scene.tokens.viewer })).status).toBe(200);
});

it('checks at most thirty passwords per IP address for an invitation', async () => {
  const { invitationCode } = await invite();
  let checkCount = 0;
  // Allows a few more on a slow machine: one every ten seconds.
  for (; checkCount < 60; checkCount += 1) {
    const { status, body } = await accept(invitationCode, { password: 'fifteen letters' });
    if (status === 429) break;
    expect(body.error.field).toBe('password');
  }
  expect(checkCount).toBeGreaterThanOrEqual(30);
  expect(checkCount).toBeLessThan(60);
});

it('does not lock a member out at a known IP address when others fail from many IP addresses', async () => {
  await join();
  const from = (remoteAddress: string) => ({ incoming: { socket: { remoteAddress } } });
  const signInFrom = (address: string, input = password) =>
    signInWith(scene, { emailaddress, password: input }, '', consoleOrigin, from(address));
  expect((await signInFrom('192.0.2.1')).status).toBe(200);
  for (let nth = 0; nth < 50; nth += 1)
    expect((await signInFrom(`198.51.100.${nth % 5}`, 'not this one, not this')).status).toBe(401);
  // Sends concurrently, because each response is delayed by a second.
  const refused = await Promise.all(Array.from({ length: 12 }, () => signInFrom('203.0.113.1')));
  expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([429]));
  expect((await signInFrom('192.0.2.1')).status).toBe(200);
  // Signs in with another e-mail address, because rejections for an e-mail address do not count against the IP address.
  const other = { emailaddress: 'nobody@shop.example', password };
  const response = await signInWith(scene, other, '', consoleOrigin, from('203.0.113.1'));
  expect(response.status).toBe(401);
});

/** Signs in from an IP address. */
const signInFrom = (remoteAddress: string, fields: Fields) =>
  signInWith(scene, { emailaddress, ...fields }, '', consoleOrigin, { incoming: { socket: { remoteAddress } } });

it('does not count a password that is too long', async () => {
  await join();
  for (let nth = 0; nth < 60; nth += 1) {
    const { status, body } = await signInFrom('192.0.2.1', { password: 'x'.repeat(2_000) });
    expect([status, body.error.field]).toEqual([400, 'password']);
  }
  expect((await signInFrom('192.0.2.1', { password })).status).toBe(200);
});

it('does not count a sign-in that is rejected because too many passwords are being hashed', async () => {
  const outerScene = scene;
  let finish = () => {};
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  let isHeld = false;
  const held = createPasswords({ ln: 4, r: 8, p: 1 }, async (input, salt, length, options) => {
    if (isHeld) await finished;
    return scryptSync(input, salt, length, options);
  });
  let placesTaken = 0;
  const matching: typeof held.matching = (...sent) => {
    placesTaken += 1;
    return held.matching(...sent);
  };
  scene = await openScene({ now: () => time, consoleOrigin, passwords: { ...held, matching } });
  try {
    await join();
    isHeld = true;
    const waiting = Array.from({ length: 10 }, (_, nth) =>
      signInFrom(`198.51.100.${nth}`, { emailaddress: `b${nth}@shop.example`, password }),
    );
    await expect.poll(() => placesTaken).toBe(waiting.length);
    // Sends more than the limits allow from one IP address.
    const refused = await Promise.all(Array.from({ length: 40 }, () => signInFrom('192.0.2.1', { password })));
    expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([429]));
    finish();
    await Promise.all(waiting);
    expect((await signInFrom('192.0.2.1', { password })).status).toBe(200);
  } finally {
    finish();
    await scene.close();
    scene = outerScene;
  }
});

it('hashes at most sixty passwords per /48 for unknown clients, plus those for members known there', async () => {
  await join();
  const home = '2001:db8:1::1';
  expect((await signInFrom(home, { password })).status).toBe(200);
  const guess = (nth: number) =>
    signInFrom(`2001:db8:1:${nth.toString(16)}::1`, { emailaddress: `b${nth}@shop.example`, password });
  let hashCount = 0;
  // Allows a few more on a slow machine: one every two seconds.
  while (hashCount < 200 && (await guess(hashCount + 1)).status === 401) hashCount += 1;
  expect(hashCount).toBeGreaterThanOrEqual(59);
  expect(hashCount).toBeLessThan(200);
  expect((await signInFrom(home, { password })).status).toBe(200);
  expect((await signInFrom('2001:db8:2::1', { password })).status).toBe(200);
});

describe('an owner of other accounts who uses a member’s e-mail address', () => {
  const strangerPassword = 'four words of a stranger';
  const home = '192.0.2.1';
  const elsewhere = '203.0.113.66';
  const joinAnother = async () => {
    const { body } = await scene.post('/account/createAccount', {
      tokenUUID: scene.tokens.operator,
      accountName: 'Other',
    });
    const invited = { tokenUUID: body.serverTokenUUID, memberEmailaddress: emailaddress, memberRole: 'owner' };
    const { invitationCode } = (await scene.post('/account/inviteMember', invited)).body;
    await accept(invitationCode, { password: strangerPassword });
    expect((await signInFrom(elsewhere, { password: strangerPassword })).status).toBe(200);
  };

  it('can’t prevent the member from signing in, no matter how many accounts the owner adds', async () => {
    await join();
    for (let nth = 0; nth < 7; nth += 1) await joinAnother();
    const { status, body } = await signInFrom(home, { password });
    expect([status, body.session.accountUUID]).toEqual([200, scene.accountUUID]);
  });

  it('gets no more guesses than others, and can still sign in', async () => {
    await join();
    await joinAnother();
    const wrong = 'not this one, not this';
    expect((await signInFrom(home, { password })).status).toBe(200);
    for (let nth = 0; nth < 50; nth += 1)
      expect((await signInFrom(`198.51.100.${nth % 5}`, { password: wrong })).status).toBe(401);
    expect((await signInFrom('203.0.113.1', { password })).status).toBe(429);
    const right = await signInFrom(elsewhere, { password });
    const guess = await signInFrom(elsewhere, { password: wrong });
    expect([right.status, right.body]).toEqual([401, { ...guess.body, requestID: right.body.requestID }]);
    expect(right.body.error.message).toContain('use a passkey');
    expect((await signInFrom(elsewhere, { password: strangerPassword })).status).toBe(200);
    expect((await signInFrom(home, { password })).body.session.accountUUID).toBe(scene.accountUUID);
  });

  it('gets fifty guesses an hour from other IP addresses', async () => {
    await join();
    await joinAnother();
    const wrong = { password: 'not this one, not this' };
    let guessCount = 0;
    // Allows a few more on a slow machine: one every 72 seconds.
    while (guessCount < 100 && (await signInFrom(`198.51.100.${guessCount % 20}`, wrong)).status === 401)
      guessCount += 1;
    expect(guessCount).toBeGreaterThanOrEqual(50);
    expect(guessCount).toBeLessThan(100);
  });
});

describe('changePassword', () => {
  const another = 'another sentence of words';
  const wrong = 'not this one, not this';
  type Page = Awaited<ReturnType<typeof join>>;
  const change = ({ cookie, sessionID }: Page, fields: Fields = {}) =>
    scene.send('/console/password', {
      method: 'POST',
      headers: { ...fromConsole(cookie, sessionID), 'Content-Type': 'application/json' },
      body: JSON.stringify({ currentPassword: password, password: another, ...fields }),
    });
  const signIn = async (input = password): Promise<Page> => {
    const { headers, body } = await signInWith(scene, { emailaddress, password: input });
    return { cookie: cookieFrom(headers), sessionID: body.session?.sessionID };
  };
  const isOpen = async ({ cookie, sessionID }: Page) =>
    (await scene.send('/event/getEvent', { headers: fromConsole(cookie, sessionID) })).status === 200;

  it('ends the member’s other sessions and leaves the current session open', async () => {
    const [joined, here, elsewhere] = [await join(), await signIn(), await signIn()];
    const changed = await change(here);
    expect([changed.status, changed.headers.get('set-cookie')]).toEqual([200, null]);
    expect([await isOpen(joined), await isOpen(here), await isOpen(elsewhere)]).toEqual([false, true, false]);
    expect((await signInWith(scene, { emailaddress, password })).status).toBe(401);
    expect(await isOpen(await signIn(another))).toBe(true);
    const [{ memberID }] = await members();
    const query = { tokenUUID: scene.tokens.server, action: 'changePassword' };
    expect((await scene.get('/account/listAudit', query)).body.audit).toMatchObject([
      { actor: here.sessionID, memberID, subject: { memberID } },
    ]);
    for (const secret of [password, another, emailaddress]) expect(scene.logged()).not.toContain(secret);
  });

  it.each<[string, Fields, number, string, string]>([
    ['a wrong current password', { currentPassword: wrong }, 401, 'invalid_token', 'currentPassword'],
    ['no current password', { currentPassword: '' }, 400, 'missing_field', 'currentPassword'],
    ['a very long current password', { currentPassword: 'x'.repeat(2_000) }, 400, 'invalid_field', 'currentPassword'],
    ['no new password', { password: '' }, 400, 'missing_field', 'password'],
    ['a short new password', { password: 'fourteen chars' }, 400, 'invalid_field', 'password'],
    ['the e-mail address', { password: emailaddress }, 400, 'invalid_field', 'password'],
    ['the name', { password: 'Ben Lime Ben Lime' }, 400, 'invalid_field', 'password'],
  ])('is rejected with %s, and changes nothing', async (_, fields, status, code, field) => {
    const [joined, here] = [await join(), await signIn()];
    const refused = await change(here, fields);
    expect([refused.status, refused.body.error]).toEqual([status, expect.objectContaining({ code, field })]);
    expect([await isOpen(joined), await isOpen(here)]).toEqual([true, true]);
    expect(await isOpen(await signIn())).toBe(true);
  });

  it('requires a member’s session that began less than ten minutes ago', async () => {
    const here = await join();
    time += 10 * 60_000;
    const stale = await change(here);
    expect([stale.status, stale.body.error.message]).toEqual([
      401,
      expect.stringContaining('within ten minutes of signing in'),
    ]);
    time -= 1;
    expect((await change(here)).status).toBe(200);
    const { headers, body } = await signInWith(scene, { tokenUUID: scene.tokens.server });
    const owner = { cookie: cookieFrom(headers), sessionID: body.session.sessionID };
    expect((await change(owner)).body.error.code).toBe('token_kind');
    expect((await change({ cookie: '', sessionID: '1' })).body.error.code).toBe('missing_token');
  });

  it('counts a wrong current password as a failed sign-in', async () => {
    const here = await join();
    for (let nth = 0; nth < 5; nth += 1) {
      expect((await change(here, { currentPassword: wrong })).status).toBe(401);
      expect((await signInWith(scene, { emailaddress, password: wrong })).status).toBe(401);
    }
    expect((await change(here)).status).toBe(429);
    expect((await signInWith(scene, { emailaddress, password })).status).toBe(429);
    expect(await isOpen(here)).toBe(true);
  });

  it('is limited to twenty times a day, because the audit log keeps an entry for every change', async () => {
    const here = await join();
    const both = [password, another] as const;
    const changeBack = (nth: number) => change(here, { currentPassword: both[nth % 2], password: both[(nth + 1) % 2] });
    for (let nth = 0; nth < 20; nth += 1) expect((await changeBack(nth)).status).toBe(200);
    const { status, headers } = await changeBack(20);
    expect([status, Number(headers.get('retry-after')) > 3_600]).toEqual([429, true]);
    expect(await isOpen(await signIn())).toBe(true);
  });

  it('rejects a concurrent sign-in with the earlier password', async () => {
    const outerScene = scene;
    let beforeNoting = async (): Promise<unknown> => undefined;
    const wrap = (store: Store): Store => ({
      ...store,
      recordKnownNetwork: async (request) => {
        await beforeNoting();
        return store.recordKnownNetwork(request);
      },
    });
    const passwords = createPasswords({ ln: 4, r: 8, p: 1 });
    scene = await openScene({ now: () => time, consoleOrigin, passwords, wrap });
    try {
      const here = await join();
      beforeNoting = () => change(here);
      const late = await signInWith(scene, { emailaddress, password });
      expect([late.status, late.body.error.field, late.headers.get('set-cookie')]).toEqual([401, 'password', null]);
      expect(await isOpen(here)).toBe(true);
    } finally {
      await scene.close();
      scene = outerScene;
    }
  });
});

it('applies role changes and removals to open sessions immediately', async () => {
  const { cookie, sessionID } = await join({ memberRole: 'viewer' });
  const [{ memberID }] = await members();
  const headers = { ...fromConsole(cookie, sessionID), 'Content-Type': 'application/json' };
  const save = () =>
    scene.send('/report/createSegment', {
      ...{ method: 'POST', headers },
      body: JSON.stringify({ segmentName: 'Buyers', filter: { event: 1 } }),
    });
  expect((await save()).body.error.code).toBe('token_kind');
  expect((await asOwner('updateMember', { memberID, memberRole: 'editor' })).status).toBe(200);
  expect((await save()).status).toBe(200);
  expect((await asOwner('updateMember', { memberID, memberRole: 'king' })).body.error.field).toBe('memberRole');
  expect((await asOwner('removeMember', { memberID })).status).toBe(200);
  expect((await save()).status).toBe(401);
  expect((await signInWith(scene, { emailaddress, password })).status).toBe(401);
  expect((await asOwner('removeMember', { memberID })).body.error.code).toBe('unknown_member');
});

describe('a person in two accounts', () => {
  const secondAccount = async () => {
    const { body } = await scene.post('/account/createAccount', {
      ...{ tokenUUID: scene.tokens.operator, accountName: 'Blog' },
    });
    return { accountUUID: body.accountUUID as string, tokenUUID: body.serverTokenUUID as string };
  };
  const sessionsOf = async (cookie: string, sessionID = '1') =>
    (await scene.send('/console/session', { headers: fromConsole(cookie, sessionID) })).body;

  it('signs in to both with one password, and each page reads the account for which it was loaded', async () => {
    const blog = await secondAccount();
    await join();
    const fields = { tokenUUID: blog.tokenUUID, memberEmailaddress: emailaddress, memberRole: 'viewer' };
    const { invitationCode } = (await scene.post('/account/inviteMember', fields)).body;
    await accept(invitationCode);
    const { headers } = await signInWith(scene, { emailaddress, password });
    const cookie = cookieFrom(headers);
    const { sessions } = await sessionsOf(cookie);
    expect(sessions).toMatchObject([{ accountName: expect.any(String) }, { accountName: expect.any(String) }]);
    const kinds = Object.fromEntries(sessions.map((each: Fields) => [each.accountUUID, each.kind]));
    expect(kinds).toEqual({ [scene.accountUUID]: 'editor', [blog.accountUUID]: 'viewer' });
    for (const { accountUUID, sessionID } of sessions) {
      const { body } = await scene.send('/account/getAccount', { headers: fromConsole(cookie, sessionID) });
      expect(body.account.accountUUID).toBe(accountUUID);
      expect((await sessionsOf(cookie, sessionID)).session.sessionID).toBe(sessionID);
    }
  });

  it('signs in only to the account whose password is given', async () => {
    const blog = await secondAccount();
    await join();
    const fields = { tokenUUID: blog.tokenUUID, memberEmailaddress: emailaddress, memberRole: 'owner' };
    const { invitationCode } = (await scene.post('/account/inviteMember', fields)).body;
    await accept(invitationCode, { password: 'quite another sentence' });
    const { body, headers } = await signInWith(scene, { emailaddress, password });
    expect(body.session.accountUUID).toBe(scene.accountUUID);
    expect((await sessionsOf(cookieFrom(headers))).sessions).toHaveLength(1);
  });

  it('keeps the session of the other account when signing in to a second account, and when signing out of one', async () => {
    const blog = await secondAccount();
    const first = await signInWith(scene, { tokenUUID: scene.tokens.viewer });
    const second = await signInWith(scene, { tokenUUID: blog.tokenUUID }, cookieFrom(first.headers));
    const cookie = cookieFrom(second.headers);
    const { session, sessions } = await sessionsOf(cookie);
    expect(session).toEqual(second.body.session);
    expect(sessions).toEqual([second.body.session, first.body.session]);
    // Signs in to the same account again, which replaces the first session.
    const third = await signInWith(scene, { tokenUUID: scene.tokens.server }, cookie);
    expect((await sessionsOf(cookieFrom(third.headers))).sessions).toEqual([third.body.session, second.body.session]);
    expect((await sessionsOf(cookie)).sessions).toEqual([second.body.session]);
    const out = await scene.send('/console/sign-out', {
      method: 'POST',
      headers: fromConsole(cookieFrom(third.headers), third.body.session.sessionID),
    });
    expect((await sessionsOf(cookieFrom(out.headers))).sessions).toEqual([second.body.session]);
  });

  it('can have at most five sessions in a browser', async () => {
    let cookie = '';
    for (let nth = 0; nth < 7; nth += 1) {
      const { tokenUUID } = await secondAccount();
      cookie = cookieFrom((await signInWith(scene, { tokenUUID }, cookie)).headers);
    }
    expect((await sessionsOf(cookie)).sessions).toHaveLength(5);
    expect((await sessionsOf(`${cookie}~${'x'.repeat(10_000)}`)).sessions).toEqual([]);
  });
});
