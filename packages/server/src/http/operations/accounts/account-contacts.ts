/**
 * The contacts in createAccount and updateAccount requests: each contact is validated, stored and reported separately.
 */

import { check } from '@firsthand/contract/checking';
import { accountContact } from '@firsthand/contract/contact';
import type { OutputOf } from '@firsthand/contract/operations';
import type { Problem } from '@firsthand/contract/response';
import { nanoid } from 'nanoid';
import { parseAddress } from '../../../identity/email-address.ts';
import { contactChanges } from '../../../ingest/contact-change.ts';
import type { AccountContact, ContactOutcome } from '../../../store/store.ts';
import { addressProblem } from '../../request/contact-names.ts';
import { problemResult } from '../../responses/responses.ts';

type ContactResult = OutputOf<'createAccount'>['contact'][number];

const outcomeResult = (outcome: ContactOutcome, at: string): ContactResult => {
  if ('contactUUID' in outcome) {
    return { status: '200', exists: outcome.exists, contactUUID: outcome.contactUUID };
  }
  const { refused, field, message } = outcome;
  return problemResult({ code: refused, message, field: field === undefined ? at : `${at}.${field}` });
};

const checkEntry = (entry: unknown, at: string): AccountContact | Problem => {
  const checked = check(accountContact, entry, at);
  if (!checked.ok) return checked.problem;
  const { contactUUID, contactExternalID, contactEmailaddress } = checked.value;
  const address = contactEmailaddress === undefined ? undefined : parseAddress(contactEmailaddress);
  if (contactEmailaddress !== undefined && address === undefined) return addressProblem(`${at}.contactEmailaddress`);
  return {
    contactUUID,
    externalID: contactExternalID,
    address,
    ...contactChanges(checked.value),
    newContactUUID: nanoid(),
  };
};

const isContact = (entry: AccountContact | Problem): entry is AccountContact => 'newContactUUID' in entry;

export const checkAccountContacts = (list: readonly unknown[] = []) => {
  const entries = list.map((entry, index) => checkEntry(entry, `contact[${index}]`));
  return {
    /** The valid contacts, for the store. */
    contacts: entries.filter(isContact),
    /** Returns each entry's result, in order. `outcomes` are the store's outcomes for `contacts`. */
    toResults: (outcomes: readonly ContactOutcome[]): ContactResult[] => {
      let next = 0;
      return entries.map((entry, index) =>
        isContact(entry)
          ? outcomeResult(outcomes[next++] as ContactOutcome, `contact[${index}]`)
          : problemResult(entry),
      );
    },
  };
};
