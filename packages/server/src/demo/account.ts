import { createAccountInput } from '@firsthand/contract/account';
import { nanoid } from 'nanoid';
import { newAccount } from '../ingest/new-account.ts';
import { createTokenText, hashToken, newToken } from '../ingest/token.ts';
import { isLive } from '../store/live-token.ts';
import type { Access, Asker, Store } from '../store/store.ts';

const accountName = 'Demo shop';

/** With what the page logs and fills in. */
const definition = () =>
  createAccountInput.parse({
    accountName,
    // For trying things out: what the page makes up is listed.
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

interface DemoAccount {
  readonly browserToken: string;
  /** Known only to the start that makes the account. */
  readonly serverToken: string | undefined;
  /** Reads like a server token of the account. */
  readonly asker: Asker;
}

type AccountStore = Pick<Store, 'listAccounts' | 'getAccount' | 'createAccount' | 'createToken' | 'findAccess'>;

/**
 * The demo's account: found by its name, or made when there is no account at all. Undefined when there are only others:
 * visitors of a demo have no business in them.
 */
export const openDemoAccount = async (store: AccountStore, time: number): Promise<DemoAccount | undefined> => {
  const accounts = await store.listAccounts();
  if (accounts.length === 0) {
    const { account, browserTokenUUID, serverTokenUUID } = newAccount(definition(), [], { time, createdBy: null });
    await store.createAccount(account);
    return withAsker(store, browserTokenUUID, serverTokenUUID);
  }
  const found = accounts.find((account) => account.accountName === accountName);
  return found && withAsker(store, await openBrowserToken(store, found.account, time), undefined);
};

/** The account's first browser token that is live; a new one when all were revoked. */
const openBrowserToken = async (store: AccountStore, account: number, time: number): Promise<string> => {
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

const withAsker = async (
  store: AccountStore,
  browserToken: string,
  serverToken: string | undefined,
): Promise<DemoAccount> => {
  // Found or made just now, and of an account.
  const { account, token } = (await store.findAccess(hashToken(browserToken))) as Access & { account: number };
  return { browserToken, serverToken, asker: { account, token, browser: false } };
};
