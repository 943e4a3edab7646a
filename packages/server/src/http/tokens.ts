import { nanoid } from 'nanoid';
import { createTokenText, newToken } from '../ingest/token.ts';
import type { Store } from '../store/store.ts';
import type { AnsweringAll } from './caller.ts';
import { isoTime } from './iso-time.ts';
import { namedAccount } from './named-account.ts';

export const createTokens = (store: Store): AnsweringAll<'createToken' | 'revokeToken'> => ({
  createToken: async ({ accountUUID, tokenKind, tokenName = '' }, caller) => {
    const account = await namedAccount(store, caller, accountUUID);
    const tokenUUID = createTokenText(tokenKind);
    const token = newToken(tokenKind, { text: tokenUUID, tokenID: nanoid(), tokenName, time: caller.time });
    await store.createToken({ ...token, account });
    return { tokenID: token.tokenID, tokenKind, tokenUUID };
  },

  revokeToken: async ({ accountUUID, tokenID }, caller) => {
    const account = await namedAccount(store, caller, accountUUID);
    return { tokenID, revokedTime: isoTime(await store.revokeToken({ account, tokenID, time: caller.time })) };
  },
});
