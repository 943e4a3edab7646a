/** The account of the sample shop. Its accountUUID says what it is: no request chooses one, so no other account has such. */
import { nanoid } from 'nanoid';
import { newAccount } from '../ingest/new-account.ts';
import { createTokenText, hashToken, newToken } from '../ingest/token.ts';
import type { Access, AccountSummary, Store } from '../store/store.ts';
import { definition } from './shop.ts';

const prefix = 'sample-shop-';

export const isSampleShop = ({ accountUUID }: Pick<AccountSummary, 'accountUUID'>): boolean =>
  accountUUID.startsWith(prefix);

/** The account of the sample shop, if the database has one. */
export const findSampleShop = async (store: Pick<Store, 'listAccounts'>): Promise<AccountSummary | undefined> =>
  (await store.listAccounts()).find(isSampleShop);

/** Whether the sample shop was filled to its end, and is not being removed: it has segments last, and its tokens are revoked first. */
export const isWhole = async (store: Pick<Store, 'listSegments' | 'listTokens'>, account: number): Promise<boolean> => {
  const tokens = await store.listTokens({ account });
  if (tokens.every(({ revokedTime }) => revokedTime !== null)) return false;
  return (await store.listSegments({ account })).length > 0;
};

export interface SampleAccount {
  readonly account: number;
  readonly accountUUID: string;
  readonly browserTokenUUID: string;
  readonly serverTokenUUID: string;
  /** The numbers of the two tokens. */
  readonly tokens: { readonly browser: number; readonly server: number };
}

/** Creates the account. It also gets a token that only reads, and one that was revoked. */
export const createSampleAccount = async (
  store: Pick<Store, 'createAccount' | 'createToken' | 'revokeToken' | 'findAccess'>,
  time: number,
): Promise<SampleAccount> => {
  const accountUUID = prefix + nanoid();
  const { account: made, browserTokenUUID, serverTokenUUID } = newAccount(definition(), [], { time, createdBy: null });
  await store.createAccount({ ...made, accountUUID });
  const accessOf = async (text: string) => (await store.findAccess(hashToken(text))) as Access & { account: number };
  const { account, token: server } = await accessOf(serverTokenUUID);
  const { token: browser } = await accessOf(browserTokenUUID);
  const addToken = async (kind: 'viewer' | 'browser', tokenName: string) => {
    const token = newToken(kind, { text: createTokenText(kind), tokenID: nanoid(), tokenName, time });
    await store.createToken({ ...token, account });
    return token.tokenID;
  };
  await addToken('viewer', 'Reports on the wall');
  const tokenID = await addToken('browser', 'The shop before');
  await store.revokeToken({ account, tokenID, time: time + 1 });
  return { account, accountUUID, browserTokenUUID, serverTokenUUID, tokens: { browser, server } };
};
