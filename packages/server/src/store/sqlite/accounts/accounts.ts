import { Refusal } from '../../../shared/refusal.ts';
import { createToken, tokensOf } from '../../operations/tokens.ts';
import {
  type AccountValues,
  findChangedValues,
  listGivenKinds,
  toRefusedOutcome,
} from '../../rules/accounts/account-changes.ts';
import { usesOfContact } from '../../rules/accounts/catalogue-rules.ts';
import { toNewKeys } from '../../rules/contact-keys.ts';
import type {
  AccountChange,
  AccountContact,
  AccountDetail,
  AccountSize,
  AccountSummary,
  CatalogueKind,
  ContactOutcome,
  ListedEntry,
  NewAccount,
} from '../../store.ts';
import type { ContactWriter } from '../contacts/contacts.ts';
import type { Connection } from '../database/connection.ts';
import type { ChunkedRead } from '../transactions/chunked-reads.ts';
import { createOperationRunner } from '../transactions/operations.ts';
import { type CatalogueWriter, createCatalogueReader } from './catalogues.ts';
import { createUsageReader } from './usage.ts';

export const createAccountReader = (db: Connection) => {
  const runOperation = createOperationRunner(db);
  const catalogues = createCatalogueReader(db);
  const list = db.prepare<[], AccountSummary>(
    'SELECT account, accountUUID, accountName, createdTime FROM account ORDER BY account',
  );
  const find = db.prepare<[string], number>('SELECT account FROM account WHERE accountUUID = ?').pluck();
  const get = db.prepare<
    [number],
    AccountSummary & {
      accountOrigin: string;
      accountTimezone: string;
      accountCurrency: string;
      strict: number;
      browserCatalogue: number;
      enrich: number;
    }
  >(`
    SELECT account, accountUUID, accountName, accountOrigin, accountTimezone, accountCurrency, strict, browserCatalogue, enrich, createdTime
    FROM account WHERE account = ?`);
  const usageOf = createUsageReader(db);

  return {
    listAccounts: (): AccountSummary[] => list.all(),
    *measureAccounts(): ChunkedRead<AccountSize[]> {
      const sizes: AccountSize[] = [];
      for (const { account, accountUUID } of list.all()) {
        sizes.push({ account, accountUUID, storedBytes: (yield* usageOf(account)).storedBytes });
        yield;
      }
      return sizes;
    },
    findAccount: (accountUUID: string): number | undefined => find.get(accountUUID),
    listCatalogue: ({ account, kind }: { readonly account: number; readonly kind: CatalogueKind }): ListedEntry[] =>
      catalogues.list(account, kind),
    *getAccount(account: number): ChunkedRead<AccountDetail> {
      const row = get.get(account);
      if (!row) throw new Refusal('unknown_account', { field: 'accountUUID' });
      return {
        ...row,
        accountOrigin: JSON.parse(row.accountOrigin),
        strict: row.strict === 1,
        browserCatalogue: row.browserCatalogue === 1,
        enrich: row.enrich === 1,
        catalogues: {
          profile: catalogues.list(account, 'profile'),
          tag: catalogues.list(account, 'tag'),
          attr: catalogues.list(account, 'attr'),
          event: catalogues.list(account, 'event'),
        },
        tokens: runOperation(tokensOf(account)),
        ...(yield* usageOf(account)),
      };
    },
  };
};

