import { limits } from '@firsthand/contract/limits';
import type { InputOf, OutputOf } from '@firsthand/contract/operations';
import { canonicalOrigins, cataloguesOf, newAccount } from '../../../ingest/new-account.ts';
import { isLive, isMemberAccess } from '../../../ingest/token.ts';
import { Refusal } from '../../../shared/refusal.ts';
import type { AccountDetail, ListedEntry, Store } from '../../../store/store.ts';
import { actorOf, type Handlers, namedAccount } from '../../access/caller.ts';
import { isoTime } from '../../responses/iso-time.ts';
import { checkAccountContacts } from './account-contacts.ts';
import { checkRemovals, removeFromContacts } from './catalogue-uses.ts';
import { tokenResponse } from './tokens.ts';

type AccountResponse = OutputOf<'getAccount'>['account'];

/** The members that all catalogue entries have in addition to their ID and name. */
const entryResponse = <ID>(
  { browser, mergedInto }: Pick<ListedEntry, 'browser' | 'mergedInto'>,
  toID: (id: string) => ID,
) => ({
  browser,
  ...(mergedInto !== null && { mergedInto: toID(mergedInto) }),
});

const accountResponse = (
  { catalogues: { profile, tag, attr, event }, ...account }: AccountDetail,
  { withTokens, accountBytes, time }: { withTokens: boolean; accountBytes: number | null; time: number },
): AccountResponse => ({
  accountUUID: account.accountUUID,
  accountName: account.accountName,
  accountOrigin: [...account.accountOrigin],
  accountTimezone: account.accountTimezone,
  accountCurrency: account.accountCurrency,
  strict: account.strict,
  browserCatalogue: account.browserCatalogue,
  enrich: account.enrich,
  defaultProfileID: account.defaultProfileID,
  userIDIsEmailaddress: account.userIDIsEmailaddress,
  createdTime: isoTime(account.createdTime),
  profile: profile.map(({ id, name, ...entry }) => ({
    profileID: id,
    profileName: name,
    ...entryResponse(entry, String),
  })),
  tag: tag.map(({ id, name, ...entry }) => ({ tagID: id, tagName: name, ...entryResponse(entry, String) })),
  attr: attr.map(({ id, name, type, ...entry }) => ({
    attrID: id,
    attrName: name,
    attrType: type as AccountResponse['attr'][number]['attrType'],
    ...entryResponse(entry, String),
  })),
  event: event.map(({ id, name, byBrowser, ...entry }) => ({
    eventID: Number(id),
    eventName: name,
    ...(byBrowser && { byBrowser }),
    ...entryResponse(entry, Number),
  })),
  ...(withTokens && {
    // Omits sessions that have ended.
    token: account.tokens
      .filter((token) => (!token.session || isLive(token, time)) && !isMemberAccess(token))
      .map((token) => tokenResponse(token)),
  }),
  usage: { ...account.usage, storedBytes: account.storedBytes },
  limits: { ...limits, accountBytes },
});

/** Account settings, which an editor can't change. */
const ownerFields = [
  'accountName',
  'accountOrigin',
  'accountTimezone',
  'accountCurrency',
  'strict',
  'browserCatalogue',
  'enrich',
  'defaultProfileID',
  'userIDIsEmailaddress',
] as const satisfies readonly (keyof InputOf<'updateAccount'>)[];

/** Returns the path, in the request, of a forced removal, which removes catalogue entries from all contacts too. */
const findForced = (input: InputOf<'updateAccount'>): string | undefined => {
  for (const kind of ['profile', 'tag', 'attr', 'event'] as const) {
    const index = input[kind]?.findIndex((entry) => 'force' in entry && entry.force === true) ?? -1;
    if (index >= 0) return `${kind}[${index}].force`;
  }
  return undefined;
};

const checkEditorFields = (input: InputOf<'updateAccount'>): void => {
  const field = ownerFields.find((name) => input[name] !== undefined) ?? findForced(input);
  if (field === undefined) return;
  const message = `\`${field}\` is not allowed with an editor token, which can only change catalogue entries and contacts`;
  throw new Refusal('token_kind', { field, message });
};

/** `accountBytes` is the quota of every account; null if there is none. */
export const createAccounts = (
  store: Store,
  accountBytes: number | null = null,
): Handlers<'getAccount' | 'createAccount' | 'updateAccount'> => ({
  getAccount: async ({ accountUUID }, caller) => {
    const account = await namedAccount(store, caller, accountUUID);
    const withTokens = ['server', 'operator'].includes(caller.access.kind);
    return {
      account: accountResponse(await store.getAccount(account), { withTokens, accountBytes, time: caller.time }),
    };
  },

  createAccount: async (input, caller) => {
    const { contacts, toResults } = checkAccountContacts(input.contact);
    const { account, browserTokenUUID, serverTokenUUID } = newAccount(input, contacts, {
      time: caller.time,
      createdBy: actorOf(caller),
    });
    const outcomes = await store.createAccount({ ...account, by: actorOf(caller) });
    return { accountUUID: account.accountUUID, browserTokenUUID, serverTokenUUID, contact: toResults(outcomes) };
  },

  updateAccount: async (input, caller) => {
    const account = await namedAccount(store, caller, input.accountUUID);
    if (caller.access.kind === 'editor') checkEditorFields(input);
    const { contacts, toResults } = checkAccountContacts(input.contact);
    const { accountName, accountOrigin, accountTimezone, accountCurrency, defaultProfileID } = input;
    const { strict, browserCatalogue, enrich, userIDIsEmailaddress } = input;
    const catalogues = cataloguesOf(input);
    await checkRemovals(store, account, catalogues);
    const { updated, contacts: outcomes } = await store.updateAccount({
      account,
      accountName,
      accountOrigin: accountOrigin && canonicalOrigins(accountOrigin),
      accountTimezone,
      accountCurrency: accountCurrency === null ? '' : accountCurrency,
      strict,
      browserCatalogue,
      enrich,
      defaultProfileID: defaultProfileID === null ? '' : defaultProfileID,
      userIDIsEmailaddress,
      catalogues,
      contacts,
      by: actorOf(caller),
      time: caller.time,
    });
    await removeFromContacts(store, { account, catalogues, time: caller.time });
    return {
      // getAccount counts the account's data, so it is called only if the caller sent no accountUUID.
      accountUUID: input.accountUUID ?? (await store.getAccount(account)).accountUUID,
      updated,
      contact: toResults(outcomes),
    };
  },
});
