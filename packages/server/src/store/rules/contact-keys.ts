/**
 * Rules for contact keys (external ID and e-mail address): which keys a request writes, and when a contact yields a
 * key.
 */
import type { KeyField } from '../../identity/contact-view.ts';
import { Refusal } from '../../shared/refusal.ts';
import type { NamedContact } from '../store.ts';

/** The keys to write. An undefined key does not change; a null external ID is cleared. */
export interface NewKeys {
  readonly externalID?: string | null | undefined;
  readonly address?: string | undefined;
}

/** Returns the keys that a change writes: all but the one that identifies the contact. */
export const toNewKeys = ({ contactUUID, externalID, address }: Omit<NamedContact, 'account'>): NewKeys => ({
  externalID: contactUUID !== undefined || externalID === null ? externalID : undefined,
  address: contactUUID !== undefined || typeof externalID === 'string' ? address : undefined,
});

/** The contact columns that determine whether it yields a key. */
interface KeyHolder {
  readonly contactEmailaddress: string | null;
  readonly contactExternalID: string | null;
  readonly verified: number | boolean;
  readonly externalIDClaim: number | null;
  readonly mergedInto: number | null;
}

/** Whether the external ID came with a server token or a contactProof, or from an accepted claim. */
export const isExternalIDVerified = ({ externalIDClaim }: Pick<KeyHolder, 'externalIDClaim'>): boolean =>
  externalIDClaim !== 0;

/**
 * Whether a contact yields a key that a server token assigns to another contact. It yields the key if only browser
 * tokens sent it and the contact has no other key; the contact is then merged into the contact that gets the key.
 *
 * The caller must check that the contact has no merges and no accepted claim, which would make it a person that the
 * account has confirmed.
 */
export const yieldsKey = (holder: KeyHolder, field: KeyField): boolean =>
  holder.mergedInto === null &&
  (field === 'contactEmailaddress'
    ? !holder.verified && !holder.contactExternalID
    : !isExternalIDVerified(holder) && !holder.contactEmailaddress);

const takenCodes = { contactEmailaddress: 'email_taken', contactExternalID: 'external_id_taken' } as const;

/** Returns the Refusal for a key that belongs to another contact. */
export const keyTaken = (field: KeyField): Refusal => new Refusal(takenCodes[field], { field });

/**
 * Returns the Refusal for createContact if the address finds a contact with another external ID; undefined if the
 * contact has no external ID or only a claimed one.
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
