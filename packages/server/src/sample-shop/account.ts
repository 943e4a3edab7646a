/** The sample shop's account, identified by its accountUUID's prefix, which no request can choose. */
import { setTimeout as wait } from 'node:timers/promises';
import { nanoid } from 'nanoid';
import { newAccount } from '../ingest/new-account.ts';
import { createTokenText, hashToken, newToken } from '../ingest/token.ts';
import type { Access, AccountSummary, Store } from '../store/store.ts';
import { toAccountInput } from './shop.ts';

const prefix = 'sample-shop-';
export const isSampleShop = ({ accountUUID }: Pick<AccountSummary, 'accountUUID'>): boolean =>
  accountUUID.startsWith(prefix);

/** Returns the sample shop's account, if the database has one. */
export const findSampleShop = async (store: Pick<Store, 'listAccounts'>): Promise<AccountSummary | undefined> =>
  (await store.listAccounts()).find(isSampleShop);

/** Creates the account, including a viewer token and a revoked token. */
export const createSampleAccount = async (store: Store, time: number) => {
  const accountUUID = prefix + nanoid();
  const created = newAccount(toAccountInput(), [], { time, createdBy: null });
  const { browserTokenUUID, serverTokenUUID } = created;
  const toToken = (kind: 'viewer' | 'browser', tokenName: string) =>
    newToken(kind, { text: createTokenText(kind), tokenID: nanoid(), tokenName, time });
  const revoked = toToken('browser', 'The shop before');
  const tokens = [...created.account.tokens, toToken('viewer', 'Reports on the wall'), revoked];
  await store.createAccount({ ...created.account, accountUUID, tokens });
  const { account, token: browser } = (await store.findAccess(hashToken(browserTokenUUID))) as AccountAccess;
  const { token: server } = (await store.findAccess(hashToken(serverTokenUUID))) as AccountAccess;
  await store.revokeToken({ account, tokenID: revoked.tokenID, time: time + 1 });
  return { account, accountUUID, browserTokenUUID, serverTokenUUID, tokens: { browser, server } };
};
type AccountAccess = Access & { readonly account: number };
export type SampleAccount = Awaited<ReturnType<typeof createSampleAccount>>;

/**
 * Whether the shop is completely filled and not being removed: segments are stored last, and tokens are revoked first.
 */
export const isComplete = async (
  store: Pick<Store, 'listSegments' | 'listTokens'>,
  account: number,
): Promise<boolean> =>
  (await store.listTokens({ account })).some(({ revokedTime }) => revokedTime === null) &&
  (await store.listSegments({ account })).length > 0;

/** The number of rows deleted per step. A step delays requests by tens of milliseconds. */
const rowsPerStep = 2_000;

/** Deletes the sample shop, complete or not. Returns undefined if there is none. */
export const removeSampleShop = async (
  store: Pick<Store, 'listAccounts' | 'deleteAccount'>,
  { onProgress = () => {} }: { readonly onProgress?: (deletedEvents: number) => void } = {},
): Promise<{ readonly accountUUID: string; readonly deletedEvents: number } | undefined> => {
  const shop = await findSampleShop(store);
  if (!shop) return undefined;
  for (let deletedEvents = 0; ; ) {
    const step = await store.deleteAccount({ account: shop.account, limit: rowsPerStep, time: Date.now() });
    deletedEvents += step.deletedEvents;
    onProgress(deletedEvents);
    if (step.isGone) return { accountUUID: shop.accountUUID, deletedEvents };
    if (step.pauseMilliseconds > 0) await wait(step.pauseMilliseconds);
  }
};
