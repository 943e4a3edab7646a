/** What a breakdown is by: from the words of a request to the dimensions of a question. */
import { attributeIn, type ContactWord, type DimensionText, isContactWord } from '@firsthand/contract/reports/report';
import { pathAttrID } from '../../../reports/attributes.ts';
import type { ContactList, Dimension, Grouping } from '../../../reports/questions.ts';
import { offsetsIn, type Range } from './ranges.ts';

/** The contacts with each value of the dimensions that are of contacts. */
export type ContactLists = ReadonlyMap<ContactWord, readonly ContactList[]>;

const pages = { entryPage: 'first', exitPage: 'last' } as const;

const toDimension = (text: DimensionText, lists: ContactLists): Dimension => {
  if (isContactWord(text)) return { lists: lists.get(text) ?? [] };
  if (text === 'entryPage' || text === 'exitPage') return { attrID: pathAttrID, of: pages[text] };
  const attribute = attributeIn(text);
  if (!attribute) return { by: text } as Dimension;
  const { prefix, attrID } = attribute;
  return prefix === 'attr:' ? { attrID } : { attrID, of: prefix === 'first:' ? 'first' : 'last' };
};

const isOfClock = (text: DimensionText): boolean => text === 'weekday' || text === 'hour';

/** The dimensions, and the offsets that they need. Throws as offsetsIn. */
export const toGrouping = (
  by: readonly DimensionText[],
  range: Range,
  zone: string,
  lists: ContactLists,
): Grouping => ({
  dimensions: by.map((text) => toDimension(text, lists)),
  offsets: by.some(isOfClock) ? offsetsIn(range, zone) : [[range.from, 0]],
});
