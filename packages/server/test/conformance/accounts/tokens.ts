import { accountTokenKinds } from '@firsthand/contract/account/tokens';
import { describe, expect, test } from 'vitest';
import type { Access, NewToken } from '../../../src/store/store.ts';
import { expectRefusal, newToken } from '../../fixtures/store.ts';
import type { NewSite } from '../sites.ts';

export const describeTokens = (newSite: NewSite): void => {
  describe('tokens', () => {
    test('grant their kind of access to their account', async () => {
      const { store, account } = await newSite({
        accountOrigin: ['https://shop.example'],
        accountTimezone: 'Asia/Tokyo',
      });
      for (const kind of accountTokenKinds) {
        const token = newToken(kind);
        await store.createToken({ ...token, account });
        expect(await store.findAccess(token.hash)).toEqual({
          token: expect.any(Number),
          tokenID: token.tokenID,
          kind,
          account,
          accountOrigin: ['https://shop.example'],
          accountTimezone: 'Asia/Tokyo',
          enrich: true,
          defaultProfileID: '',
          userIDIsEmailaddress: false,
        });
      }
    });

    test('are found only by their hash', async () => {
      const { store, account } = await newSite();
      const token = newToken('browser');
      await store.createToken({ ...token, account });
      for (const other of ['', token.text as string, token.tokenID, token.hash.toUpperCase()]) {
        expect(await store.findAccess(other)).toBeUndefined();
      }
    });

    test('can’t be created a second time, revoked or not', async () => {
      const { store, account, time } = await newSite();
      const token = newToken('server');
      await store.createToken({ ...token, account });
      await store.revokeToken({ account, tokenID: token.tokenID, time });
      await expectRefusal(store.createToken({ ...token, tokenID: `${token.tokenID}-2`, account }), 'invalid_token');
    });

    test('grant access to no account if they are operator tokens', async () => {
      const { store } = await newSite();
      const token = newToken('operator');
      await store.createToken({ ...token, account: null });
      expect(await store.findAccess(token.hash)).toMatchObject({ kind: 'operator', account: null, accountOrigin: [] });
    });

    test('stop working immediately when revoked, while others continue', async () => {
      const { store, account, time } = await newSite();
      const [token, other] = [newToken('server'), newToken('server')];
      await store.createToken({ ...token, account });
      await store.createToken({ ...other, account });
      expect(await store.findAccess(token.hash)).toBeDefined();
      expect(await store.revokeToken({ account, tokenID: token.tokenID, time })).toEqual({
        revokedTime: time,
        descendants: [],
      });
      expect(await store.findAccess(token.hash)).toBeUndefined();
      expect(await store.findAccess(other.hash)).toBeDefined();
    });

    test('keep the time of their first revocation', async () => {
      const { store, account, browser, time } = await newSite();
      const { tokenID } = browser;
      await store.revokeToken({ account, tokenID, time });
      expect((await store.revokeToken({ account, tokenID, time: time + 1 })).revokedTime).toBe(time);
    });

    test('are revoked only by their own account or, for operator tokens, without an account', async () => {
      const { store, account, browser, time } = await newSite();
      const other = await newSite();
      const operator = newToken('operator');
      await store.createToken({ ...operator, account: null });
      const { tokenID } = browser;
      await expectRefusal(store.revokeToken({ account, tokenID: 'nothing', time }), 'unknown_token', 'tokenID');
      await expectRefusal(store.revokeToken({ account: other.account, tokenID, time }), 'unknown_token');
      await expectRefusal(store.revokeToken({ account: null, tokenID, time }), 'unknown_token');
      await expectRefusal(store.revokeToken({ account, tokenID: operator.tokenID, time }), 'unknown_token');
      await store.revokeToken({ account: null, tokenID: operator.tokenID, time });
      expect(await store.findAccess(operator.hash)).toBeUndefined();
    });

    test('reflect changes to their account immediately', async () => {
      const { store, account, change } = await newSite({ accountOrigin: ['https://old.example'] });
      const token = newToken('browser');
      await store.createToken({ ...token, account });
      await store.findAccess(token.hash);
      const changed = {
        accountOrigin: ['https://new.example'],
        accountTimezone: 'Europe/Oslo',
        enrich: false,
        defaultProfileID: 'customer',
        userIDIsEmailaddress: true,
      };
      await change(changed);
      expect(await store.findAccess(token.hash)).toMatchObject(changed);
    });

    test('are listed by their account, with their text only for browser tokens', async () => {
      const { store, account, server, browser, time } = await newSite();
      await store.revokeToken({ account, tokenID: server.tokenID, time });
      const { tokens } = await store.getAccount(account);
      expect(tokens).toEqual([
        expect.objectContaining({ tokenID: server.tokenID, kind: 'server', text: null, revokedTime: time }),
        expect.objectContaining({
          tokenID: browser.tokenID,
          kind: 'browser',
          text: expect.any(String),
          revokedTime: null,
        }),
      ]);
    });

    test('expire exactly at their expiry time', async () => {
      const { store, account, time } = await newSite();
      const token = newToken('viewer', { expiresTime: time + 10 });
      await store.createToken({ ...token, account });
      // Repeats the lookup, which the cache then serves.
      for (const _ of ['read', 'cached']) {
        expect(await store.findAccess(token.hash, time + 9)).toMatchObject({ tokenID: token.tokenID });
        expect(await store.findAccess(token.hash, time + 10)).toBeUndefined();
      }
    });

    test('provide no proof key once they have expired', async () => {
      const { store, account, server, time } = await newSite();
      await store.revokeToken({ account, tokenID: server.tokenID, time });
      await store.createToken({ ...newToken('server', { expiresTime: time + 10 }), account });
      expect(await store.findProofKeys({ account, time: time + 9 })).toHaveLength(1);
      expect(await store.findProofKeys({ account, time: time + 10 })).toEqual([]);
    });

    test('are listed with their creator, expiry and last use', async () => {
      const { store, account, accountUUID, server, time } = await newSite();
      const token = newToken('viewer', { createdBy: server.token, expiresTime: time + 10, tokenName: 'reports' });
      await store.createToken({ ...token, account });
      const { token: number } = (await store.findAccess(token.hash, time)) as Access;
      await store.recordTokenUses({ uses: [[number, time]] });
      await store.recordTokenUses({ uses: [[number, time - 1]] });
      const expected = {
        tokenID: token.tokenID,
        kind: 'viewer',
        tokenName: 'reports',
        text: null,
        createdTime: token.time,
        createdBy: server.tokenID,
        expiresTime: time + 10,
        session: false,
        memberID: null,
        lastUsedTime: time,
        revokedTime: null,
      };
      expect((await store.getAccount(account)).tokens).toContainEqual(expected);
      const allTokens = await store.listTokens({ account });
      expect(allTokens.at(-1)).toEqual({ ...expected, token: number, accountUUID, accountName: 'A shop' });
      expect(allTokens[0]).toMatchObject({ createdBy: null, expiresTime: null, lastUsedTime: null });
    });

    test('are listed for all accounts with operator tokens, which no single account lists', async () => {
      const { store, account } = await newSite();
      const operator = newToken('operator');
      await store.createToken({ ...operator, account: null });
      const idsOf = async (of: { account?: number }) => (await store.listTokens(of)).map(({ tokenID }) => tokenID);
      expect(await idsOf({})).toContain(operator.tokenID);
      expect(await idsOf({})).toEqual(expect.arrayContaining(await idsOf({ account })));
      expect(await idsOf({ account })).not.toContain(operator.tokenID);
    });

    test('keep working when their use is recorded', async () => {
      const { store, server, time } = await newSite();
      await store.recordTokenUses({ uses: [[server.token, time]] });
      await store.recordTokenUses({ uses: [] });
      expect(await server.log({})).toEqual([{ kept: true }]);
    });

    test('are revoked with all their descendants, and no other tokens', async () => {
      const { store, account, server, browser, time } = await newSite();
      let creator = server.token;
      const descendantIDs: string[] = [];
      for (let depth = 0; depth < 20; depth += 1) {
        const token = newToken('server', { createdBy: creator, time });
        await store.createToken({ ...token, account });
        descendantIDs.push(token.tokenID);
        creator = ((await store.findAccess(token.hash, time)) as Access).token;
      }
      // Revokes the token again: the descendants of a token that is already revoked are revoked too.
      await store.revokeToken({ account, tokenID: descendantIDs[9] as string, time });
      const revoked = await store.revokeToken({ account, tokenID: server.tokenID, descendants: true, time: time + 1 });
      expect(revoked.revokedTime).toBe(time + 1);
      expect([...revoked.descendants].sort()).toEqual(descendantIDs.filter((_, nth) => nth !== 9).sort());
      const live = (await store.listTokens({ account })).filter(({ revokedTime }) => revokedTime === null);
      expect(live.map(({ tokenID }) => tokenID)).toEqual([browser.tokenID]);
    });

    test('are revoked, in any account, together with the operator token that created them', async () => {
      const { store, account, time } = await newSite();
      const operator = newToken('operator');
      await store.createToken({ ...operator, account: null });
      const { token: createdBy } = (await store.findAccess(operator.hash)) as Access;
      const token = newToken('server', { createdBy, time });
      await store.createToken({ ...token, account });
      const request = { account: null, tokenID: operator.tokenID, descendants: true, time };
      expect((await store.revokeToken(request)).descendants).toEqual([token.tokenID]);
      expect(await store.findAccess(token.hash)).toBeUndefined();
    });

    test('are not created by a revoked or expired token', async () => {
      const { store, account, server, time } = await newSite();
      const creator = newToken('server', { expiresTime: time + 10 });
      await store.createToken({ ...creator, account });
      const { token: expiring } = (await store.findAccess(creator.hash, time)) as Access;
      await store.revokeToken({ account, tokenID: server.tokenID, time });
      const late = newToken('server', { createdBy: expiring, time: time + 10 });
      for (const token of [newToken('server', { createdBy: server.token, time }), late]) {
        await expectRefusal(store.createToken({ ...token, account }), 'invalid_token', 'tokenUUID');
        expect(await store.findAccess(token.hash)).toBeUndefined();
      }
    });

    test('leave no live descendant, even if it is created during their revocation', async () => {
      const { store, account, server, time } = await newSite();
      const tokens = Array.from({ length: 20 }, () => newToken('server', { createdBy: server.token, time }));
      const creations = tokens.map((token) => store.createToken({ ...token, account }).catch(() => {}));
      await store.revokeToken({ account, tokenID: server.tokenID, descendants: true, time });
      await Promise.all(creations);
      const live = (await store.listTokens({ account })).filter(({ revokedTime }) => revokedTime === null);
      expect(live.map(({ kind }) => kind)).toEqual(['browser']);
    });

    test('that are sessions expire with their creator, provide no proof key, and are listed as sessions', async () => {
      const { store, account, server, time } = await newSite();
      const creator = newToken('server');
      await store.createToken({ ...creator, account });
      const { token: createdBy } = (await store.findAccess(creator.hash, time)) as Access;
      const sessionOf = async (fields: Partial<NewToken>) => {
        const token = newToken('server', { createdBy, expiresTime: time + 200, time, ...fields });
        await store.createToken({ ...token, account, session: true });
        return token;
      };
      const isLive = async ({ hash }: NewToken, at: number) => (await store.findAccess(hash, at)) !== undefined;
      const [first, second] = [await sessionOf({}), await sessionOf({ expiresTime: time + 50 })];
      const withoutCreator = await sessionOf({ createdBy: null });
      expect(await isLive(first, time + 199)).toBe(true);
      expect(await isLive(first, time + 200)).toBe(false);
      expect(await isLive(second, time + 49)).toBe(true);
      expect(await isLive(second, time + 50)).toBe(false);
      expect(await isLive(withoutCreator, time + 199)).toBe(true);
      expect(await isLive(withoutCreator, time + 200)).toBe(false);
      expect(await store.findProofKeys({ account, time })).toHaveLength(2);
      const allTokens = await store.listTokens({ account });
      expect(allTokens.filter(({ session }) => session).map(({ tokenID }) => tokenID)).toEqual(
        [first, second, withoutCreator].map(({ tokenID }) => tokenID),
      );
      await store.revokeToken({ account, tokenID: server.tokenID, time });
      expect(await isLive(first, time)).toBe(true);
      const { token: session } = (await store.findAccess(first.hash, time)) as Access;
      await store.revokeToken({ account, tokenID: creator.tokenID, time });
      expect(await Promise.all([first, second, withoutCreator].map((each) => isLive(each, time)))).toEqual([
        false,
        false,
        true,
      ]);
      const child = newToken('server', { createdBy: session, time });
      await expectRefusal(store.createToken({ ...child, account }), 'invalid_token', 'tokenUUID');
    });

    test('provide proof keys while they are live server tokens', async () => {
      const { store, account, server, time } = await newSite();
      await newSite();
      const token = newToken('server');
      await store.createToken({ ...token, account });
      const keys = async () =>
        (await store.findProofKeys({ account, time })).map((key) => Buffer.from(key).toString('hex')).sort();
      expect(await keys()).toHaveLength(2);
      await store.revokeToken({ account, tokenID: server.tokenID, time });
      expect(await keys()).toEqual([token.hash]);
      await store.revokeToken({ account, tokenID: token.tokenID, time });
      expect(await keys()).toEqual([]);
    });
  });
};
