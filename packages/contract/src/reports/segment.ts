/** Segments: filters of reports that are saved under a name. */
import * as z from 'zod';
import * as told from '../answer.ts';
import { type Checked, fieldPath } from '../checking.ts';
import * as field from '../fields.ts';
import { limits } from '../limits.ts';
import { checkSize, type Filter, filter, partsOf, type SentFilter } from './filter.ts';

type Path = readonly PropertyKey[];

/** The segments that a filter names, each with its path. */
const segmentsIn = (given: Filter<string>, path: Path = []): { segmentName: string; path: Path }[] => [
  ...(given.segment === undefined ? [] : [{ segmentName: given.segment, path: [...path, 'segment'] }]),
  ...partsOf(given).flatMap(([part, ...names]) => segmentsIn(part, [...path, ...names])),
];

export const segmentNamesIn = (given: Filter<string>): string[] =>
  segmentsIn(given).map(({ segmentName }) => segmentName);

const bytesOf = (text: string): number => new TextEncoder().encode(text).length;
const maxBytes = `${limits.segmentBytes.toLocaleString('en')} bytes`;

/** The filter of a segment. It names no other segment, so that none leads back to itself. */
const filterWithoutSegments = filter.superRefine((given, context) => {
  for (const { path } of segmentsIn(given))
    context.addIssue({ code: 'custom', path: [...path], message: 'must not be in the filter of another segment' });
}) as z.ZodType<Filter, SentFilter>;

/** The filter of a segment, returned as it was sent. */
const filterAsSent = z
  .unknown()
  .superRefine((given, context) => {
    const { error } = filterWithoutSegments.safeParse(given);
    for (const { path, message } of error?.issues ?? []) context.addIssue({ code: 'custom', path, message });
    if (!error && bytesOf(JSON.stringify(given)) > limits.segmentBytes)
      context.addIssue({ code: 'custom', message: `must be at most ${maxBytes} of JSON` });
  })
  .meta({ sent: { $ref: '#/components/schemas/Filter' } }) as unknown as z.ZodType<SentFilter, SentFilter>;

const example = { attrID: 'product', is: 'Stone teapot' };

export const createSegmentInput = z.object({
  segmentName: field.segmentName,
  filter: field.described(field.orJSON(filterAsSent), 'The filter to save. It names no other segment.', example),
});
export const createSegmentOutput = told.answer({
  segmentName: told.told(field.segmentName),
  replaced: told.flag('Whether there was a segment of this name, whose filter this one replaces.', false),
});

export const listSegmentsInput = z.object({});
export const listSegmentsOutput = told.answer({
  segment: z
    .array(
      z.object({
        segmentName: told.told(field.segmentName),
        filter: field.described(
          z.record(z.string(), z.unknown()) as unknown as z.ZodType<SentFilter>,
          'Its filter, as it was sent.',
          example,
        ),
        createdTime: told.isoTime('When the name was first saved.'),
        updatedTime: told.isoTime('When the filter was last saved.'),
      }),
    )
    .describe('The segments, sorted by name.'),
});

export const deleteSegmentInput = z.object({ segmentName: field.segmentName });
export const deleteSegmentOutput = told.answer({ segmentName: told.told(field.segmentName) });

/**
 * Replaces each segment in a checked filter by the filter that is saved under its name, for which `savedAs` returns the JSON text.
 * `base` is the path of the filter in the request. The limits of a filter hold for the result: a segment counts as the filter that
 * it stands for.
 */
export const withoutSegments = (
  given: Filter<string>,
  savedAs: (segmentName: string) => string | undefined,
  base: string,
): Checked<Filter> => {
  const refused = (path: Path, message: string, code: 'unknown_segment' | 'invalid_field' = 'invalid_field') => {
    const at = fieldPath(path, base);
    return { ok: false as const, problem: { code, field: at, message: `\`${at}\` ${message}` } };
  };

  const saved = new Map<string, Filter>();
  let bytes = 0;
  for (const { segmentName, path } of segmentsIn(given)) {
    const text = savedAs(segmentName);
    if (text === undefined) return refused(path, 'names a segment that the account does not have', 'unknown_segment');
    bytes += bytesOf(text);
    if (bytes > limits.segmentBytes)
      return refused(path, `makes the segments of the filter hold more than ${maxBytes} of JSON together`);
    const parsed = filterWithoutSegments.safeParse(JSON.parse(text));
    if (!parsed.success)
      return refused(path, 'names a segment that an earlier version saved, which is no filter any more; save it again');
    saved.set(segmentName, parsed.data);
  }

  const problems: ReturnType<typeof refused>[] = [];
  checkSize(
    given,
    (path, message) => problems.push(refused(path, message)),
    (segmentName) => saved.get(segmentName),
  );
  if (problems[0]) return problems[0];

  const replaced = ({ and, or, not, did, segment, ...others }: Filter<string>): Filter => {
    if (segment !== undefined) return saved.get(segment) as Filter;
    return {
      ...others,
      ...(and && { and: and.map(replaced) }),
      ...(or && { or: or.map(replaced) }),
      ...(not && { not: replaced(not) }),
      ...(did && { did: { ...did, filter: did.filter && replaced(did.filter) } }),
    };
  };
  return { ok: true, value: replaced(given) };
};
