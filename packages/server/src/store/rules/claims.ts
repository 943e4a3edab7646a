/** Claims, the values that a browser token sent about a contact, as both drivers store them. */
import { limits } from '@firsthand/contract/limits';
import { type Claim, type ContactField, type KeyField, mergeClaim, type Values } from '../../identity/contact-view.ts';
import type { ContactMerges, EntryMerges } from '../../identity/merged-entries.ts';
import type { NewContact } from '../store.ts';
import { resolveMergedEntries } from './accounts/entry-merges.ts';

export interface ClaimRow extends Omit<Claim, 'newestLink'> {
  readonly claimID: string;
  readonly account: number;
  readonly token: number;
  readonly user: number;
  readonly contact: number;
  readonly createdTime: number;
  readonly updatedTime: number;
}

/** A claim's values as JSON. Attributes are pairs, so that no ID becomes a property name. */
export interface StoredValues {
  readonly fields: Partial<Record<ContactField, string>>;
  readonly tags: string[];
  readonly attributes: [string, string][];
}

export const toValues = ({ fields, tags, attributes }: StoredValues): Values => ({
  fields,
  tags: new Map(tags.map((id) => [id, true])),
  attributes: new Map(attributes),
});

/**
 * Returns the first `limit` values. If there are more, first drops values that are overridden by a value under the
 * target ID.
 */
const takeFirst = <Value>(
  values: ReadonlyMap<string, Value>,
  merges: EntryMerges,
  limit: number,
): [string, Value][] => {
  const isVisible = (id: string) => merges.targetOf(id) === id || !values.has(merges.targetOf(id));
  return [...values].filter(([id]) => values.size <= limit || isVisible(id)).slice(0, limit);
};

/**
 * Returns a claim's JSON with a request's values, merged into the claim's previous values, `before`, if any. Merged IDs
 * become target IDs. Tags and attributes beyond the limits are dropped, so that no page can create a claim that is slow
 * to read.
 */
export const toClaimJSON = (request: NewContact, merges: ContactMerges, before?: StoredValues): string => {
  const { externalID, address, tags } = request;
  const kept = resolveMergedEntries({ ...request, addedTags: tags, removedTags: [] }, merges);
  const sent: Values = {
    fields: {
      ...kept.fields,
      ...(externalID !== undefined && { contactExternalID: externalID }),
      ...(address !== undefined && { contactEmailaddress: address }),
    },
    tags: new Map(kept.addedTags.map((id) => [id, true])),
    attributes: new Map(kept.attributes),
  };
  const values = before ? mergeClaim(toValues(before), sent) : sent;
  return JSON.stringify({
    fields: values.fields,
    tags: takeFirst(values.tags, merges.tag, limits.tagsPerClaim).map(([id]) => id),
    attributes: takeFirst(values.attributes, merges.attr, limits.attributesPerClaim),
  });
};

/**
 * Returns the key by which a browser token's request finds its contact: the address or, if there is none, the external
 * ID. Each key has its own claim, because a handle must not reveal that two keys find the same contact.
 */
export const getClaimKey = ({ externalID = '', address }: NewContact): { field: KeyField; value: string } =>
  address === undefined
    ? { field: 'contactExternalID', value: externalID }
    : { field: 'contactEmailaddress', value: address };

/** Returns the key as a single string, by which the drivers index stored claims. */
export const toClaimKeyText = (request: NewContact): string => {
  const { field, value } = getClaimKey(request);
  return `${field} ${value}`;
};

/**
 * Returns the claim values that a handle shows. If the claim's key is an external ID, the handle shows only that ID:
 * anyone who sends the same userUUID and key gets the handle, and external IDs are often guessable.
 */
export const valuesOfHandle = ({ values }: Pick<ClaimRow, 'values'>): Values => {
  const { contactEmailaddress, contactExternalID } = values.fields;
  if (contactEmailaddress !== undefined || contactExternalID === undefined) return values;
  return { fields: { contactExternalID }, tags: new Map(), attributes: new Map() };
};

/**
 * Returns a new claim's contact: the contact of the user's first claim with this key, or else the key's contact,
 * `found`.
 *
 * The two differ if the first contact yielded the key and was merged into `found` (rules/contact-keys.ts). The claim
 * then stays with the first contact, because a new handle would reveal to the page that a server knows the key.
 */
export const chooseClaimContact = (earlier: readonly Pick<ClaimRow, 'contact'>[], found: number): number =>
  earlier[0]?.contact ?? found;
