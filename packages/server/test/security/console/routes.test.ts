/** What the console's pages send beside operations does nothing for anybody without an open session of its own. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createPasswords } from '../../../src/http/console/passwords.ts';
import { type Fields, openScene, type Scene } from '../../fixtures/scene.ts';
import { consoleOrigin, cookieFrom, fromConsole, signInWith } from '../../front-door/console/requests.ts';

const hour = 3_600_000;
const password = 'stone teapots sing at dawn';

let scene: Scene;
let time: number;
beforeEach(async () => {
  time = Date.now();
  scene = await openScene({ now: () => time, consoleOrigin, passwords: createPasswords({ ln: 4, r: 8, p: 1 }) });
});
afterEach(() => scene.close());

const send = (path: string, fields: Fields, headers: Record<string, string>) =>
  scene.send(`/console/${path}`, {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: JSON.stringify(fields),
  });

/** A member who has joined, and the page of that session. */
const join = async () => {
  const owner = { tokenUUID: scene.tokens.server };
  const invited = { ...owner, memberEmailaddress: 'ben@shop.example', memberRole: 'owner' };
  const { invitationCode: code, memberID } = (await scene.post('/account/inviteMember', invited)).body;
  const { headers, body } = await send('accept', { code, memberName: 'Ben', password }, fromConsole(''));
  const { sessionID } = body.session;
  return { memberID, sessionID, page: fromConsole(cookieFrom(headers), sessionID) };
};

const share = async (): Promise<string> => {
  const request = { from: '2026-11-01', to: '2026-12-01' };
  const report = [{ part: 'totals', operation: 'reportTotals', request }];
  const fields = { tokenUUID: scene.tokens.server, shareName: 'Tea', viewPage: 'overview', report };
  return (await scene.post('/report/createShareLink', fields)).body.shareSecret;
};

/** All that these routes could change. */
const state = async () => {
  const account = (await scene.store.findAccount(scene.accountUUID)) as number;
  const members = await scene.store.listMembers({ account });
  return {
    members,
    tokens: await scene.store.listTokens({ account }),
    passkeys: await Promise.all(members.map((member) => scene.store.listPasskeys(member))),
    audit: (await scene.store.listAudit({ account, limit: 1_000 })).entries.length,
  };
};

const cookieName = '__Host-firsthand';

/** What somebody has who has no session, as headers and fields of a request. */
const holders: Record<string, () => Promise<{ headers: Record<string, string>; fields?: Fields }>> = {
  nothing: async () => ({ headers: fromConsole('') }),
  'the token of a page': async () => ({
    headers: { ...fromConsole(''), Authorization: `Bearer ${scene.tokens.browser}` },
    fields: { tokenUUID: scene.tokens.browser },
  }),
  'a server token in a header, which only operations read': async () => ({
    headers: { ...fromConsole(''), Authorization: `Bearer ${scene.tokens.server}` },
  }),
  'a token in the place of a session': async () => ({
    headers: fromConsole(`${cookieName}=${scene.tokens.server}`, scene.tokens.server),
  }),
  'a share link': async () => {
    const shareSecret = await share();
    return {
      headers: { ...fromConsole(`${cookieName}=${shareSecret}`, shareSecret), Authorization: `Bearer ${shareSecret}` },
      fields: { shareSecret, tokenUUID: shareSecret, code: shareSecret },
    };
  },
  'a session that was signed out': async () => {
    const { page } = await join();
    expect((await send('sign-out', {}, page)).status).toBe(200);
    return { headers: page };
  },
  'a session that has expired': async () => {
    const { page } = await join();
    time += 12 * hour;
    return { headers: page };
  },
  'a session of a member who was removed': async () => {
    const { page, memberID } = await join();
    await scene.post('/account/removeMember', { tokenUUID: scene.tokens.server, memberID });
    return { headers: page };
  },
  'the name of another’s session': async () => {
    const { sessionID } = await join();
    const text = `session_${sessionID}.${'x'.repeat(32)}`;
    return { headers: fromConsole(`${cookieName}=${text}`, sessionID) };
  },
};

const paths = [
  ...['sign-in', 'invitation', 'accept', 'sign-out', 'password'],
  ...['passkeys/to-join', 'passkeys/to-add', 'passkeys/add', 'passkeys/remove'],
];

describe.each(Object.keys(holders))('with %s', (holder) => {
  test('no request begins or ends a session, joins, or changes a password or a passkey', async () => {
    const { headers, fields = {} } = await (holders[holder] as (typeof holders)[string])();
    const before = await state();
    const more = { memberName: 'Eve', currentPassword: password, password, passkeyID: 'x', passkey: {} };
    for (const path of paths) {
      for (const sent of [
        fields,
        { ...more, ...fields, password: undefined },
        { ...more, ...fields, passkey: undefined },
      ]) {
        const { status, headers: answered, body } = await send(path, sent, headers);
        expect([path, status >= 400 && status < 500, body.error?.code]).toEqual([path, true, expect.any(String)]);
        expect(answered.get('set-cookie')).toBeNull();
      }
    }
    const listed = await scene.send('/console/passkeys', { headers });
    expect([listed.status, listed.body.passkeys]).toEqual([401, undefined]);
    const { session, sessions } = (await scene.send('/console/session', { headers })).body;
    expect([session, sessions]).toEqual([null, []]);
    expect(await state()).toEqual(before);
  });
});

test('a viewer’s session changes no passkey or password of another member, and no account but its own', async () => {
  const { memberID } = await join();
  const { headers, body } = await signInWith(scene, { tokenUUID: scene.tokens.viewer });
  const page = fromConsole(cookieFrom(headers), body.session.sessionID);
  const before = await state();
  for (const path of ['password', 'passkeys/to-add', 'passkeys/add', 'passkeys/remove']) {
    const fields = { memberID, currentPassword: password, password: 'another sentence of words' };
    const refused = await send(path, { ...fields, passkeyID: 'x', passkey: {} }, page);
    expect([path, refused.status, refused.body.error.code]).toEqual([path, 403, 'token_kind']);
  }
  expect(await state()).toEqual(before);
});
