/** What a breakdown is by: from the words of a request to the dimensions of a question. */
import { attrIDOf, type DimensionText } from '@firsthand/contract/reports/report';
import type { BreakdownQuestion, Dimension } from '../../../reports/questions.ts';
import { offsetsIn, type Range } from './ranges.ts';

export const toDimension = (text: DimensionText): Dimension => {
  const attrID = attrIDOf(text);
  return attrID === undefined ? ({ by: text } as Dimension) : { attrID };
};

const isOfClock = (text: DimensionText): boolean => text === 'weekday' || text === 'hour';

/** The offsets that dimensions need. Throws as offsetsIn. */
export const offsetsFor = (by: readonly DimensionText[], range: Range, zone: string): BreakdownQuestion['offsets'] =>
  by.some(isOfClock) ? offsetsIn(range, zone) : [[range.from, 0]];
