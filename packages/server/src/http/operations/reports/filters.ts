/** The filters in a request, and the segments that they name. */
import type { Filter } from '@firsthand/contract/reports/filter';
import { segmentNamesIn, withoutSegments } from '@firsthand/contract/reports/segment';
import type { Store } from '../../../store/store.ts';
import { refusalOf } from '../../operation-route.ts';

interface FilterFields<Segment> {
  readonly filter?: Filter<Segment> | undefined;
  readonly step?: readonly Filter<Segment>[] | undefined;
  readonly first?: Filter<Segment> | undefined;
  readonly back?: Filter<Segment> | undefined;
}

/** The filters in a request, whatever they are for. */
export const filtersOf = <Segment = never>({ filter, step = [], first, back }: FilterFields<Segment>) =>
  [filter, ...step, first, back].filter((one) => one !== undefined);

/** A request whose filters name no segments. */
export type WithoutSegments<Input> = {
  readonly [Name in keyof Input]: Name extends 'filter' | 'first' | 'back'
    ? Filter | undefined
    : Name extends 'step'
      ? readonly Filter[] | Extract<Input[Name], undefined>
      : Input[Name];
};

/**
 * Replaces the segments that a request names by the filters that are saved now. Throws Refusal('unknown_segment'), and
 * Refusal('invalid_field') for a filter that a segment makes too large.
 */
export const replaceSegments = async <Input extends FilterFields<string>>(
  store: Pick<Store, 'listSegments'>,
  account: number,
  input: Input,
  /** The path of the request in what was sent, with a dot at its end. */
  base = '',
): Promise<WithoutSegments<Input>> => {
  const segmentNames = [...new Set(filtersOf<string>(input).flatMap(segmentNamesIn))];
  if (segmentNames.length === 0) return input as unknown as WithoutSegments<Input>;
  const listed = await store.listSegments({ account, segmentNames });
  const saved = new Map(listed.map(({ segmentName, filter }) => [segmentName, filter]));
  const replaced = (filter: Filter<string>, path: string): Filter => {
    const checked = withoutSegments(filter, (segmentName) => saved.get(segmentName), base + path);
    if (!checked.ok) throw refusalOf(checked.problem);
    return checked.value;
  };
  const { filter, step, first, back } = input;
  return {
    ...input,
    ...(filter && { filter: replaced(filter, 'filter') }),
    ...(step && { step: step.map((one, nth) => replaced(one, `step[${nth}]`)) }),
    ...(first && { first: replaced(first, 'first') }),
    ...(back && { back: replaced(back, 'back') }),
  } as unknown as WithoutSegments<Input>;
};
