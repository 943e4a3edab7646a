import { limits } from '@firsthand/contract/limits';
import type { AnswerOf, InputOf } from '@firsthand/contract/operations';
import { cataloguesOf } from '../ingest/catalogues.ts';
import { canonicalOrigins, newAccount } from '../ingest/new-account.ts';
import type { AccountDetail, Store } from '../store/store.ts';
import { checkAccountContacts } from './account-contacts.ts';
import { type AnsweringAll, actorOf } from './caller.ts';
import { checkRemovals } from './catalogue-uses.ts';
import { isoTime } from './iso-time.ts';
import { namedAccount } from './named-account.ts';
import { tokenAnswer } from './tokens.ts';

type AccountAnswer = AnswerOf<'getAccount'>['account'];

const accountAnswer = (
  { catalogues: { profile, tag, attr, event }, ...account }: AccountDetail,
  { withTokens, accountBytes }: { withTokens: boolean; accountBytes: number | null },
): AccountAnswer => ({
  accountUUID: account.accountUUID,
  accountName: account.accountName,
  accountOrigin: [...account.accountOrigin],
  accountTimezone: account.accountTimezone,
  strict: account.strict,
  browserCatalogue: account.browserCatalogue,
  createdTime: isoTime(account.createdTime),
  profile: profile.map(({ id, name, browser }) => ({ profileID: id, profileName: name, browser })),
  tag: tag.map(({ id, name, browser }) => ({ tagID: id, tagName: name, browser })),
  attr: attr.map(({ id, name, browser, type }) => ({
    attrID: id,
    attrName: name,
    attrType: type as AccountAnswer['attr'][number]['attrType'],
    browser,
  })),
  event: event.map(({ id, name, browser }) => ({ eventID: Number(id), eventName: name, browser })),
  ...(withTokens && { token: account.tokens.map((token) => tokenAnswer(token)) }),
  usage: { ...account.usage, storedBytes: account.storedBytes },
  limits: { ...limits, accountBytes },
});

/** What updateAccount may change; an absent one stays. */
const changeable = [
  'accountName',
  'accountOrigin',
  'accountTimezone',
  'strict',
  'browserCatalogue',
  'profile',
  'tag',
  'attr',
  'event',
] as const satisfies (keyof InputOf<'updateAccount'>)[];

/** `accountBytes`: the quota of every account; null when there is none. */
export const createAccounts = (
  store: Store,
  accountBytes: number | null = null,
): AnsweringAll<'getAccount' | 'createAccount' | 'updateAccount'> => ({
  getAccount: async ({ accountUUID }, caller) => {
    const account = await namedAccount(store, caller, accountUUID);
    const withTokens = caller.access.kind !== 'viewer';
    return { account: accountAnswer(await store.getAccount(account), { withTokens, accountBytes }) };
  },

  createAccount: async (input, caller) => {
    const { contacts, answer } = checkAccountContacts(input.contact);
    const { account, browserTokenUUID, serverTokenUUID } = newAccount(input, contacts, {
      time: caller.time,
      createdBy: actorOf(caller),
    });
    const outcomes = await store.createAccount({ ...account, by: actorOf(caller) });
    return { accountUUID: account.accountUUID, browserTokenUUID, serverTokenUUID, contact: answer(outcomes) };
  },

  updateAccount: async (input, caller) => {
    const account = await namedAccount(store, caller, input.accountUUID);
    const { contacts, answer } = checkAccountContacts(input.contact);
    const { accountName, accountOrigin, accountTimezone, strict, browserCatalogue } = input;
    const catalogues = cataloguesOf(input);
    await checkRemovals(store, account, catalogues);
    const outcomes = await store.updateAccount({
      account,
      accountName,
      accountOrigin: accountOrigin && canonicalOrigins(accountOrigin),
      accountTimezone,
      strict,
      browserCatalogue,
      catalogues,
      contacts,
      by: actorOf(caller),
      time: caller.time,
    });
    return {
      // Counting all that an account holds, which getAccount does, is spared a caller who has said which account it is.
      accountUUID: input.accountUUID ?? (await store.getAccount(account)).accountUUID,
      updated: changeable.filter((name) => input[name] !== undefined),
      contact: answer(outcomes),
    };
  },
});