export const createAccountWriter = (
  db: Connection,
  { catalogues, contacts }: { catalogues: CatalogueWriter; contacts: ContactWriter },
) => {
  const runOperation = createOperationRunner(db);
  const insert = db.prepare(`
    INSERT INTO account
      (account, accountUUID, accountName, accountOrigin, accountTimezone, accountCurrency, strict, browserCatalogue, enrich, createdTime)
    VALUES ((SELECT max(coalesce(max(account), 0), (SELECT lastAccount FROM position)) + 1 FROM account), @accountUUID, @accountName, @accountOrigin, @accountTimezone, @accountCurrency, @strict, @browserCatalogue, @enrich, @time)`);
  const update = db.prepare(`
    UPDATE account SET accountName = coalesce(@accountName, accountName), accountOrigin = coalesce(@accountOrigin, accountOrigin),
      accountTimezone = coalesce(@accountTimezone, accountTimezone), accountCurrency = coalesce(@accountCurrency, accountCurrency), strict = coalesce(@strict, strict),
      browserCatalogue = coalesce(@browserCatalogue, browserCatalogue), enrich = coalesce(@enrich, enrich)
    WHERE account = @account`);
  const settings = db.prepare<[number], AccountValues>(
    'SELECT accountName, accountOrigin, accountTimezone, accountCurrency, strict, browserCatalogue, enrich FROM account WHERE account = ?',
  );
  const listed = createCatalogueReader(db);

  const valuesOf = (account: number, kinds: readonly CatalogueKind[]): AccountValues => ({
    ...settings.get(account),
    ...Object.fromEntries(kinds.map((kind) => [kind, listed.list(account, kind)])),
  });

  type ChangeOrigin = Pick<AccountChange, 'time' | 'by'>;

  /** Updates or creates a contact. A thrown Refusal affects only this contact. */
  const putContact = (account: number, change: AccountContact, origin: ChangeOrigin): ContactOutcome => {
    const uses = usesOfContact({ ...change, tags: change.addedTags });
    catalogues.check(account, false, uses);
    const written = { ...change, ...origin };
    if (change.contactUUID !== undefined) {
      const row = contacts.byName({ account, contactUUID: change.contactUUID });
      const { contactUUID } = contacts.write(row, { ...written, keys: toNewKeys(change) });
      catalogues.register(account, false, uses);
      return { exists: true, contactUUID };
    }
    const { newContactUUID, externalID, address } = change;
    const { existed, contactUUID } = contacts.put({ account, newContactUUID, externalID, address }, written);
    catalogues.register(account, false, uses);
    return { exists: existed, contactUUID };
  };

  const putContacts = (account: number, changes: readonly AccountContact[], origin: ChangeOrigin) =>
    changes.map((change): ContactOutcome => {
      try {
        return putContact(account, change, origin);
      } catch (error) {
        // No rollback needed: every Refusal is thrown before the contact's first write.
        return toRefusedOutcome(error);
      }
    });

  return {
    createAccount({ tokens, catalogues: entries, contacts: changes, ...account }: NewAccount): ContactOutcome[] {
      const { lastInsertRowid } = insert.run({
        ...account,
        accountOrigin: JSON.stringify(account.accountOrigin),
        strict: Number(account.strict),
        browserCatalogue: Number(account.browserCatalogue),
        enrich: Number(account.enrich),
      });
      const number = Number(lastInsertRowid);
      for (const token of tokens) runOperation(createToken({ ...token, account: number }));
      catalogues.put(number, entries);
      return putContacts(number, changes, { time: account.time, by: account.by });
    },
    updateAccount({ account, catalogues: entries, contacts: changes, time, by, ...change }: AccountChange) {
      const { accountName, accountOrigin, accountTimezone, accountCurrency, strict, browserCatalogue, enrich } = change;
      const kinds = listGivenKinds(entries);
      const before = valuesOf(account, kinds);
      update.run({
        account,
        accountName,
        accountOrigin: accountOrigin && JSON.stringify(accountOrigin),
        accountTimezone,
        accountCurrency,
        strict: strict === undefined ? null : Number(strict),
        browserCatalogue: browserCatalogue === undefined ? null : Number(browserCatalogue),
        enrich: enrich === undefined ? null : Number(enrich),
      });
      catalogues.put(account, entries);
      const updated = findChangedValues(before, valuesOf(account, kinds));
      return { updated, contacts: putContacts(account, changes, { time, by }) };
    },
  };
};
