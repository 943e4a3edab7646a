import { createAccountInput } from '@firsthand/contract/account/account';
import { nanoid } from 'nanoid';
import { newAccount } from '../ingest/new-account.ts';
import { createTokenText, hashToken, isLive, newToken } from '../ingest/token.ts';
import { isSampleShop } from '../sample-shop/account.ts';
import type { Access, Asker, Store } from '../store/store.ts';

/** Earlier releases named it "Demo shop". */
const earlierName = 'Demo shop';
export const demoAccountName = 'My site';

/** The definition of the demo's account: its catalogues hold what the page logs and fills in. */
const definition = () =>
  createAccountInput.parse({
    accountName: demoAccountName,
    // Adds the IDs that pages use to the catalogues, so that users can try out new ones.
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
  /** Present only in the start that creates the account. */
  readonly serverToken: string | undefined;
  /** The caller of the demo's reads, with the rights of a server token. */
  readonly asker: Asker;
}

/**
 * The demo's account: found by its name, or created if the database has no account but that of the sample shop. Undefined if it has
 * only others, because the demo must not use them.
 */
export const openDemoAccount = async (store: Store, time: number): Promise<DemoAccount | undefined> => {
  const accounts = await store.listAccounts();
  const found = [demoAccountName, earlierName]
    .map((name) => accounts.find(({ accountName }) => accountName === name))
    .find(Boolean);
  if (!found && !accounts.every(isSampleShop)) return undefined;
  const { browserToken, serverToken } = found
    ? { browserToken: await openBrowserToken(store, found.account, time), serverToken: undefined }
    : await createDemoAccount(store, time);
  // The token was just found or created, and it belongs to an account.
  const { account, token } = (await store.findAccess(hashToken(browserToken))) as Access & { account: number };
  return { browserToken, serverToken, asker: { account, token, browser: false } };
};

const createDemoAccount = async (store: Store, time: number) => {
  const { account, browserTokenUUID, serverTokenUUID } = newAccount(definition(), [], { time, createdBy: null });
  await store.createAccount(account);
  return { browserToken: browserTokenUUID, serverToken: serverTokenUUID };
};

/** The account's first live browser token, or a new one if there is none. */
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
