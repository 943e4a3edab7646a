/** Translates a request's `by` field into the dimensions of an engine query. */
import {
  type ContactDimension,
  type DimensionText,
  isContactDimension,
  parseAttributeDimension,
} from '@firsthand/contract/reports/report';
import { pathAttrID } from '../../../reports/attributes.ts';
import type { ContactList, Dimension, Grouping, OwnSites } from '../../../reports/queries.ts';
import { offsetsIn, type Range } from './ranges.ts';

/** The contacts with each value, for each dimension that groups by contacts. */
export type ContactLists = ReadonlyMap<ContactDimension, readonly ContactList[]>;

const events = { 'first:': 'first', 'last:': 'last', 'person:first:': 'personFirst' } as const;
const pages = { entryPage: 'first', exitPage: 'last' } as const;

/** The account data that dimensions depend on. */
export interface DimensionContext {
  readonly zone: string;
  readonly lists: ContactLists;
  readonly own: OwnSites;
}

const toDimension = (text: DimensionText, { lists, own }: DimensionContext): Dimension => {
  if (isContactDimension(text)) return { lists: lists.get(text) ?? [] };
  if (text === 'entryPage' || text === 'exitPage') return { attrID: pathAttrID, of: pages[text] };
  if (text === 'referrerHost' || text === 'entryReferrerHost' || text === 'firstReferrerHost') return { by: text, own };
  const attribute = parseAttributeDimension(text);
  if (!attribute) return { by: text } as Dimension;
  const { prefix, attrID } = attribute;
  return prefix === 'attr:' ? { attrID } : { attrID, of: events[prefix] };
};

const isClockDimension = (text: DimensionText): boolean => text === 'weekday' || text === 'hour';

/** Returns the dimensions and the UTC offsets that they need. Throws like offsetsIn. */
export const toGrouping = (by: readonly DimensionText[], range: Range, context: DimensionContext): Grouping => ({
  dimensions: by.map((text) => toDimension(text, context)),
  offsets: by.some(isClockDimension) ? offsetsIn(range, context.zone) : [[range.from, 0]],
});
