import type { TokenKind } from '@firsthand/contract/account/tokens';
import type { OutputOf } from '@firsthand/contract/operations';
import { nanoid } from 'nanoid';
import { createTokenText, newToken } from '../../../ingest/token.ts';
import { Refusal } from '../../../shared/refusal.ts';
import type { Store, TokenDetail } from '../../../store/store.ts';
import { actorOf, type Caller, type Handlers, namedAccount } from '../../access/caller.ts';
import { isoTime } from '../../responses/iso-time.ts';

type AccountToken = NonNullable<OutputOf<'getAccount'>['account']['token']>[number];

/**
 * Returns a token in the form that responses use. The command line also lists operator tokens, which belong to no
 * account.
 */
export const tokenResponse = <Kind extends TokenKind = AccountToken['tokenKind']>(token: TokenDetail) => ({
  tokenID: token.tokenID,
  tokenKind: token.kind as Kind,
  tokenName: token.tokenName,
  ...(token.text !== null && { tokenUUID: token.text }),
  createdTime: isoTime(token.createdTime),
  createdBy: token.createdBy ?? '',
  ...(token.expiresTime !== null && { expiresTime: isoTime(token.expiresTime) }),
  ...(token.memberID !== null && { memberID: token.memberID }),
  ...(token.session && { session: true as const }),
  ...(token.lastUsedTime !== null && { lastUsedTime: isoTime(token.lastUsedTime) }),
  ...(token.revokedTime !== null && { revokedTime: isoTime(token.revokedTime) }),
});

/**
 * Creates a token and returns its text, which is not stored if the token is secret. Rejects with a Refusal if it has
 * already expired.
 */
export const issueToken = async (
  store: Pick<Store, 'createToken'>,
  caller: Caller,
  token: { account: number | null; kind: TokenKind; tokenName?: string | undefined; expiresTime?: number | undefined },
) => {
  const { account, kind, tokenName = '', expiresTime } = token;
  if (expiresTime !== undefined && expiresTime <= caller.time) {
    throw new Refusal('invalid_field', { field: 'expiresTime', message: '`expiresTime` must be in the future' });
  }
  const text = createTokenText(kind);
  const tokenID = nanoid();
  const { time } = caller;
  const created = newToken(kind, { text, tokenID, tokenName, time, createdBy: actorOf(caller), expiresTime });
  await store.createToken({ ...created, account });
  return {
    tokenID,
    tokenKind: kind,
    tokenUUID: text,
    ...(expiresTime !== undefined && { expiresTime: isoTime(expiresTime) }),
  };
};

export const createTokens = (store: Store): Handlers<'createToken' | 'revokeToken'> => ({
  createToken: async ({ accountUUID, tokenKind, tokenName, expiresTime }, caller) => {
    const account = await namedAccount(store, caller, accountUUID);
    return issueToken(store, caller, { account, kind: tokenKind, tokenName, expiresTime });
  },

  revokeToken: async ({ accountUUID, tokenID, descendants }, caller) => {
    const account = await namedAccount(store, caller, accountUUID);
    const revoked = await store.revokeToken({ account, tokenID, descendants, by: actorOf(caller), time: caller.time });
    return {
      tokenID,
      revokedTime: isoTime(revoked.revokedTime),
      ...(descendants && { descendants: revoked.descendants.length }),
    };
  },
});
