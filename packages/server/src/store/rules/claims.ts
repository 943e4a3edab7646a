/** Claims as both drivers store them: the values that a browser token sent about a contact. */
import { limits } from '@firsthand/contract/limits';
import { type Claim, type ContactField, mergeClaim, type Values } from '../../identity/contact-view.ts';
import type { NewContact } from '../store.ts';

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

/**
 * Returns the JSON of a claim with the values of a request, added to the claim's values `before` if there are any. Of too many tags
 * and attributes the first stay, so that no page can make a claim that is slow to read.
 */
export const claimedBy = ({ fields, address, tags, attributes }: NewContact, before?: StoredValues): string => {
  const given: Values = {
    fields: { ...fields, contactEmailaddress: address },
    tags: new Map(tags.map((id) => [id, true])),
    attributes: new Map(attributes),
  };
  const values = before ? mergeClaim(toValues(before), given) : given;
  return JSON.stringify({
    fields: values.fields,
    tags: [...values.tags.keys()].slice(0, limits.tagsPerClaim),
    attributes: [...values.attributes].slice(0, limits.attributesPerClaim),
  });
};
