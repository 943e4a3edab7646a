import { describe, expect, test } from 'vitest';
import { expectRefusal, newToken } from '../fixtures/store.ts';
import type { NewSite } from './sites.ts';

export const describeTokens = (newSite: NewSite): void => {
  describe('tokens', () => {
    test('act for their account, as their kind', async () => {
      const { store, account } = await newSite({
        accountOrigin: ['https://shop.example'],
        accountTimezone: 'Asia/Tokyo',
      });
      for (const kind of ['browser', 'server'] as const) {
        const token = newToken(kind);
        await store.createToken({ ...token, account });
        expect(await store.findAccess(token.hash)).toEqual({
          token: expect.any(Number),
          tokenID: token.tokenID,
          kind,
          account,
          accountOrigin: ['https://shop.example'],
          accountTimezone: 'Asia/Tokyo',
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
      expect(await store.revokeToken({ account, tokenID: token.tokenID, time })).toBe(time);
      expect(await store.findAccess(token.hash)).toBeUndefined();
      expect(await store.findAccess(other.hash)).toBeDefined();
    });

    test('are revoked once: asked again, the first time is answered', async () => {
      const { store, account, browser, time } = await newSite();
      const { tokenID } = browser;
      await store.revokeToken({ account, tokenID, time });
      expect(await store.revokeToken({ account, tokenID, time: time + 1 })).toBe(time);
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
      expect(await store.revokeToken({ account: null, tokenID: operator.tokenID, time })).toBe(time);
      expect(await store.findAccess(operator.hash)).toBeUndefined();
    });

    test('see at once what their account changes', async () => {
      const { store, account, change } = await newSite({ accountOrigin: ['https://old.example'] });
      const token = newToken('browser');
      await store.createToken({ ...token, account });
      await store.findAccess(token.hash);
      await change({ accountOrigin: ['https://new.example'], accountTimezone: 'Europe/Oslo' });
      expect(await store.findAccess(token.hash)).toMatchObject({
        accountOrigin: ['https://new.example'],
        accountTimezone: 'Europe/Oslo',
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

    test('make proofs while they are an account’s live server tokens', async () => {
      const { store, account, server, time } = await newSite();
      await newSite();
      const token = newToken('server');
      await store.createToken({ ...token, account });
      const keys = async () =>
        (await store.findProofKeys(account)).map((key) => Buffer.from(key).toString('hex')).sort();
      expect(await keys()).toHaveLength(2);
      await store.revokeToken({ account, tokenID: server.tokenID, time });
      expect(await keys()).toEqual([token.hash]);
      await store.revokeToken({ account, tokenID: token.tokenID, time });
      expect(await keys()).toEqual([]);
    });
  });
};
