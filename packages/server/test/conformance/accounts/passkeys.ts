import { limits } from '@firsthand/contract/limits';
import { describe, expect, test } from 'vitest';
import type { MemberAccess, NewPasskey } from '../../../src/store/store.ts';
import type { Site } from '../../fixtures/site.ts';
import { expectRefusal, newToken } from '../../fixtures/store.ts';
import type { NewSite } from '../sites.ts';

let nth = 0;
/** Returns a string that no other test uses, because tests share a store. */
const unique = (what: string) => `${what}-of-passkeys-${++nth}`;

const newPasskey = (changes: Partial<NewPasskey> = {}): NewPasskey => ({
  ...{
    passkeyID: unique('passkey'),
    passkeyName: 'Phone',
    origin: 'https://firsthand.shop.example',
    credentialID: unique('credential'),
    publicKey: 'pQECAyYgASFY',
  },
  ...{ counter: 0, transports: ['internal', 'hybrid'] },
  ...changes,
});

const newChallenge = ({ time }: Site, expiresTime = time + 1_000) => ({ challenge: unique('challenge'), expiresTime });

interface JoinOptions {
  readonly passkey?: NewPasskey;
  readonly password?: string | null;
  readonly emailaddress?: string;
}

/** Creates a member with a passkey or a password. */
const join = async ({ store, account, time }: Site, { passkey, password = null, emailaddress }: JoinOptions) => {
  const hash = unique('hash');
  const address = emailaddress ?? `${unique('ann')}@shop.example`;
  const { memberID } = await store.inviteMember({
    ...{ account, memberID: unique('member'), emailaddress: address, kind: 'editor' },
    ...{ hash, expiresTime: time + 1_000, time },
  });
  const joining = { hash, memberName: 'Ann', password, passkey, time, access: newToken('editor') };
  const { access } = await store.joinMember(joining);
  return { memberID, access, emailaddress: address };
};

/** Starts a session for a member; returns the session token's number and tokenID. */
const startSession = async ({ store, account, time }: Site, access: MemberAccess) => {
  const { tokenID, ...session } = newToken(access.kind);
  await store.createToken({ ...session, tokenID, account, createdBy: access.token, session: true });
  const { token: by = 0 } = (await store.findAccess(session.hash, time)) ?? {};
  return { by, tokenID };
};

const namesOf = async ({ store }: Site, memberID: string) =>
  (await store.listPasskeys({ memberID })).map(({ passkeyName }) => passkeyName);

