/** Operations on accounts. */
import { Refusal } from '../../shared/refusal.ts';
import {
  type AccountValues,
  findChangedValues,
  listGivenKinds,
  toRefusedOutcome,
} from '../rules/accounts/account-changes.ts';
import { usesOfContact } from '../rules/accounts/catalogue-rules.ts';
import { toNewKeys } from '../rules/contact-keys.ts';
import type {
  AccountChange,
  AccountContact,
  AccountDetail,
  AccountSummary,
  CatalogueKind,
  CatalogueSettings,
  ContactOutcome,
  NewAccount,
  SegmentSettings,
} from '../store.ts';
import { listCatalogue, listCatalogues } from './catalogues.ts';
import type { ContactParts } from './contact-store.ts';
import { putContact, writeContact } from './contact-writes.ts';
import { all, call, createQuery, first, lockAccount, type Operation, run, together } from './operation.ts';
import { createToken, notifyAccess, tokensOf } from './tokens.ts';

const summaryColumns = 'account, "accountUUID", "accountName", "createdTime"';
const selectAccounts = createQuery<AccountSummary>(() => `SELECT ${summaryColumns} FROM account ORDER BY account`);
const selectNumber = createQuery<{ account: number }>(() => 'SELECT account FROM account WHERE "accountUUID" = $1');

export function* listAccounts(): Operation<AccountSummary[]> {
  return yield* all(selectAccounts());
}

export function* findAccount(accountUUID: string): Operation<number | undefined> {
  return (yield* first(selectNumber(accountUUID)))?.account;
}

/** The settings that PostgreSQL stores in a table of the account's shard, because each write reads them. */
const settingsTable = (name: 'sqlite' | 'postgres') => (name === 'sqlite' ? 'account' : 'account_position');
const selectCatalogueSettings = createQuery<CatalogueSettings>(
  ({ name }) => `SELECT strict, "browserCatalogue" FROM ${settingsTable(name)} WHERE account = $1`,
);
const settingColumns = [
  ...['accountName', 'accountOrigin', 'accountTimezone', 'accountCurrency', 'enrich'],
  ...['defaultProfileID', 'userIDIsEmailaddress'],
];
type AccountRow = AccountSummary &
  Pick<AccountDetail, 'accountTimezone' | 'accountCurrency' | 'enrich' | keyof SegmentSettings> & {
    /** SQLite returns JSON. */
    readonly accountOrigin: string | readonly string[];
  };
const settings = settingColumns.map((column) => `"${column}"`).join(', ');
const selectAccount = createQuery<AccountRow>(
  () => `SELECT ${summaryColumns}, ${settings} FROM account WHERE account = $1`,
);
const lockSettings = createQuery<AccountValues>(
  ({ name }) => `SELECT ${settings} FROM account WHERE account = $1 ${name === 'postgres' ? 'FOR NO KEY UPDATE' : ''}`,
);

/** Returns the account without its size. Throws a Refusal if the account does not exist. */
export function* readAccount(account: number): Operation<Omit<AccountDetail, 'usage' | 'storedBytes'>> {
  const [row, catalogueSettings, catalogues, tokens] = yield* together(
    first(selectAccount(account)),
    first(selectCatalogueSettings(account)),
    listCatalogues(account),
    tokensOf(account),
  );
  if (!row || !catalogueSettings) throw new Refusal('unknown_account', { field: 'accountUUID' });
  const { accountOrigin, enrich, userIDIsEmailaddress, ...others } = row;
  return {
    ...others,
    accountOrigin: typeof accountOrigin === 'string' ? JSON.parse(accountOrigin) : accountOrigin,
    enrich: Boolean(enrich),
    userIDIsEmailaddress: Boolean(userIDIsEmailaddress),
    strict: Boolean(catalogueSettings.strict),
    browserCatalogue: Boolean(catalogueSettings.browserCatalogue),
    catalogues,
    tokens,
  };
}

/** Locks the account, and reads the values that updateAccount may change. */
function* readAccountValues(account: number, kinds: readonly CatalogueKind[]): Operation<AccountValues> {
  const own = yield* first(lockSettings(account));
  yield* lockAccount(account);
  const settings = yield* first(selectCatalogueSettings(account));
  const lists = yield* together(...kinds.map((kind) => listCatalogue({ account, kind })));
  return { ...own, ...settings, ...Object.fromEntries(kinds.map((kind, nth) => [kind, lists[nth]])) };
}

type Settings = Omit<AccountChange, 'account' | 'catalogues' | 'contacts' | 'time' | 'by'>;

const toUpdate = (table: string, columns: readonly string[]) =>
  `UPDATE ${table} SET ${columns.map((column, nth) => `"${column}" = coalesce($${nth + 2}, "${column}")`).join(', ')}
   WHERE account = $1`;
