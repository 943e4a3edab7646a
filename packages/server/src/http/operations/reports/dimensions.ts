/** What a breakdown is by: from the words of a request to the dimensions of a question. */
import { attrIDOf, type ContactWord, type DimensionText, isContactWord } from '@firsthand/contract/reports/report';
import type { ContactList, Dimension, Grouping } from '../../../reports/questions.ts';
import { offsetsIn, type Range } from './ranges.ts';

/** The contacts with each value of the dimensions that are of contacts. */
export type ContactLists = ReadonlyMap<ContactWord, readonly ContactList[]>;

const toDimension = (text: DimensionText, lists: ContactLists): Dimension => {
  if (isContactWord(text)) return { lists: lists.get(text) ?? [] };
  const attrID = attrIDOf(text);
  return attrID === undefined ? ({ by: text } as Dimension) : { attrID };
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
