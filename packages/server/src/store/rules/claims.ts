/** Claims as both drivers store them: the values that a browser token sent about a contact. */
import { limits } from '@firsthand/contract/limits';
import { type Claim, type ContactField, type KeyField, mergeClaim, type Values } from '../../identity/contact-view.ts';
import type { ContactMerges, EntryMerges } from '../../identity/merged-entries.ts';
import type { NewContact } from '../store.ts';
import { changeAsKept } from './accounts/entry-merges.ts';

export interface ClaimRow extends Omit<Claim, 'newestLink'> {
  readonly claimID: string;
  readonly account: number;
  readonly token: number;
  readonly user: number;
  readonly contact: number;
  readonly createdTime: number;
  readonly updatedTime: number;
}

/** The values of a claim as JSON. Attributes are a list of pairs, so that no ID acts as a property name. */
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

/** The first `most` of some values. If there are more, those are left out first that a value under the kept ID hides. */
const firstOf = <Value>(values: ReadonlyMap<string, Value>, merges: EntryMerges, most: number): [string, Value][] => {
  const isShown = (id: string) => merges.keptOf(id) === id || !values.has(merges.keptOf(id));
  return [...values].filter(([id]) => values.size <= most || isShown(id)).slice(0, most);
};

/**
 * Returns the JSON of a claim with the values of a request, added to the claim's values `before` if there are any. Of too many tags
 * and attributes the first stay, so that no page can make a claim that is slow to read. They get the IDs that stand for theirs.
 */
export const claimedBy = (request: NewContact, merges: ContactMerges, before?: StoredValues): string => {
  const { externalID, address, tags } = request;
  const kept = changeAsKept({ ...request, addedTags: tags, removedTags: [] }, merges);
  const given: Values = {
    fields: {
      ...kept.fields,
      ...(externalID !== undefined && { contactExternalID: externalID }),
      ...(address !== undefined && { contactEmailaddress: address }),
    },
    tags: new Map(kept.addedTags.map((id) => [id, true])),
    attributes: new Map(kept.attributes),
  };
  const values = before ? mergeClaim(toValues(before), given) : given;
  return JSON.stringify({
    fields: values.fields,
    tags: firstOf(values.tags, merges.tag, limits.tagsPerClaim).map(([id]) => id),
    attributes: firstOf(values.attributes, merges.attr, limits.attributesPerClaim),
  });
};

/**
 * The field and value by which a browser token's request finds its contact: the address, or without one the external ID. A claim
 * belongs to one of them. Requests by the other have another claim, because a handle must not reveal that both find one contact.
 */
export const keyOfClaim = ({ externalID = '', address }: NewContact): { field: KeyField; value: string } =>
  address === undefined
    ? { field: 'contactExternalID', value: externalID }
    : { field: 'contactEmailaddress', value: address };

/** The same as one text: what the drivers compute of a stored claim, and have in an index. */
export const keyTextOf = (request: NewContact): string => {
  const { field, value } = keyOfClaim(request);
  return `${field} ${value}`;
};

/**
 * Returns the values of a claim that its handle shows: of a claim by an external ID, only that. The handle goes to everybody who
 * sends the same userUUID and key, and external IDs are often guessable numbers.
 */
export const valuesOfHandle = ({ values }: Pick<ClaimRow, 'values'>): Values => {
  const { contactEmailaddress, contactExternalID } = values.fields;
  if (contactEmailaddress !== undefined || contactExternalID === undefined) return values;
  return { fields: { contactExternalID }, tags: new Map(), attributes: new Map() };
};

/**
 * The contact of a new claim: that of the user's earlier claims with this key, which are in order, or else the one that has the key.
 * The two differ when the first has given the key up to the other and is merged into it (rules/contact-keys.ts). The user's claims
 * and link then stay where they are, because a new handle would reveal to the page that a server knows the key.
 */
export const claimedContact = (earlier: readonly Pick<ClaimRow, 'contact'>[], found: number): number =>
  earlier[0]?.contact ?? found;
