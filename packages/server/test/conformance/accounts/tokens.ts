import { accountTokenKinds } from '@firsthand/contract/account/tokens';
import { describe, expect, test } from 'vitest';
import type { Access, NewToken } from '../../../src/store/store.ts';
import { expectRefusal, newToken } from '../../fixtures/store.ts';
import type { NewSite } from '../sites.ts';

export const describeTokens = (newSite: NewSite): void => {
  describe('tokens', () => {
    test('act for their account, as their kind', async () => {
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
        });
      }
    });

    test('are found by the hash of their text and by nothing else', async () => {
      const { store, account } = await newSite();
      const token = newToken('browser');
      await store.createToken({ ...token, account });
      for (const other of ['', token.text as string, token.tokenID, token.hash.toUpperCase()]) {
        expect(await store.findAccess(other)).toBeUndefined();
      }
    });

    test('can’t be made a second time, revoked or not', async () => {
      const { store, account, time } = await newSite();
      const token = newToken('server');
      await store.createToken({ ...token, account });
      await store.revokeToken({ account, tokenID: token.tokenID, time });
      await expectRefusal(store.createToken({ ...token, tokenID: `${token.tokenID}-2`, account }), 'invalid_token');
    });

    test('of operators act for no account', async () => {
      const { store } = await newSite();
      const token = newToken('operator');
      await store.createToken({ ...token, account: null });
      expect(await store.findAccess(token.hash)).toMatchObject({ kind: 'operator', account: null, accountOrigin: [] });
    });

    test('stop at once when they are revoked, and others don’t', async () => {
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

    test('are revoked once: asked again, the first time is answered', async () => {
      const { store, account, browser, time } = await newSite();
      const { tokenID } = browser;
      await store.revokeToken({ account, tokenID, time });
      expect((await store.revokeToken({ account, tokenID, time: time + 1 })).revokedTime).toBe(time);
    });

    test('are revoked by their own account, or with none when they are an operator’s', async () => {
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

    test('see at once what their account changes', async () => {
      const { store, account, change } = await newSite({ accountOrigin: ['https://old.example'] });
      const token = newToken('browser');
      await store.createToken({ ...token, account });
      await store.findAccess(token.hash);
      await change({ accountOrigin: ['https://new.example'], accountTimezone: 'Europe/Oslo', enrich: false });
      expect(await store.findAccess(token.hash)).toMatchObject({
        accountOrigin: ['https://new.example'],
        accountTimezone: 'Europe/Oslo',
        enrich: false,
      });
    });

    test('are listed by their account, a text with browser tokens only', async () => {
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

    test('expire at their time, and not before', async () => {
      const { store, account, time } = await newSite();
      const token = newToken('viewer', { expiresTime: time + 10 });
      await store.createToken({ ...token, account });
      // Twice: the second is answered from memory.
      for (const _ of ['read', 'remembered']) {
        expect(await store.findAccess(token.hash, time + 9)).toMatchObject({ tokenID: token.tokenID });
        expect(await store.findAccess(token.hash, time + 10)).toBeUndefined();
      }
    });

    test('make no proofs once they have expired', async () => {
      const { store, account, server, time } = await newSite();
      await store.revokeToken({ account, tokenID: server.tokenID, time });
      await store.createToken({ ...newToken('server', { expiresTime: time + 10 }), account });
      expect(await store.findProofKeys({ account, time: time + 9 })).toHaveLength(1);
      expect(await store.findProofKeys({ account, time: time + 10 })).toEqual([]);
    });

    test('are listed with what made them, when they expire and the hour in which they were used', async () => {
      const { store, account, accountUUID, server, time } = await newSite();
      const token = newToken('viewer', { createdBy: server.token, expiresTime: time + 10, tokenName: 'reports' });
      await store.createToken({ ...token, account });
      const { token: number } = (await store.findAccess(token.hash, time)) as Access;
      await store.noteTokenUses({ uses: [[number, time]] });
      await store.noteTokenUses({ uses: [[number, time - 1]] });
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
      const listed = await store.listTokens({ account });
      expect(listed.at(-1)).toEqual({ ...expected, token: number, accountUUID, accountName: 'A shop' });
      expect(listed[0]).toMatchObject({ createdBy: null, expiresTime: null, lastUsedTime: null });
    });

    test('of operators are listed with those of all accounts, and not with those of one', async () => {
      const { store, account } = await newSite();
      const operator = newToken('operator');
      await store.createToken({ ...operator, account: null });
      const idsOf = async (of: { account?: number }) => (await store.listTokens(of)).map(({ tokenID }) => tokenID);
      expect(await idsOf({})).toContain(operator.tokenID);
      expect(await idsOf({})).toEqual(expect.arrayContaining(await idsOf({ account })));
      expect(await idsOf({ account })).not.toContain(operator.tokenID);
    });

    test('go on as they are when their use is noted', async () => {
      const { store, server, time } = await newSite();
      await store.noteTokenUses({ uses: [[server.token, time]] });
      await store.noteTokenUses({ uses: [] });
      expect(await server.log({})).toEqual([{ kept: true }]);
    });

    test('are revoked with all that they made, however far down, and nothing else', async () => {
      const { store, account, server, browser, time } = await newSite();
      let maker = server.token;
      const made: string[] = [];
      for (let depth = 0; depth < 20; depth += 1) {
        const token = newToken('server', { createdBy: maker, time });
        await store.createToken({ ...token, account });
        made.push(token.tokenID);
        maker = ((await store.findAccess(token.hash, time)) as Access).token;
      }
      // What a revoked one made goes as well.
      await store.revokeToken({ account, tokenID: made[9] as string, time });
      const revoked = await store.revokeToken({ account, tokenID: server.tokenID, descendants: true, time: time + 1 });
      expect(revoked.revokedTime).toBe(time + 1);
      expect([...revoked.descendants].sort()).toEqual(made.filter((_, nth) => nth !== 9).sort());
      const live = (await store.listTokens({ account })).filter(({ revokedTime }) => revokedTime === null);
      expect(live.map(({ tokenID }) => tokenID)).toEqual([browser.tokenID]);
    });

    test('of operators take with them what they made in any account', async () => {
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

    test('are not made by one that is revoked or has expired', async () => {
      const { store, account, server, time } = await newSite();
      const maker = newToken('server', { expiresTime: time + 10 });
      await store.createToken({ ...maker, account });
      const { token: expiring } = (await store.findAccess(maker.hash, time)) as Access;
      await store.revokeToken({ account, tokenID: server.tokenID, time });
      const late = newToken('server', { createdBy: expiring, time: time + 10 });
      for (const token of [newToken('server', { createdBy: server.token, time }), late]) {
        await expectRefusal(store.createToken({ ...token, account }), 'invalid_token', 'tokenUUID');
        expect(await store.findAccess(token.hash)).toBeUndefined();
      }
    });

    test('leave none behind that was being made while its maker was revoked', async () => {
      const { store, account, server, time } = await newSite();
      const tokens = Array.from({ length: 20 }, () => newToken('server', { createdBy: server.token, time }));
      const making = tokens.map((token) => store.createToken({ ...token, account }).catch(() => {}));
      await store.revokeToken({ account, tokenID: server.tokenID, descendants: true, time });
      await Promise.all(making);
      const live = (await store.listTokens({ account })).filter(({ revokedTime }) => revokedTime === null);
      expect(live.map(({ kind }) => kind)).toEqual(['browser']);
    });

    test('of sessions end when their maker is revoked, make no proofs, and are listed as sessions', async () => {
      const { store, account, server, time } = await newSite();
      const maker = newToken('server');
      await store.createToken({ ...maker, account });
      const { token: createdBy } = (await store.findAccess(maker.hash, time)) as Access;
      const sessionOf = async (fields: Partial<NewToken>) => {
        const token = newToken('server', { createdBy, expiresTime: time + 200, time, ...fields });
        await store.createToken({ ...token, account, session: true });
        return token;
      };
      const lives = async ({ hash }: NewToken, at: number) => (await store.findAccess(hash, at)) !== undefined;
      const [first, second] = [await sessionOf({}), await sessionOf({ expiresTime: time + 50 })];
      const ofNobody = await sessionOf({ createdBy: null });
      expect(await lives(first, time + 199)).toBe(true);
      expect(await lives(first, time + 200)).toBe(false);
      expect(await lives(second, time + 49)).toBe(true);
      expect(await lives(second, time + 50)).toBe(false);
      expect(await lives(ofNobody, time + 199)).toBe(true);
      expect(await lives(ofNobody, time + 200)).toBe(false);
      expect(await store.findProofKeys({ account, time })).toHaveLength(2);
      const listed = await store.listTokens({ account });
      expect(listed.filter(({ session }) => session).map(({ tokenID }) => tokenID)).toEqual(
        [first, second, ofNobody].map(({ tokenID }) => tokenID),
      );
      await store.revokeToken({ account, tokenID: server.tokenID, time });
      expect(await lives(first, time)).toBe(true);
      const { token: session } = (await store.findAccess(first.hash, time)) as Access;
      await store.revokeToken({ account, tokenID: maker.tokenID, time });
      expect(await Promise.all([first, second, ofNobody].map((each) => lives(each, time)))).toEqual([
        false,
        false,
        true,
      ]);
      const made = newToken('server', { createdBy: session, time });
      await expectRefusal(store.createToken({ ...made, account }), 'invalid_token', 'tokenUUID');
    });

    test('make proofs while they are an account’s live server tokens', async () => {
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
