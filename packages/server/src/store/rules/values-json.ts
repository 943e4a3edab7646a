/** The values of a contact or claim as JSON. Attributes are a list of pairs, so that no ID acts as a property name. */
import { limits } from '@firsthand/contract/limits';
import type { ContactField, Values } from '../../identity/contact-view.ts';

export interface StoredValues {
  readonly fields: Partial<Record<ContactField, string>>;
  readonly tags: string[];
  readonly attributes: [string, string][];
}

export const toStoredValues = ({ fields, tags, attributes }: Values): StoredValues => ({
  fields,
  tags: [...tags.keys()],
  attributes: [...attributes] as [string, string][],
});

export const toValues = ({ fields, tags, attributes }: StoredValues): Values => ({
  fields,
  tags: new Map(tags.map((id) => [id, true])),
  attributes: new Map(attributes),
});

/** Bounds a claim's tags and attributes: the first ones stay, so that no page can make a claim that is slow to read. */
export const bounded = ({ fields, tags, attributes }: Values): Values => ({
  fields,
  tags: new Map([...tags].slice(0, limits.tagsPerClaim)),
  attributes: new Map([...attributes].slice(0, limits.attributesPerClaim)),
});