export const describePasskeys = (newSite: NewSite): void => {
  describe('passkeys', () => {
    test('replace a password on joining, and are listed and found by their credential', async () => {
      const site = await newSite();
      const { store, account, time } = site;
      const passkey = newPasskey({ counter: 7 });
      const { memberID, access, emailaddress } = await join(site, { passkey });
      const { origin, publicKey, counter, ...listed } = passkey;
      expect(await store.listPasskeys({ memberID })).toEqual([{ ...listed, createdTime: time, lastUsedTime: null }]);
      const { passkeyID, credentialID } = passkey;
      expect(await store.findPasskey({ credentialID })).toEqual({
        ...{ account, memberID, ...access },
        ...{ passkeyID, origin, publicKey, counter },
      });
      expect(await store.findPasskey({ credentialID: unique('credential') })).toBeUndefined();
      // Finds no member: a member who has no password can't sign in with one.
      expect(await store.findMembers({ emailaddress, network: '', time })).toEqual([]);
    });

    test('are added and removed, but the last way to sign in can’t be removed', async () => {
      const site = await newSite();
      const { store, account, time } = site;
      const first = newPasskey({ passkeyName: 'First', transports: [] });
      const { memberID } = await join(site, { passkey: first });
      const second = newPasskey({ passkeyName: 'Second' });
      await store.addPasskey({ account, memberID, passkey: second, challenge: newChallenge(site), time: time + 1 });
      expect(await namesOf(site, memberID)).toEqual(['First', 'Second']);
      expect(await store.listMembers({ account })).toMatchObject([{ memberID, passkeys: 2 }]);
      await store.removePasskey({ account, memberID, passkeyID: first.passkeyID, time });
      expect(await store.findPasskey(first)).toBeUndefined();
      const last = { account, memberID, passkeyID: second.passkeyID, time };
      await expectRefusal(store.removePasskey(last), 'invalid_field');
      await expectRefusal(store.removePasskey({ ...last, passkeyID: first.passkeyID }), 'invalid_field');
      expect(await namesOf(site, memberID)).toEqual(['Second']);
      const withPassword = await join(site, { password: 'hashed' });
      const only = newPasskey();
      const { memberID: other } = withPassword;
      await store.addPasskey({ account, memberID: other, passkey: only, challenge: newChallenge(site), time });
      await store.removePasskey({ account, memberID: other, passkeyID: only.passkeyID, time });
      expect(await namesOf(site, other)).toEqual([]);
      const counts = (await store.listMembers({ account })).map((member) => [member.memberID, member.passkeys]);
      expect(new Map(counts as [string, number][])).toEqual(
        new Map([
          [memberID, 1],
          [other, 0],
        ]),
      );
    });

    test('belong to one member each, and no one else can remove or register them', async () => {
      const [site, others] = [await newSite(), await newSite()];
      const { store, account, time } = site;
      const passkey = newPasskey();
      const ann = await join(site, { passkey, password: 'hashed' });
      const ben = await join(site, { password: 'hashed' });
      const { passkeyID, credentialID } = passkey;
      await expectRefusal(store.removePasskey({ account, memberID: ben.memberID, passkeyID, time }), 'invalid_field');
      const { memberID } = ann;
      await expectRefusal(
        others.store.removePasskey({ account: others.account, memberID, passkeyID, time }),
        'unknown_member',
      );
      const adding = { passkey: newPasskey({ credentialID }), challenge: newChallenge(site), time };
      await expectRefusal(store.addPasskey({ account, memberID: ben.memberID, ...adding }), 'invalid_field');
      await expectRefusal(join(site, { passkey: newPasskey({ credentialID }) }), 'invalid_field');
      await expectRefusal(
        others.store.addPasskey({ account: others.account, memberID, ...adding, passkey: newPasskey() }),
        'unknown_member',
      );
      expect(await store.findPasskey({ credentialID })).toMatchObject({ memberID, passkeyID });
    });

    test('are limited in number per member, even if added concurrently', async () => {
      const site = await newSite();
      const { store, account, time } = site;
      const { memberID } = await join(site, { password: 'hashed' });
      const add = () =>
        store.addPasskey({ account, memberID, passkey: newPasskey(), challenge: newChallenge(site), time });
      const maxPasskeys = limits.passkeysPerMember;
      const added = await Promise.allSettled(Array.from({ length: maxPasskeys + 3 }, add));
      expect(added.filter(({ status }) => status === 'fulfilled')).toHaveLength(maxPasskeys);
      expect(await store.listPasskeys({ memberID })).toHaveLength(maxPasskeys);
      await expectRefusal(add(), 'invalid_field');
    });

    test('accept each challenge only once, whatever its purpose, and forget expired challenges', async () => {
      const site = await newSite();
      const { store, account, time } = site;
      const passkey = newPasskey();
      const { memberID } = await join(site, { passkey });
      const use = (challenge: { challenge: string; expiresTime: number }, at = time) =>
        store.usePasskey({ passkeyID: passkey.passkeyID, counter: 0, challenge, time: at });
      const challenge = newChallenge(site);
      await use(challenge);
      await expectRefusal(use(challenge), 'invalid_token');
      await expectRefusal(
        store.addPasskey({ account, memberID, passkey: newPasskey(), challenge, time }),
        'invalid_token',
      );
      expect(await store.listPasskeys({ memberID })).toMatchObject([{ lastUsedTime: time }]);
      const raced = newChallenge(site);
      const outcomes = await Promise.allSettled([use(raced), use(raced), use(raced)]);
      expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected']);
      // Only the caller checks when a challenge expires: the store forgets the challenge at that time.
      await use(newChallenge(site, time + 2_000), time + 1_000);
      await use(challenge, time + 1_000);
    });

    test('sign in only with an increasing counter, and not after they are removed', async () => {
      const site = await newSite();
      const { store, account, time } = site;
      const passkey = newPasskey({ counter: 5 });
      const { memberID } = await join(site, { passkey, password: 'hashed' });
      const { passkeyID } = passkey;
      const use = (counter: number) =>
        store.usePasskey({ passkeyID, counter, challenge: newChallenge(site), time: time + counter });
      for (const back of [0, 4, 5]) await expectRefusal(use(back), 'invalid_token');
      await use(6);
      await use(4_294_967_295);
      expect(await store.findPasskey(passkey)).toMatchObject({ counter: 4_294_967_295 });
      await store.removePasskey({ account, memberID, passkeyID, time });
      await expectRefusal(use(4_294_967_296), 'invalid_token');
    });

    test('are deleted with the member, and when the member accepts another invitation', async () => {
      const site = await newSite();
      const { store, account, time } = site;
      const [passkey, second] = [newPasskey(), newPasskey()];
      const { memberID, emailaddress } = await join(site, { passkey });
      await store.addPasskey({ account, memberID, passkey: second, challenge: newChallenge(site), time });
      const third = newPasskey();
      await join(site, { passkey: third, emailaddress });
      expect(await store.listPasskeys({ memberID })).toMatchObject([{ passkeyID: third.passkeyID }]);
      await join(site, { password: 'hashed', emailaddress });
      expect(await store.listPasskeys({ memberID })).toEqual([]);
      const fourth = newPasskey();
      await store.addPasskey({ account, memberID, passkey: fourth, challenge: newChallenge(site), time });
      await store.removeMember({ account, memberID, time });
      expect(await store.findPasskey(fourth)).toBeUndefined();
      expect(await store.listPasskeys({ memberID })).toEqual([]);
      const adding = { account, memberID, passkey: newPasskey(), challenge: newChallenge(site), time };
      await expectRefusal(store.addPasskey(adding), 'unknown_member');
    });

    test('do not sign in after the member’s access is revoked', async () => {
      const site = await newSite();
      const { store, account, time } = site;
      const leaked = newToken('server');
      await store.createToken({ ...leaked, account });
      const { token: by = 0 } = (await store.findAccess(leaked.hash, time)) ?? {};
      const hash = unique('hash');
      const invited = {
        account,
        memberID: unique('member'),
        emailaddress: `${unique('eve')}@shop.example`,
        by,
      } as const;
      const { memberID } = await store.inviteMember({ ...invited, kind: 'server', hash, expiresTime: time + 1, time });
      const passkey = newPasskey();
      await store.joinMember({
        ...{ hash, memberName: 'Eve', password: null, passkey, time, access: newToken('server') },
      });
      await store.revokeToken({ account, tokenID: leaked.tokenID, descendants: true, time });
      expect(await store.findPasskey(passkey)).toBeUndefined();
      const adding = { account, memberID, passkey: newPasskey(), challenge: newChallenge(site), time };
      await expectRefusal(store.addPasskey(adding), 'unknown_member');
    });

    test('are changed only in an open session that began after the member last accepted an invitation', async () => {
      const site = await newSite();
      const { store, account, server, time } = site;
      const ann = await join(site, { password: 'hashed' });
      const [passkey, other] = [newPasskey(), newPasskey()];
      const { memberID, emailaddress } = ann;
      const add = (by: number, added = newPasskey()) =>
        store.addPasskey({ account, memberID, passkey: added, challenge: newChallenge(site), by, time });
      const remove = (by: number, { passkeyID } = passkey) =>
        store.removePasskey({ account, memberID, passkeyID, by, time });
      const before = await startSession(site, ann.access);
      const ben = await startSession(site, (await join(site, { password: 'hashed' })).access);
      await add(before.by);
      const { access } = await join(site, { passkey, password: 'hashed', emailaddress });
      const ended = await startSession(site, access);
      await store.revokeToken({ account, tokenID: ended.tokenID, time });
      for (const by of [before.by, ended.by, ben.by, ann.access.token, access.token, server.token]) {
        await expectRefusal(add(by), 'unknown_member');
        await expectRefusal(remove(by), 'unknown_member');
      }
      expect(await store.listPasskeys({ memberID })).toMatchObject([{ passkeyID: passkey.passkeyID }]);
      const { by } = await startSession(site, access);
      await add(by, other);
      await remove(by);
      expect(await store.listPasskeys({ memberID })).toMatchObject([{ passkeyID: other.passkeyID }]);
    });

    test('are not added while an invitation is being accepted', async () => {
      const site = await newSite();
      const { store, account, time } = site;
      const { memberID, access, emailaddress } = await join(site, { password: 'hashed' });
      const { by } = await startSession(site, access);
      const add = () =>
        store.addPasskey({ account, memberID, passkey: newPasskey(), challenge: newChallenge(site), by, time });
      await Promise.allSettled([add(), join(site, { password: 'another', emailaddress }), add(), add()]);
      await expectRefusal(add(), 'unknown_member');
      expect(await store.listPasskeys({ memberID })).toEqual([]);
    });

    test('have challenges that are sealed with the database’s single key', async () => {
      const { store } = await newSite();
      const key = await store.getDatabaseKey();
      expect(key).toHaveLength(32);
      expect(await store.getDatabaseKey()).toEqual(key);
    });

    test('appear in the audit log when they are added and removed', async () => {
      const site = await newSite();
      const { store, account, time } = site;
      const [passkey, second] = [newPasskey(), newPasskey()];
      const { memberID, access } = await join(site, { passkey });
      const { by, tokenID: actor } = await startSession(site, access);
      await store.addPasskey({ account, memberID, passkey: second, challenge: newChallenge(site), by, time });
      await store.removePasskey({ account, memberID, passkeyID: passkey.passkeyID, by, time });
      const { entries } = await store.listAudit({ account, limit: 5 });
      const [first, other] = [passkey, second].map(({ passkeyID }) => ({ memberID, passkeyID }));
      expect(entries).toMatchObject([
        { action: 'removePasskey', actor, subject: first },
        { action: 'addPasskey', actor, subject: other },
        { action: 'createToken', actor: access.tokenID, subject: { tokenID: actor } },
        { action: 'addPasskey', actor: access.tokenID, subject: first },
        { action: 'joinMember', actor: access.tokenID, subject: { memberID } },
      ]);
    });
  });
};
