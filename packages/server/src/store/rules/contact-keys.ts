/** The keys of a contact, its external ID and its e-mail address: which of them a request writes, and which contact gives one up. */
import type { KeyField } from '../../identity/contact-view.ts';
import { Refusal } from '../../shared/refusal.ts';
import type { NamedContact } from '../store.ts';

/** The keys that a contact gets. Undefined leaves one as it is; null clears the external ID. */
export interface NewKeys {
  readonly externalID?: string | null | undefined;
  readonly address?: string | undefined;
}

/** Returns the keys that a change writes: those that it gives beside the one that names its contact, and a cleared one. */
export const newKeysOf = ({ contactUUID, externalID, address }: Omit<NamedContact, 'account'>): NewKeys => ({
  externalID: contactUUID !== undefined || externalID === null ? externalID : undefined,
  address: contactUUID !== undefined || typeof externalID === 'string' ? address : undefined,
});

/** The parts of a contact's row that decide about its keys. */
interface KeyHolder {
  readonly contactEmailaddress: string | null;
  readonly contactExternalID: string | null;
  readonly verified: number | boolean;
  readonly externalIDClaim: number | null;
  readonly mergedInto: number | null;
}

/** Whether the external ID was sent with a server token or a contactProof, or is from an accepted claim. */
export const isExternalIDVerified = ({ externalIDClaim }: Pick<KeyHolder, 'externalIDClaim'>): boolean =>
  externalIDClaim !== 0;

/**
 * Whether a contact gives up a key to the one that a server token says has it: only browser tokens have said the key, and the
 * contact has no other one. It is then merged into the contact that gets the key, as if that had been said first. It must be merged
 * with no other contact, and have no accepted claim: then the account's owner knows it as a person.
 */
export const givesWay = (holder: KeyHolder, field: KeyField): boolean =>
  holder.mergedInto === null &&
  (field === 'contactEmailaddress'
    ? !holder.verified && !holder.contactExternalID
    : !isExternalIDVerified(holder) && !holder.contactEmailaddress);

const takenCodes = { contactEmailaddress: 'email_taken', contactExternalID: 'external_id_taken' } as const;

/** The Refusal for a key that another contact has. */
export const keyTaken = (field: KeyField): Refusal => new Refusal(takenCodes[field], { field });

/**
 * The Refusal for createContact when the address finds a contact that has another external ID. Undefined when it has none, or only
 * claims give it.
 */
export const otherExternalID = (
  { fields, claimed }: { readonly fields: Readonly<Record<KeyField, string>>; readonly claimed: readonly string[] },
  given: string,
): Refusal | undefined => {
  const { contactExternalID: present } = fields;
  if (present === '' || present === given || claimed.includes('contactExternalID')) return undefined;
  const message = 'the contact with this `contactEmailaddress` has another `contactExternalID`';
  return new Refusal('external_id_taken', { field: 'contactExternalID', message });
};
