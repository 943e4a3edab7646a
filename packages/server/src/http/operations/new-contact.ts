import type { Problem } from '@firsthand/contract/response';
import { nanoid } from 'nanoid';
import { parseAddress } from '../../identity/email-address.ts';
import { type ContactInput, contactValues } from '../../ingest/contact-change.ts';
import type { NewContact } from '../../store/store.ts';
import { type Caller, toStoreCaller } from '../access/caller.ts';
import { addressProblem } from '../request/contact-names.ts';

/**
 * Returns the contact that validated fields create or change, with the rights of a server token, or the problem with
 * its address. `at` is the path of the fields.
 */
export const toNewContact = (input: ContactInput, caller: Caller, at = ''): NewContact | Problem => {
  const { userUUID = null, contactExternalID, contactEmailaddress } = input;
  const address = contactEmailaddress === undefined ? undefined : parseAddress(contactEmailaddress);
  if (contactEmailaddress !== undefined && address === undefined) return addressProblem(`${at}contactEmailaddress`);
  return {
    ...toStoreCaller(caller),
    userUUID,
    externalID: contactExternalID || undefined,
    address,
    ...contactValues(input),
    verified: true,
    requestUUID: null,
    newContactUUID: nanoid(),
    newHandle: nanoid(),
    time: caller.time,
  };
};

export const isNewContact = (contact: NewContact | Problem): contact is NewContact => 'newContactUUID' in contact;
