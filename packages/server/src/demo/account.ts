import { createAccountInput } from '@firsthand/contract/account/account';
import { nanoid } from 'nanoid';
import { newAccount } from '../ingest/new-account.ts';
import { createTokenText, hashToken, isLive, newToken } from '../ingest/token.ts';
import { isSampleShop } from '../sample-shop/account.ts';
import type { Access, Store, StoreCaller } from '../store/store.ts';

/** The account's name in earlier releases. */
const earlierName = 'Demo shop';
export const demoAccountName = 'My site';

/** The input of createAccount, with catalogues for the values that the page sends. */
const createInput = () =>
  createAccountInput.parse({
    accountName: demoAccountName,
    // Lets pages add IDs to the catalogues, so that users can try out new IDs.
    browserCatalogue: true,
    profile: [{ profileID: 'customer', profileName: 'Customer' }],
    tag: [{ tagID: 'newsletter', tagName: 'Newsletter' }],
    attr: [
      { attrID: 'page', attrName: 'Page', attrType: 'text' },
      { attrID: 'product', attrName: 'Product', attrType: 'text' },
      { attrID: 'price', attrName: 'Price', attrType: 'currency' },
    ],
    event: [
      { eventID: 1, eventName: 'Page viewed' },
      { eventID: 2, eventName: 'Product viewed' },
      { eventID: 3, eventName: 'Added to basket' },
      { eventID: 4, eventName: 'Newsletter joined' },
    ],
  });

export interface DemoAccount {
  readonly browserToken: string;
  /** Set only when the account has just been created. */
  readonly serverToken: string | undefined;
  /** The caller for the demo's reads, with the rights of a server token. */
  readonly caller: StoreCaller;
}

/**
 * Finds the demo's account by name, or creates it if the database has no account except the sample shop. Returns
 * undefined if there are only other accounts, which the demo must not use.
 */
export const openDemoAccount = async (store: Store, time: number): Promise<DemoAccount | undefined> => {
  const accounts = await store.listAccounts();
  const existing = [demoAccountName, earlierName]
    .map((name) => accounts.find(({ accountName }) => accountName === name))
    .find(Boolean);
  if (!existing && !accounts.every(isSampleShop)) return undefined;
  const { browserToken, serverToken } = existing
    ? { browserToken: await openBrowserToken(store, existing.account, time), serverToken: undefined }
    : await createDemoAccount(store, time);
  // The cast is safe: the token is live and belongs to an account.
  const { account, token } = (await store.findAccess(hashToken(browserToken))) as Access & { account: number };
  return { browserToken, serverToken, caller: { account, token, browser: false } };
};

const createDemoAccount = async (store: Store, time: number) => {
  const { account, browserTokenUUID, serverTokenUUID } = newAccount(createInput(), [], { time, createdBy: null });
  await store.createAccount(account);
  return { browserToken: browserTokenUUID, serverToken: serverTokenUUID };
};

/** Returns the account's first live browser token, or creates one. */
const openBrowserToken = async (store: Store, account: number, time: number): Promise<string> => {
  const { tokens } = await store.getAccount(account);
  const live = tokens.find((token) => token.kind === 'browser' && isLive(token, time));
  if (live?.text) return live.text;
  const text = createTokenText('browser');
  await store.createToken({
    ...newToken('browser', { text, tokenID: nanoid(), tokenName: 'demo page', time }),
    account,
  });
  return text;
};
