import { limits } from '@firsthand/contract/limits';
import { describe, expect, test } from 'vitest';
import type { NewInvitation, NewPasskey } from '../../../src/store/store.ts';
import type { Site } from '../../fixtures/site.ts';
import { expectRefusal, newToken } from '../../fixtures/store.ts';
import type { NewSite } from '../sites.ts';

let nth = 0;
/** Returns a string that no other test uses, because tests share a store. */
const unique = (what: string) => `${what}-${++nth}`;

const invite = async ({ store, account, time }: Site, changes: Partial<NewInvitation> = {}) => {
  const invitation = {
    ...{ account, memberID: unique('member'), emailaddress: `${unique('ann')}@shop.example`, kind: 'viewer' as const },
    ...{ hash: unique('hash'), expiresTime: time + 1_000, time },
    ...changes,
  };
  return { invitation, invited: await store.inviteMember(invitation) };
};

const join = (
  { store, time }: Site,
  hash: string,
  changes: { password?: string | null; passkey?: NewPasskey; time?: number } = {},
) =>
  store.joinMember({ hash, memberName: 'Ann Lemon', password: 'hashed', time, access: newToken('viewer'), ...changes });

/** Starts a session for a member, as sign-in does. */
const startSession = async (
  { store, account, time }: Site,
  { token, kind }: { token: number; kind: 'viewer' | 'editor' | 'server' },
) => {
  const session = { ...newToken(kind), createdBy: token, session: true, time };
  await store.createToken({ ...session, account });
  return session;
};

const createMember = async (site: Site, changes: Partial<NewInvitation> = {}) => {
  const { invitation } = await invite(site, changes);
  const { memberID, access } = await join(site, invitation.hash);
  const member = {
    memberID,
    tokenID: access.tokenID,
    token: access.token,
    kind: access.kind as 'viewer',
    emailaddress: invitation.emailaddress,
  };
  return { ...member, session: await startSession(site, member) };
};

const network = 'hash of a network';
const findMembers = (
  { store, time }: Site,
  emailaddress: string,
  changes: { accountUUID?: string | undefined; network?: string; time?: number } = {},
) => store.findMembers({ emailaddress, network, time, ...changes });

