/** Finds the filters in a request, and replaces segment names with the segments' filters. */
import type { Filter } from '@firsthand/contract/reports/filter';
import { expandSegments, listSegmentNames } from '@firsthand/contract/reports/segment';
import type { Store } from '../../../store/store.ts';
import { refusalOf } from '../../operation-route.ts';

interface FilterFields<Segment> {
  readonly filter?: Filter<Segment> | undefined;
  readonly step?: readonly Filter<Segment>[] | undefined;
  readonly first?: Filter<Segment> | undefined;
  readonly back?: Filter<Segment> | undefined;
}

/** Returns all filters in a request. */
export const filtersOf = <Segment = never>({ filter, step = [], first, back }: FilterFields<Segment>) =>
  [filter, ...step, first, back].filter((one) => one !== undefined);

/** A request whose segments have all been replaced with their filters. */
export type WithoutSegments<Input> = {
  readonly [Name in keyof Input]: Name extends 'filter' | 'first' | 'back'
    ? Filter | undefined
    : Name extends 'step'
      ? readonly Filter[] | Extract<Input[Name], undefined>
      : Input[Name];
};

/**
 * Replaces the segment names in a request with the segments' current filters. Rejects with Refusal('unknown_segment'),
 * or with Refusal('invalid_field') if a segment makes a filter too large.
 */
export const replaceSegments = async <Input extends FilterFields<string>>(
  store: Pick<Store, 'listSegments'>,
  account: number,
  input: Input,
  /** The path of `input` within the request, with a trailing dot. */
  base = '',
): Promise<WithoutSegments<Input>> => {
  const segmentNames = [...new Set(filtersOf<string>(input).flatMap(listSegmentNames))];
  if (segmentNames.length === 0) return input as unknown as WithoutSegments<Input>;
  const segments = await store.listSegments({ account, segmentNames });
  const savedFilters = new Map(segments.map(({ segmentName, filter }) => [segmentName, filter]));
  const replaceIn = (filter: Filter<string>, path: string): Filter => {
    const checked = expandSegments(filter, (segmentName) => savedFilters.get(segmentName), base + path);
    if (!checked.ok) throw refusalOf(checked.problem);
    return checked.value;
  };
  const { filter, step, first, back } = input;
  return {
    ...input,
    ...(filter && { filter: replaceIn(filter, 'filter') }),
    ...(step && { step: step.map((one, nth) => replaceIn(one, `step[${nth}]`)) }),
    ...(first && { first: replaceIn(first, 'first') }),
    ...(back && { back: replaceIn(back, 'back') }),
  } as unknown as WithoutSegments<Input>;
};
