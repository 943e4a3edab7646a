/** Segments: saved report filters with names. */
import * as z from 'zod';
import { type Checked, fieldPath } from '../checking.ts';
import * as field from '../fields.ts';
import { limits } from '../limits.ts';
import * as output from '../response.ts';
import { checkSize, type Filter, filter, partsOf, type SentFilter } from './filter.ts';

type Path = readonly PropertyKey[];

/** The segments that a filter refers to, each with its path. */
const segmentsIn = (given: Filter<string>, path: Path = []): { segmentName: string; path: Path }[] => [
  ...(given.segment === undefined ? [] : [{ segmentName: given.segment, path: [...path, 'segment'] }]),
  ...partsOf(given).flatMap(([part, ...names]) => segmentsIn(part, [...path, ...names])),
];

export const listSegmentNames = (given: Filter<string>): string[] =>
  segmentsIn(given).map(({ segmentName }) => segmentName);

const bytesOf = (text: string): number => new TextEncoder().encode(text).length;
const maxBytes = `${limits.segmentBytes.toLocaleString('en')} bytes`;

/** A segment's filter, which must not refer to other segments, so that there are no cycles. */
const filterWithoutSegments = filter.superRefine((given, context) => {
  for (const { path } of segmentsIn(given))
    context.addIssue({ code: 'custom', path: [...path], message: "must not be in another segment's filter" });
}) as z.ZodType<Filter, SentFilter>;

/** A segment's filter, stored as it was sent. */
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
  filter: field.describe(
    field.orJSON(filterAsSent),
    'The filter to save, which must not refer to another segment.',
    example,
  ),
});
export const createSegmentOutput = output.response({
  segmentName: output.responseText(field.segmentName),
  replaced: output.flag('Whether a segment with this name existed and its filter was replaced.', false),
});

export const listSegmentsInput = z.object({});
export const listSegmentsOutput = output.response({
  segment: z
    .array(
      z.object({
        segmentName: output.responseText(field.segmentName),
        filter: field.describe(
          z.record(z.string(), z.unknown()) as unknown as z.ZodType<SentFilter>,
          'The segment’s filter, as it was sent.',
          example,
        ),
        createdTime: output.isoTime('When the name was first saved.'),
        updatedTime: output.isoTime('When the filter was last saved.'),
      }),
    )
    .describe('The segments, sorted by name.'),
});

export const deleteSegmentInput = z.object({ segmentName: field.segmentName });
export const deleteSegmentOutput = output.response({ segmentName: output.responseText(field.segmentName) });

/**
 * Replaces each segment in a checked filter with its saved filter, which `findSaved` returns as JSON text. The result
 * must meet the filter limits. `base` is the filter's path in the request.
 */
export const expandSegments = (
  given: Filter<string>,
  findSaved: (segmentName: string) => string | undefined,
  base: string,
): Checked<Filter> => {
  const rejection = (path: Path, message: string, code: 'unknown_segment' | 'invalid_field' = 'invalid_field') => {
    const at = fieldPath(path, base);
    return { ok: false as const, problem: { code, field: at, message: `\`${at}\` ${message}` } };
  };

  const saved = new Map<string, Filter>();
  let bytes = 0;
  for (const { segmentName, path } of segmentsIn(given)) {
    const text = findSaved(segmentName);
    if (text === undefined) return rejection(path, 'names a segment that the account does not have', 'unknown_segment');
    bytes += bytesOf(text);
    if (bytes > limits.segmentBytes)
      return rejection(path, `makes the filter's segments exceed ${maxBytes} of JSON together`);
    const parsed = filterWithoutSegments.safeParse(JSON.parse(text));
    if (!parsed.success)
      return rejection(path, 'names a segment from an earlier version, whose filter is no longer valid; save it again');
    saved.set(segmentName, parsed.data);
  }

  const problems: ReturnType<typeof rejection>[] = [];
  checkSize(
    given,
    (path, message) => problems.push(rejection(path, message)),
    (segmentName) => saved.get(segmentName),
  );
  if (problems[0]) return problems[0];

  const expand = ({ and, or, not, did, segment, ...others }: Filter<string>): Filter => {
    if (segment !== undefined) return saved.get(segment) as Filter;
    return {
      ...others,
      ...(and && { and: and.map(expand) }),
      ...(or && { or: or.map(expand) }),
      ...(not && { not: expand(not) }),
      ...(did && { did: { ...did, filter: did.filter && expand(did.filter) } }),
    };
  };
  return { ok: true, value: expand(given) };
};
