/** What a breakdown is by: from the words of a request to the dimensions of a question. */
import { attributeIn, type ContactWord, type DimensionText, isContactWord } from '@firsthand/contract/reports/report';
import { pathAttrID } from '../../../reports/attributes.ts';
import type { ContactList, Dimension, Grouping, OwnSites } from '../../../reports/questions.ts';
import { offsetsIn, type Range } from './ranges.ts';

/** The contacts with each value of the dimensions that are of contacts. */
export type ContactLists = ReadonlyMap<ContactWord, readonly ContactList[]>;

const events = { 'first:': 'first', 'last:': 'last', 'person:first:': 'personFirst' } as const;
const pages = { entryPage: 'first', exitPage: 'last' } as const;

/** What dimensions mean in an account. */
export interface Surroundings {
  readonly zone: string;
  readonly lists: ContactLists;
  readonly own: OwnSites;
}

const toDimension = (text: DimensionText, { lists, own }: Surroundings): Dimension => {
  if (isContactWord(text)) return { lists: lists.get(text) ?? [] };
  if (text === 'entryPage' || text === 'exitPage') return { attrID: pathAttrID, of: pages[text] };
  if (text === 'referrerHost' || text === 'entryReferrerHost' || text === 'firstReferrerHost') return { by: text, own };
  const attribute = attributeIn(text);
  if (!attribute) return { by: text } as Dimension;
  const { prefix, attrID } = attribute;
  return prefix === 'attr:' ? { attrID } : { attrID, of: events[prefix] };
};

const isOfClock = (text: DimensionText): boolean => text === 'weekday' || text === 'hour';

/** The dimensions, and the offsets that they need. Throws as offsetsIn. */
export const toGrouping = (by: readonly DimensionText[], range: Range, surroundings: Surroundings): Grouping => ({
  dimensions: by.map((text) => toDimension(text, surroundings)),
  offsets: by.some(isOfClock) ? offsetsIn(range, surroundings.zone) : [[range.from, 0]],
});
