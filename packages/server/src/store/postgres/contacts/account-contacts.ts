/** Stores the contacts in the body of createAccount and updateAccount. */
import { toRefusedOutcome } from '../../rules/accounts/account-changes.ts';
import { usesOfContact } from '../../rules/accounts/catalogue-rules.ts';
import { toNewKeys } from '../../rules/contact-keys.ts';
import type { AccountChange, AccountContact, ContactOutcome } from '../../store.ts';
import type { CatalogueWriter } from '../accounts/catalogues.ts';
import type { Transaction } from '../transactions/transaction.ts';
import type { ContactFinder } from './contact-finder.ts';
import type { ContactWriter } from './contacts.ts';
import type { PutContactOperation } from './put-contact.ts';

type Act = Pick<AccountChange, 'time' | 'by'>;

interface AccountContactParts {
  readonly catalogues: CatalogueWriter;
  readonly finder: ContactFinder;
  readonly contacts: ContactWriter;
  readonly putContact: PutContactOperation;
}

export const createAccountContacts = ({ catalogues, finder, contacts, putContact }: AccountContactParts) => {
  /** Changes a contact when it exists, otherwise creates it. */
  const changeOrCreate = async (db: Transaction, change: AccountContact, act: Act): Promise<ContactOutcome> => {
    const { account } = db;
    const { newContactUUID, externalID, address } = change;
    const uses = usesOfContact({ ...change, tags: change.addedTags });
    await catalogues.check(db, account, { browser: false, uses });
    const values = { ...change, ...act };
    const write = async () => {
      const row = await finder.byName(db, { contactUUID: change.contactUUID });
      return { existed: true, ...(await contacts.write(db, row, { ...values, keys: toNewKeys(change) })) };
    };
    const { existed, contactUUID } =
      change.contactUUID === undefined
        ? await putContact(db, { account, newContactUUID, externalID, address }, values)
        : await write();
    await catalogues.register(db, account, [{ browser: false, uses }]);
    return { exists: existed, contactUUID };
  };

  /** Stores contacts. A refused contact does not affect the others. */
  return async (db: Transaction, changes: readonly AccountContact[], act: Act): Promise<ContactOutcome[]> => {
    const outcomes: ContactOutcome[] = [];
    for (const each of changes) {
      try {
        outcomes.push(await db.attempt(() => changeOrCreate(db, each, act)));
      } catch (error) {
        outcomes.push(toRefusedOutcome(error));
      }
    }
    return outcomes;
  };
};
