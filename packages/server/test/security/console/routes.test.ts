/** Tests that routes that the console uses in addition to operations have no effect without a valid session. */
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

/** Lets a member join. Returns the headers of that session's page. */
const join = async () => {
  const owner = { tokenUUID: scene.tokens.server };
  const invitation = { ...owner, memberEmailaddress: 'ben@shop.example', memberRole: 'owner' };
  const { invitationCode: code, memberID } = (await scene.post('/account/inviteMember', invitation)).body;
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

/** Returns everything that these routes could change. */
const readState = async () => {
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

/** Headers and fields of requests without a valid session. */
const credentials: Record<string, () => Promise<{ headers: Record<string, string>; fields?: Fields }>> = {
  nothing: async () => ({ headers: fromConsole('') }),
  'a page’s token': async () => ({
    headers: { ...fromConsole(''), Authorization: `Bearer ${scene.tokens.browser}` },
    fields: { tokenUUID: scene.tokens.browser },
  }),
  'a server token in a header, which these routes ignore': async () => ({
    headers: { ...fromConsole(''), Authorization: `Bearer ${scene.tokens.server}` },
  }),
  'a token instead of a session': async () => ({
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
  'a removed member’s session': async () => {
    const { page, memberID } = await join();
    await scene.post('/account/removeMember', { tokenUUID: scene.tokens.server, memberID });
    return { headers: page };
  },
  'another member’s sessionID': async () => {
    const { sessionID } = await join();
    const text = `session_${sessionID}.${'x'.repeat(32)}`;
    return { headers: fromConsole(`${cookieName}=${text}`, sessionID) };
  },
};

const paths = [
  ...['sign-in', 'invitation', 'accept', 'sign-out', 'password'],
  ...['passkeys/to-join', 'passkeys/to-add', 'passkeys/add', 'passkeys/remove'],
];

describe.each(Object.keys(credentials))('a request with %s', (credential) => {
  test('can’t start or end a session, accept an invitation, or change a password or a passkey', async () => {
    const { headers, fields = {} } = await (credentials[credential] as (typeof credentials)[string])();
    const before = await readState();
    const more = { memberName: 'Eve', currentPassword: password, password, passkeyID: 'x', passkey: {} };
    for (const path of paths) {
      for (const sent of [
        fields,
        { ...more, ...fields, password: undefined },
        { ...more, ...fields, passkey: undefined },
      ]) {
        const { status, headers: responseHeaders, body } = await send(path, sent, headers);
        expect([path, status >= 400 && status < 500, body.error?.code]).toEqual([path, true, expect.any(String)]);
        expect(responseHeaders.get('set-cookie')).toBeNull();
      }
    }
    const passkeys = await scene.send('/console/passkeys', { headers });
    expect([passkeys.status, passkeys.body.passkeys]).toEqual([401, undefined]);
    const { session, sessions } = (await scene.send('/console/session', { headers })).body;
    expect([session, sessions]).toEqual([null, []]);
    expect(await readState()).toEqual(before);
  });
});

test('does not let a viewer token’s session change a password or a passkey', async () => {
  const { memberID } = await join();
  const { headers, body } = await signInWith(scene, { tokenUUID: scene.tokens.viewer });
  const page = fromConsole(cookieFrom(headers), body.session.sessionID);
  const before = await readState();
  for (const path of ['password', 'passkeys/to-add', 'passkeys/add', 'passkeys/remove']) {
    const fields = { memberID, currentPassword: password, password: 'another sentence of words' };
    const refused = await send(path, { ...fields, passkeyID: 'x', passkey: {} }, page);
    expect([path, refused.status, refused.body.error.code]).toEqual([path, 403, 'token_kind']);
  }
  expect(await readState()).toEqual(before);
});