export const describeMembers = (newSite: NewSite): void => {
  describe('members', () => {
    test('join once by invitation, with a name and a password', async () => {
      const site = await newSite();
      const { store, account, accountUUID, time } = site;
      const { invitation, invited } = await invite(site, { kind: 'editor', memberName: 'Annie' });
      const { memberID, emailaddress, hash } = invitation;
      expect(invited).toEqual({ memberID, kind: 'editor' });
      const commonFields = {
        memberID,
        emailaddress,
        kind: 'editor',
        createdTime: time,
        signedInTime: null,
        passkeys: 0,
      };
      expect(await store.listMembers({ account })).toEqual([
        {
          ...commonFields,
          memberName: 'Annie',
          joinedTime: null,
          invitationExpiresTime: time + 1_000,
          hasPassword: false,
        },
      ]);
      expect(await findMembers(site, emailaddress)).toEqual([]);
      const { accountName } = await store.getAccount(account);
      expect(await store.findInvitation({ hash, time })).toEqual({
        ...{ memberID, emailaddress, memberName: 'Annie', kind: 'editor', account, accountUUID, accountName },
      });
      const { account: joinedAccount, memberID: joinedID, access } = await join(site, hash, { time: time + 5 });
      expect([joinedAccount, joinedID]).toEqual([account, memberID]);
      expect(access).toEqual({ token: expect.any(Number), tokenID: expect.any(String), kind: 'editor' });
      expect(await store.listMembers({ account })).toEqual([
        {
          ...commonFields,
          memberName: 'Ann Lemon',
          joinedTime: time + 5,
          invitationExpiresTime: null,
          hasPassword: true,
        },
      ]);
      expect(await findMembers(site, emailaddress)).toEqual([
        { account, memberID, password: 'hashed', isKnown: false, ...access },
      ]);
      await expectRefusal(join(site, hash), 'invalid_token');
      expect(await store.findInvitation({ hash, time })).toBeUndefined();
    });

    test('join before the invitation expires, and only with their latest invitation', async () => {
      const site = await newSite();
      const { store, time } = site;
      const { invitation } = await invite(site);
      await expectRefusal(join(site, invitation.hash, { time: time + 1_000 }), 'invalid_token');
      expect(await store.findInvitation({ hash: invitation.hash, time: time + 1_000 })).toBeUndefined();
      const { emailaddress, memberID } = invitation;
      const again = await invite(site, { emailaddress, kind: 'server' });
      expect(again.invited).toEqual({ memberID, kind: 'server' });
      await expectRefusal(join(site, invitation.hash), 'invalid_token');
      expect((await join(site, again.invitation.hash)).access.kind).toBe('server');
      // After they have joined, the invitation can no longer change their role.
      const third = await invite(site, { emailaddress, kind: 'viewer' });
      expect(third.invited).toEqual({ memberID, kind: 'server' });
      expect(await store.listMembers({ account: site.account })).toMatchObject([{ memberID, kind: 'server' }]);
    });

    test('lose access when the token that invited them is revoked with its descendants', async () => {
      const site = await newSite();
      const { store, account, server, time } = site;
      const leaked = newToken('server');
      await store.createToken({ ...leaked, account, createdBy: server.token });
      const { token: by = 0 } = (await store.findAccess(leaked.hash, time)) ?? {};
      const intruder = await createMember(site, { by, kind: 'server' });
      const { invitation } = await invite(site, { by });
      const other = await createMember(site, { by: server.token });
      await expectRefusal(store.revokeToken({ account, tokenID: intruder.tokenID, time }), 'invalid_field');
      const { descendants } = await store.revokeToken({ account, tokenID: leaked.tokenID, descendants: true, time });
      expect([...descendants].sort()).toEqual([intruder.tokenID, intruder.session.tokenID].sort());
      expect(await store.findAccess(intruder.session.hash, time)).toBeUndefined();
      await expectRefusal(startSession(site, intruder), 'invalid_token');
      await expectRefusal(join(site, invitation.hash), 'invalid_token');
      expect(await store.findAccess(other.session.hash, time)).toBeDefined();
      // Invites the same person again, as an owner can.
      const again = await invite(site, { emailaddress: intruder.emailaddress, by: server.token });
      const { access } = await join(site, again.invitation.hash);
      expect(
        await store.findAccess((await startSession(site, { ...intruder, token: access.token })).hash, time),
      ).toBeDefined();
    });

    test('get no session with an earlier role or password, no matter how long signing in takes', async () => {
      const site = await newSite();
      const { store, account, time } = site;
      const ann = await createMember(site, { kind: 'server' });
      await store.updateMember({ account, memberID: ann.memberID, kind: 'viewer', time });
      const late = await startSession(site, { token: ann.token, kind: 'server' });
      expect((await store.findAccess(late.hash, time))?.kind).toBe('viewer');
      const lateToken = (await store.listTokens({ account })).find(({ tokenID }) => tokenID === late.tokenID);
      expect(lateToken).toMatchObject({ kind: 'viewer', memberID: ann.memberID });
      const { invitation } = await invite(site, { emailaddress: ann.emailaddress });
      await join(site, invitation.hash);
      await expectRefusal(startSession(site, ann), 'invalid_token');
    });

    test('have sessions that end only with a new password or with their removal', async () => {
      const site = await newSite();
      const { store, account, time } = site;
      const ann = await createMember(site);
      const ben = await createMember(site);
      expect(await store.findAccess(ann.session.hash, time)).toMatchObject({ kind: 'viewer', account });
      expect(await store.listMembers({ account })).toMatchObject([{ signedInTime: time }, { signedInTime: time }]);
      const tokens = await store.listTokens({ account });
      expect(tokens.filter(({ memberID }) => memberID === ann.memberID)).toMatchObject([
        { session: false, createdBy: null },
        { session: true, tokenID: ann.session.tokenID },
      ]);
      const { invitation } = await invite(site, { emailaddress: ann.emailaddress });
      expect(await store.findAccess(ann.session.hash, time)).toBeDefined();
      await join(site, invitation.hash, { password: 'another' });
      expect(await store.findAccess(ann.session.hash, time)).toBeUndefined();
      expect(await findMembers(site, ann.emailaddress)).toMatchObject([{ password: 'another' }]);
      await store.removeMember({ account, memberID: ben.memberID, time });
      expect(await store.findAccess(ben.session.hash, time)).toBeUndefined();
      expect(await findMembers(site, ben.emailaddress)).toEqual([]);
      await expectRefusal(startSession(site, ben), 'invalid_token');
      await expectRefusal(store.removeMember({ account, memberID: ben.memberID, time }), 'unknown_member');
      expect(JSON.stringify([await store.listMembers({ account }), await store.listTokens({ account })])).not.toContain(
        ben.emailaddress,
      );
    });

    test('change their password in a session, which continues while the others end', async () => {
      const site = await newSite();
      const { store, account, time } = site;
      const [ann, ben] = [await createMember(site), await createMember(site)];
      const [another, later] = [await startSession(site, ann), await startSession(site, ann)];
      await store.recordKnownNetwork({ memberIDs: [ann.memberID], network, time });
      const { token: by = 0 } = (await store.findAccess(another.hash, time)) ?? {};
      await store.changePassword({ account, memberID: ann.memberID, password: 'another', by, time });
      expect(await findMembers(site, ann.emailaddress)).toMatchObject([{ password: 'another', isKnown: true }]);
      expect(await findMembers(site, ben.emailaddress)).toMatchObject([{ password: 'hashed' }]);
      for (const { hash } of [ann.session, later]) expect(await store.findAccess(hash, time)).toBeUndefined();
      for (const { hash } of [another, ben.session]) expect(await store.findAccess(hash, time)).toBeDefined();
      expect(await store.findAccess((await startSession(site, ann)).hash, time)).toBeDefined();
      const { entries } = await store.listAudit({ account, limit: 2 });
      const { memberID } = ann;
      expect(entries[1]).toMatchObject({
        ...{ action: 'changePassword', actor: another.tokenID, memberID, subject: { memberID } },
      });
    });

    test('set their first password, and keep their passkeys', async () => {
      const site = await newSite();
      const { store, account, time } = site;
      const { invitation } = await invite(site);
      const { memberID, emailaddress, hash } = invitation;
      const passkey = {
        ...{ passkeyID: unique('passkey'), passkeyName: 'Phone', credentialID: unique('credential'), publicKey: 'key' },
        ...{ origin: 'https://firsthand.shop.example', counter: 0, transports: [] },
      };
      const { access } = await join(site, hash, { password: null, passkey });
      const session = await startSession(site, { token: access.token, kind: 'viewer' });
      const { token: by = 0 } = (await store.findAccess(session.hash, time)) ?? {};
      expect(await store.listMembers({ account })).toMatchObject([{ hasPassword: false }]);
      await store.changePassword({ account, memberID, password: 'hashed', by, time });
      expect(await store.listMembers({ account })).toMatchObject([{ hasPassword: true, passkeys: 1 }]);
      expect(await findMembers(site, emailaddress)).toMatchObject([{ memberID, password: 'hashed' }]);
    });

    test('change their password only in open sessions that began after they last accepted an invitation', async () => {
      const [site, others] = [await newSite(), await newSite()];
      const { store, account, server, time } = site;
      const [ann, ben] = [await createMember(site), await createMember(site)];
      const tokenOf = async ({ hash }: { hash: string }) => (await store.findAccess(hash, time))?.token ?? 0;
      const { memberID, emailaddress } = ann;
      const change = (by: number, of = { store, account }) =>
        of.store.changePassword({ account: of.account, memberID, password: 'another', by, time });
      const [before, ended] = [await tokenOf(ann.session), await startSession(site, ann)];
      const endedToken = await tokenOf(ended);
      await store.revokeToken({ account, tokenID: ended.tokenID, time });
      for (const by of [endedToken, await tokenOf(ben.session), ann.token, server.token])
        await expectRefusal(change(by), 'unknown_member');
      await expectRefusal(change(before, others), 'unknown_member');
      await join(site, (await invite(site, { emailaddress })).invitation.hash);
      await expectRefusal(change(before), 'unknown_member');
      expect(await findMembers(site, emailaddress)).toMatchObject([{ password: 'hashed' }]);
    });

    test('start no session with an earlier password, no matter how long signing in takes', async () => {
      const site = await newSite();
      const { store, account, time } = site;
      const ann = await createMember(site);
      const { token: by = 0 } = (await store.findAccess(ann.session.hash, time)) ?? {};
      const signIn = async (password: string) => {
        const session = { ...newToken('viewer'), createdBy: ann.token, session: true, time };
        await store.createToken({ ...session, account, password });
        return session;
      };
      const change = () =>
        store.changePassword({ account, memberID: ann.memberID, password: 'another', by, time }).then(() => undefined);
      const old = Array.from({ length: 4 }, () => 'hashed');
      const raced = await Promise.allSettled([...old.map(signIn), change(), ...old.map(signIn)]);
      const sessions = raced.flatMap((each) => (each.status === 'fulfilled' ? (each.value ?? []) : []));
      for (const { hash } of sessions) expect(await store.findAccess(hash, time)).toBeUndefined();
      await expectRefusal(signIn('hashed'), 'invalid_token');
      expect(await store.findAccess((await signIn('another')).hash, time)).toBeDefined();
      expect(await store.findAccess(ann.session.hash, time)).toBeDefined();
    });

    test('get another role, including in their open sessions', async () => {
      const site = await newSite();
      const { store, account, time } = site;
      const [ann, ben] = [await createMember(site), await createMember(site)];
      const kindOf = async (hash: string) => (await store.findAccess(hash, time))?.kind;
      expect(await kindOf(ann.session.hash)).toBe('viewer');
      await store.updateMember({ account, memberID: ann.memberID, kind: 'server', time });
      expect([await kindOf(ann.session.hash), await kindOf(ben.session.hash)]).toEqual(['server', 'viewer']);
      await store.updateMember({ account, memberID: ann.memberID, kind: 'editor', time });
      expect(await kindOf(ann.session.hash)).toBe('editor');
      // Creates a token in a session, which does not belong to the member.
      const { token = 0 } = (await store.findAccess(ann.session.hash, time)) ?? {};
      const childToken = newToken('server');
      await store.createToken({ ...childToken, account, createdBy: token });
      await store.updateMember({ account, memberID: ann.memberID, kind: 'viewer', time });
      expect(await kindOf(childToken.hash)).toBe('server');
    });

    test('are found in several accounts by one e-mail address, the latest sign-in first', async () => {
      const [site, other] = [await newSite(), await newSite()];
      const emailaddress = `${unique('ann')}@shop.example`;
      const here = await createMember(site, { emailaddress });
      await join(other, (await invite(other, { emailaddress })).invitation.hash);
      const accounts = async (accountUUID?: string) =>
        (await findMembers(site, emailaddress, { accountUUID })).map(({ account }) => account);
      expect(await accounts()).toEqual([site.account, other.account]);
      expect(await accounts(other.accountUUID)).toEqual([other.account, site.account]);
      const { account, memberID } = { ...here, account: other.account };
      const { store, time } = other;
      await expectRefusal(store.updateMember({ account, memberID, kind: 'server', time }), 'unknown_member');
      await expectRefusal(store.removeMember({ account, memberID, time }), 'unknown_member');
      expect(await store.listMembers({ account: site.account })).toMatchObject([{ memberID }]);
    });

    test('are recognized on their networks for 30 days, until they join again', async () => {
      const site = await newSite();
      const { store, account, time } = site;
      const [ann, ben] = [await createMember(site), await createMember(site)];
      const isKnown = async (
        { emailaddress }: { emailaddress: string },
        changes: { network?: string; time?: number } = {},
      ) => (await findMembers(site, emailaddress, changes)).map((each) => each.isKnown);
      await store.recordKnownNetwork({ memberIDs: [ann.memberID, 'nobody'], network, time });
      expect([await isKnown(ann), await isKnown(ben)]).toEqual([[true], [false]]);
      expect(await isKnown(ann, { network: 'another' })).toEqual([false]);
      const end = time + 30 * 86_400_000;
      expect([await isKnown(ann, { time: end - 1 }), await isKnown(ann, { time: end })]).toEqual([[true], [false]]);
      await store.recordKnownNetwork({ memberIDs: [ann.memberID], network, time: time + 5 });
      expect(await isKnown(ann, { time: end })).toEqual([true]);

      const { invitation } = await invite(site, { emailaddress: ann.emailaddress });
      expect(await isKnown(ann)).toEqual([true]);
      await join(site, invitation.hash);
      expect(await isKnown(ann)).toEqual([false]);

      await store.recordKnownNetwork({ memberIDs: [ben.memberID], network, time });
      await store.removeMember({ account, memberID: ben.memberID, time });
      await store.recordKnownNetwork({ memberIDs: [ben.memberID], network, time });
      const again = await invite(site, { emailaddress: ben.emailaddress, memberID: ben.memberID });
      await join(site, again.invitation.hash);
      expect(await isKnown(ben)).toEqual([false]);
    });

    test('are recognized on their last 20 networks', async () => {
      const site = await newSite();
      const { store, time } = site;
      const [ann, ben] = [await createMember(site), await createMember(site)];
      await store.recordKnownNetwork({ memberIDs: [ben.memberID], network: 'network 0', time });
      for (let nth = 0; nth < 22; nth += 1)
        await store.recordKnownNetwork({ memberIDs: [ann.memberID], network: `network ${nth}`, time: time + nth });
      const knownNetworks = [];
      for (let nth = 0; nth < 22; nth += 1) {
        const [member] = await findMembers(site, ann.emailaddress, { network: `network ${nth}` });
        if (member?.isKnown) knownNetworks.push(nth);
      }
      expect(knownNetworks).toEqual(Array.from({ length: 20 }, (_, nth) => nth + 2));
      expect(await findMembers(site, ben.emailaddress, { network: 'network 0' })).toMatchObject([{ isKnown: true }]);
    });

    test('add no proof keys', async () => {
      const site = await newSite();
      const { store, account, time } = site;
      const before = await store.findProofKeys({ account, time });
      await createMember(site, { kind: 'server' });
      expect(await store.findProofKeys({ account, time })).toEqual(before);
    });

    test('are removed together with their secret tokens, share links and invitations, if requested', async () => {
      const site = await newSite();
      const { store, account, server, time } = site;
      const tokenOf = async (hash: string) => (await store.findAccess(hash, time))?.token;
      const ann = await createMember(site, { kind: 'server', by: server.token });
      const by = (await tokenOf(ann.session.hash)) ?? 0;
      const create = async (kind: 'browser' | 'viewer' | 'server', createdBy: number) => {
        const token = newToken(kind);
        await store.createToken({ ...token, account, createdBy });
        return token;
      };
      const [page, secret] = [await create('browser', by), await create('server', by)];
      const grandchild = await create('viewer', (await tokenOf(secret.hash)) ?? 0);
      const other = await create('server', server.token);
      const share = (shareID: string, maker: number) => {
        const link = { shareID: `${shareID} of ${account}`, shareName: 'Tea', page: 'overview', view: '{}' };
        return store.createShareLink({
          ...link,
          account,
          hash: unique('secret'),
          expiresTime: time + 1_000,
          by: maker,
          time,
        });
      };
      await share('hers', by);
      await share('another', server.token);
      const { invitation } = await invite(site, { by });
      const colleague = await createMember(site, { by, kind: 'server' });
      const childToken = await create('viewer', (await tokenOf(colleague.session.hash)) ?? 0);
      const again = await invite(site, { emailaddress: colleague.emailaddress, by });

      const removed = await store.removeMember({
        account,
        memberID: ann.memberID,
        descendants: true,
        by: server.token,
        time,
      });
      expect([[...removed.tokens].sort(), removed.shareLinks]).toEqual([
        [secret.tokenID, grandchild.tokenID].sort(),
        [`hers of ${account}`],
      ]);
      for (const { hash } of [secret, grandchild, ann.session]) expect(await tokenOf(hash)).toBeUndefined();
      for (const { hash } of [page, other, colleague.session, childToken]) expect(await tokenOf(hash)).toBeDefined();
      expect((await store.listShareLinks({ account })).map(({ shareID }) => shareID)).toEqual([
        `another of ${account}`,
      ]);
      await expectRefusal(join(site, invitation.hash), 'invalid_token');
      await expectRefusal(join(site, again.invitation.hash), 'invalid_token');
      await expectRefusal(invite(site, { by }), 'invalid_token');
      const { entries } = await store.listAudit({ account, limit: 4 });
      const actor = server.tokenID;
      expect(entries.toReversed()).toMatchObject([
        { action: 'removeMember', actor, subject: { memberID: ann.memberID } },
        ...removed.tokens.map((tokenID) => ({ action: 'revokeToken', actor, subject: { tokenID } })),
        { action: 'revokeShareLink', actor, subject: { shareID: `hers of ${account}` } },
      ]);
    });

    test('are removed without the tokens and invitations that they created, by default', async () => {
      const site = await newSite();
      const { store, account, time } = site;
      const ann = await createMember(site, { kind: 'server' });
      const { token: createdBy = 0 } = (await store.findAccess(ann.session.hash, time)) ?? {};
      const childToken = newToken('server');
      await store.createToken({ ...childToken, account, createdBy });
      const { invitation } = await invite(site, { by: createdBy });
      const removed = await store.removeMember({ account, memberID: ann.memberID, time });
      expect(removed).toEqual({ tokens: [], shareLinks: [] });
      expect(await store.findAccess(childToken.hash, time)).toBeDefined();
      expect((await join(site, invitation.hash)).memberID).toBe(invitation.memberID);
    });

    test('are limited in number per account', async () => {
      const site = await newSite();
      const first = await invite(site);
      for (let count = 1; count < limits.membersPerAccount; count += 1) await invite(site);
      await expectRefusal(invite(site), 'invalid_field');
      await invite(site, { emailaddress: first.invitation.emailaddress });
      const { store, account, time } = site;
      await store.removeMember({ account, memberID: first.invitation.memberID, time });
      await invite(site);
    });

    test('appear in the audit log without their names', async () => {
      const site = await newSite();
      const { store, account, server, time } = site;
      const { invitation } = await invite(site, { by: server.token });
      const { memberID, emailaddress } = invitation;
      const { access } = await join(site, invitation.hash);
      await store.updateMember({ account, memberID, kind: 'editor', by: server.token, time });
      await store.removeMember({ account, memberID, by: server.token, time });
      const { entries } = await store.listAudit({ account, limit: 4 });
      const actor = server.tokenID;
      expect(entries).toMatchObject([
        { action: 'removeMember', actor, subject: { memberID } },
        { action: 'updateMember', actor, subject: { memberID, memberRole: 'editor' } },
        { action: 'joinMember', actor: access.tokenID, memberID, subject: { memberID } },
        { action: 'inviteMember', actor, memberID: null, subject: { memberID, memberRole: 'viewer' } },
      ]);
      expect(JSON.stringify(entries)).not.toContain(emailaddress);
    });
  });
};
