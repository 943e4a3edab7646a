/** Creates and changes accounts, and adds their sizes to what both databases read alike. */
import {
  insertAccount,
  listAccounts,
  readAccount,
  readAccountValues,
  writeSettings,
} from '../../operations/accounts.ts';
import { findChangedValues, listGivenKinds, toRefusedOutcome } from '../../rules/accounts/account-changes.ts';
import { usesOfContact } from '../../rules/accounts/catalogue-rules.ts';
import { toNewKeys } from '../../rules/contact-keys.ts';
import type {
  AccountChange,
  AccountContact,
  AccountDetail,
  AccountSize,
  ContactOutcome,
  NewAccount,
} from '../../store.ts';
import type { ContactWriter } from '../contacts/contacts.ts';
import type { Connection } from '../database/connection.ts';
import type { ChunkedRead } from '../transactions/chunked-reads.ts';
import { createOperationRunner } from '../transactions/operations.ts';
import type { CatalogueWriter } from './catalogues.ts';
import { createUsageReader } from './usage.ts';

export const createAccountReader = (db: Connection) => {
  const runOperation = createOperationRunner(db);
  const usageOf = createUsageReader(db);

  return {
    *measureAccounts(): ChunkedRead<AccountSize[]> {
      const sizes: AccountSize[] = [];
      for (const { account, accountUUID } of runOperation(listAccounts())) {
        sizes.push({ account, accountUUID, storedBytes: (yield* usageOf(account)).storedBytes });
        yield;
      }
      return sizes;
    },
    *getAccount(account: number): ChunkedRead<AccountDetail> {
      return { ...runOperation(readAccount(account)), ...(yield* usageOf(account)) };
    },
  };
};

export const createAccountWriter = (
  db: Connection,
  { catalogues, contacts }: { catalogues: CatalogueWriter; contacts: ContactWriter },
) => {
  const runOperation = createOperationRunner(db);

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
    createAccount({ catalogues: entries, contacts: changes, ...account }: NewAccount): ContactOutcome[] {
      const number = runOperation(insertAccount(account));
      catalogues.put(number, entries);
      return putContacts(number, changes, { time: account.time, by: account.by });
    },
    updateAccount({ account, catalogues: entries, contacts: changes, time, by, ...settings }: AccountChange) {
      const kinds = listGivenKinds(entries);
      const before = runOperation(readAccountValues(account, kinds));
      runOperation(writeSettings(account, settings));
      catalogues.put(account, entries);
      const updated = findChangedValues(before, runOperation(readAccountValues(account, kinds)));
      return { updated, contacts: putContacts(account, changes, { time, by }) };
    },
  };
};
