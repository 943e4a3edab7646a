import { Refusal } from '../../refusal.ts';
import { usesOfContact } from '../catalogue-rules.ts';
import type {
  AccountChange,
  AccountContact,
  AccountDetail,
  AccountSummary,
  ContactOutcome,
  NewAccount,
} from '../store.ts';
import type { CatalogueWriter } from './catalogues.ts';
import { createCatalogueReader } from './catalogues.ts';
import type { Connection } from './connection.ts';
import type { ContactWriter } from './contacts.ts';
import type { Steps } from './steps.ts';
import type { TokenReader, TokenWriter } from './tokens.ts';

/** Some milliseconds: an account may have millions of users. */
const rowsPerStep = 20_000;

/** Of so many rows that were looked at, so many count; the next step goes on after the last. */
interface Counted {
  readonly looked: number;
  readonly count: number;
  readonly last: string | null;
}

function* countInSteps(next: (after: string) => Counted): Steps<number> {
  let sum = 0;
  for (let after = ''; ; ) {
    const { looked, count, last } = next(after);
    sum += count;
    if (looked < rowsPerStep) return sum;
    after = last as string;
    yield;
  }
}

export const createAccountReader = (db: Connection, { tokensOf }: Pick<TokenReader, 'tokensOf'>) => {
  const catalogues = createCatalogueReader(db);
  const list = db.prepare<[], AccountSummary>(
    'SELECT account, accountUUID, accountName, createdTime FROM account ORDER BY account',
  );
  const find = db.prepare<[string], number>('SELECT account FROM account WHERE accountUUID = ?').pluck();
  const get = db.prepare<
    [number],
    AccountSummary & { accountOrigin: string; accountTimezone: string; strict: number; browserCatalogue: number }
  >('SELECT * FROM account WHERE account = ?');
  const contacts = db.prepare<[number, string], Counted>(`
    SELECT count(*) AS looked, count(*) - count(mergedInto) AS count, max(contactEmailaddress) AS last
    FROM (SELECT contactEmailaddress, mergedInto FROM contact
      WHERE account = ? AND contactEmailaddress > ? ORDER BY contactEmailaddress LIMIT ${rowsPerStep})`);
  const users = db.prepare<[number, string], Counted>(`
    SELECT count(*) AS looked, count(*) AS count, max(userUUID) AS last
    FROM (SELECT userUUID FROM user WHERE account = ? AND userUUID > ? ORDER BY userUUID LIMIT ${rowsPerStep})`);
  const events = db
    .prepare<[number], number>('SELECT coalesce(sum(count), 0) FROM account_day WHERE account = ?')
    .pluck();

  return {
    listAccounts: (): AccountSummary[] => list.all(),
    findAccount: (accountUUID: string): number | undefined => find.get(accountUUID),
    *getAccount(account: number): Steps<AccountDetail> {
      const row = get.get(account);
      if (!row) throw new Refusal('unknown_account', { field: 'accountUUID' });
      return {
        account,
        accountUUID: row.accountUUID,
        accountName: row.accountName,
        accountOrigin: JSON.parse(row.accountOrigin),
        accountTimezone: row.accountTimezone,
        strict: row.strict === 1,
        browserCatalogue: row.browserCatalogue === 1,
        createdTime: row.createdTime,
        catalogues: {
          profile: catalogues.list(account, 'profile'),
          tag: catalogues.list(account, 'tag'),
          attr: catalogues.list(account, 'attr'),
          event: catalogues.list(account, 'event'),
        },
        tokens: tokensOf(account),
        usage: {
          contacts: yield* countInSteps((after) => contacts.get(account, after) as Counted),
          users: yield* countInSteps((after) => users.get(account, after) as Counted),
          events: events.get(account) as number,
        },
      };
    },
  };
};

export const createAccountWriter = (
  db: Connection,
  parts: { catalogues: CatalogueWriter; contacts: ContactWriter; tokens: TokenWriter },
) => {
  const { catalogues, contacts } = parts;
  const { createToken } = parts.tokens;
  const insert = db.prepare(`
    INSERT INTO account (accountUUID, accountName, accountOrigin, accountTimezone, strict, browserCatalogue, createdTime)
    VALUES (?, ?, ?, ?, ?, ?, ?)`);
  const update = db.prepare(`
    UPDATE account SET accountName = coalesce(@accountName, accountName), accountOrigin = coalesce(@accountOrigin, accountOrigin),
      accountTimezone = coalesce(@accountTimezone, accountTimezone), strict = coalesce(@strict, strict),
      browserCatalogue = coalesce(@browserCatalogue, browserCatalogue)
    WHERE account = @account`);

  /** Changed when it is known, else created; refused on its own. */
  const putContact = (account: number, change: AccountContact, time: number): ContactOutcome => {
    const uses = usesOfContact({
      profileID: change.fields.contactProfileID,
      tags: change.addedTags,
      attributes: change.attributes,
    });
    catalogues.check(account, false, uses);
    const named = change.contactUUID !== undefined;
    const known = named ? contacts.byName({ account, contactUUID: change.contactUUID }) : undefined;
    const { newContactUUID, address } = change;
    const { row, existed } = known
      ? { row: known, existed: true }
      : contacts.ensure({ account, address: address as string, newContactUUID, verified: true, time });
    const { fields, addedTags, removedTags, attributes, contactStatus } = change;
    const written = { fields, addedTags, removedTags, attributes, contactStatus, time };
    const { contactUUID } = contacts.write(row, named ? { ...written, address } : written);
    catalogues.register(account, false, uses);
    return { exists: existed, contactUUID };
  };

  const putContacts = (account: number, changes: readonly AccountContact[], time: number) =>
    changes.map((change): ContactOutcome => {
      try {
        return putContact(account, change, time);
      } catch (error) {
        // Every reason to refuse comes before the first write.
        if (!(error instanceof Refusal)) throw error;
        return { refused: error.code, message: error.message, ...(error.field && { field: error.field }) };
      }
    });

  return {
    createAccount({ tokens, catalogues: given, contacts: changes, time, ...account }: NewAccount): ContactOutcome[] {
      const { accountUUID, accountName, accountOrigin, accountTimezone, strict, browserCatalogue } = account;
      const { lastInsertRowid } = insert.run(
        accountUUID,
        accountName,
        JSON.stringify(accountOrigin),
        accountTimezone,
        Number(strict),
        Number(browserCatalogue),
        time,
      );
      const number = Number(lastInsertRowid);
      for (const token of tokens) createToken({ ...token, account: number });
      catalogues.put(number, given);
      return putContacts(number, changes, time);
    },
    updateAccount({ account, catalogues: given, contacts: changes, time, ...change }: AccountChange): ContactOutcome[] {
      const { accountName, accountOrigin, accountTimezone, strict, browserCatalogue } = change;
      update.run({
        account,
        accountName: accountName ?? null,
        accountOrigin: accountOrigin === undefined ? null : JSON.stringify(accountOrigin),
        accountTimezone: accountTimezone ?? null,
        strict: strict === undefined ? null : Number(strict),
        browserCatalogue: browserCatalogue === undefined ? null : Number(browserCatalogue),
      });
      catalogues.put(account, given);
      return putContacts(account, changes, time);
    },
  };
};