const updateSettings = createQuery<never>(() => toUpdate('account', settingColumns));
const updateCatalogueSettings = createQuery<never>(({ name }) =>
  toUpdate(settingsTable(name), ['strict', 'browserCatalogue']),
);

/** Undefined settings stay as they are. */
function* writeSettings(account: number, settings: Settings): Operation<void> {
  const { accountName, accountOrigin, accountTimezone, accountCurrency, strict, browserCatalogue, enrich } = settings;
  const { defaultProfileID, userIDIsEmailaddress } = settings;
  const origins = accountOrigin && JSON.stringify(accountOrigin);
  const values = [
    accountName,
    origins,
    accountTimezone,
    accountCurrency,
    enrich,
    defaultProfileID,
    userIDIsEmailaddress,
  ];
  yield* run(updateSettings(account, ...values));
  yield* run(updateCatalogueSettings(account, strict, browserCatalogue));
  yield* notifyAccess();
}

/** On SQLite, assigns the number explicitly, because SQLite would reuse a deleted account's number. */
const insertRow = createQuery<{ account: number }>(({ name }) =>
  name === 'sqlite'
    ? `INSERT INTO account (account, "accountUUID", "createdTime", "accountName", "accountOrigin", "accountTimezone", strict)
       SELECT max(coalesce(max(account), 0), (SELECT lastAccount FROM position)) + 1, $1, $2, '', '[]', 'UTC', 0
       FROM account RETURNING account`
    : `INSERT INTO account ("accountUUID", "createdTime", "accountName", "accountOrigin", "accountTimezone")
       VALUES ($1, $2, '', '[]', 'UTC') RETURNING account`,
);

/** Creates an account with its tokens. Returns its row number. */
function* insertAccount(request: Omit<NewAccount, 'catalogues' | 'contacts'>): Operation<number> {
  const { accountUUID, time, tokens, ...settings } = request;
  const { account } = (yield* first(insertRow(accountUUID, time))) as { account: number };
  yield { postgres: 'INSERT INTO account_position (account) VALUES ($1)', values: [account] };
  yield* writeSettings(account, settings);
  for (const token of tokens) yield* createToken({ ...token, account });
  return account;
}

type ChangeOrigin = Pick<AccountChange, 'time' | 'by'>;

/** Changes or creates a contact listed in an account request. */
function* putAccountContact(
  { contacts, catalogues }: ContactParts,
  account: number,
  change: AccountContact & ChangeOrigin,
): Operation<ContactOutcome> {
  const { contactUUID, newContactUUID, externalID, address } = change;
  const uses = usesOfContact({ ...change, tags: change.addedTags });
  yield* call(() => catalogues.check(account, false, uses));
  const put = function* () {
    const row = yield* call(() => contacts.find({ account, contactUUID }));
    return { existed: true, ...(yield* writeContact(contacts, row, { ...change, keys: toNewKeys(change) })) };
  };
  const written =
    contactUUID === undefined
      ? yield* putContact(contacts, { account, newContactUUID, externalID, address }, change)
      : yield* put();
  yield* call(() => catalogues.register(account, false, uses));
  return { exists: written.existed, contactUUID: written.contactUUID };
}

/** Stores the contacts listed in an account request. A refused contact does not affect the others. */
function* putAccountContacts(
  parts: ContactParts,
  account: number,
  changes: readonly AccountContact[],
  origin: ChangeOrigin,
): Operation<ContactOutcome[]> {
  const outcomes: ContactOutcome[] = [];
  for (const change of changes) {
    const put = putAccountContact(parts, account, { ...change, ...origin });
    const outcome = yield* call(() => parts.attempt(put));
    outcomes.push(outcome instanceof Refusal ? toRefusedOutcome(outcome) : outcome);
  }
  return outcomes;
}

export function* createAccount(
  { ofNewAccount }: ContactParts,
  { catalogues, contacts, ...request }: NewAccount,
): Operation<ContactOutcome[]> {
  const account = yield* insertAccount(request);
  const parts = yield* call(() => ofNewAccount(account));
  yield* call(() => parts.catalogues.put(account, catalogues));
  return yield* putAccountContacts(parts, account, contacts, { time: request.time, by: request.by });
}

export function* updateAccount(
  parts: ContactParts,
  { account, catalogues, contacts, time, by, ...settings }: AccountChange,
): Operation<{ updated: string[]; contacts: ContactOutcome[] }> {
  const kinds = listGivenKinds(catalogues);
  const before = yield* readAccountValues(account, kinds);
  yield* writeSettings(account, settings);
  yield* call(() => parts.catalogues.put(account, catalogues));
  const updated = findChangedValues(before, yield* readAccountValues(account, kinds));
  return { updated, contacts: yield* putAccountContacts(parts, account, contacts, { time, by }) };
}
