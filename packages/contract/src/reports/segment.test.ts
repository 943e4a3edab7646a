import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { check } from '../checking.ts';
import { limits } from '../limits.ts';
import { filter, type SentFilter } from './filter.ts';
import { createSegmentInput, expandSegments, listSegmentNames } from './segment.ts';

const event = { event: 1 };
const nested = (levels: number, innermost: object = event): object =>
  levels === 1 ? innermost : { not: nested(levels - 1, innermost) };
const isOneOf = (texts: number, length: number) => ({ attrID: 'a', is: Array(texts).fill('x'.repeat(length)) });
const bytesOf = (given: object) => Buffer.byteLength(JSON.stringify(given));

const saveFilter = (given: object) => check(createSegmentInput, { segmentName: 'Buyers', filter: given });

/** The filter with its segments expanded, or the problem found. */
const expand = (given: object, segments: Readonly<Record<string, object>>) => {
  const names = new Map(Object.entries(segments).map(([name, one]) => [name, JSON.stringify(one)]));
  const result = expandSegments(filter.parse(given), (name) => names.get(name), 'filter');
  return result.ok ? result.value : result.problem;
};

it('rejects a segment whose saved filter is no longer valid', () => {
  expect(expand({ not: { segment: 'Old' } }, { Old: { times: 3 } })).toEqual({
    code: 'invalid_field',
    field: 'filter.not.segment',
    message: expect.stringContaining('names a segment from an earlier version'),
  });
});

describe('a segment’s filter', () => {
  it('is stored as it was sent', () => {
    const sent = { and: [{ event: 'Paid' }, { did: { from: '2026-11-01T00:00:00Z' } }, { attrID: 'plan', is: 5 }] };
    expect(saveFilter(sent)).toEqual({ ok: true, value: { segmentName: 'Buyers', filter: sent } });
    const asText = { segmentName: ' Buyers ', filter: JSON.stringify(sent) };
    expect(check(createSegmentInput, asText)).toEqual(saveFilter(sent));
  });

  it.each(['__proto__', 'constructor', '2026', 'e\u0301', 'x'.repeat(255)])(
    'can be saved under the name %s',
    (segmentName) => {
      const value = { segmentName: segmentName.normalize('NFC'), filter: event };
      expect(check(createSegmentInput, { segmentName, filter: event })).toEqual({ ok: true, value });
    },
  );

  it.each([
    [{}, 'segmentName', '`segmentName` is required'],
    [{ segmentName: ' ', filter: event }, 'segmentName', '`segmentName` is required'],
    [{ segmentName: 'x'.repeat(256), filter: event }, 'segmentName', '`segmentName` must be text of at most 255'],
    [{ segmentName: 'a\0', filter: event }, 'segmentName', '`segmentName` must not contain NUL characters'],
    [{ segmentName: 'a' }, 'filter', '`filter` is required'],
    [{ segmentName: 'a', filter: 'Paid' }, 'filter', '`filter` must be a JSON object; the value is text'],
    [{ segmentName: 'a', filter: { and: [event, { event: 0 }] } }, 'filter.and[1].event', '`filter.and[1].event` must'],
    [{ segmentName: 'a', filter: { not: { __proto: 1 } } }, 'filter.not', '`filter.not` has `__proto`, which no'],
    [
      { segmentName: 'a', filter: { and: [event, { did: { filter: { segment: 'b' } } }] } },
      'filter.and[1].did.filter.segment',
      "`filter.and[1].did.filter.segment` must not be in another segment's filter",
    ],
    [{ segmentName: 'a', filter: isOneOf(9, 2_000) }, 'filter', '`filter` must be at most 16,384 bytes of JSON'],
  ])('is rejected: %j', (given, field, message) => {
    const result = check(createSegmentInput, given);
    expect(result).toMatchObject({ ok: false, problem: { field, message: expect.stringContaining(message) } });
  });

  it('can be as large as the limit in bytes', () => {
    const largest = { or: [isOneOf(8, 2_000), { attrID: 'b', is: '' }] };
    largest.or[1] = { attrID: 'b', is: 'x'.repeat(limits.segmentBytes - bytesOf(largest)) };
    expect(bytesOf(largest)).toBe(limits.segmentBytes);
    expect(saveFilter(largest).ok).toBe(true);
    expect(saveFilter({ ...largest, or: [largest.or[0], { attrID: 'é', is: largest.or[1]?.is }] }).ok).toBe(false);
  });
});

describe('a filter that refers to segments', () => {
  it.each<[object, Record<string, object>, object]>([
    [{ segment: 'a' }, { a: { event: 'Paid' } }, { event: ['Paid'] }],
    [{ segment: ' a ' }, { a: event }, { event: [1] }],
    [
      { and: [{ segment: 'a' }, { or: [event, { not: { segment: 'b' } }] }] },
      { a: { attrID: 'plan', is: 5 }, b: { contact: {} } },
      { and: [{ attrID: 'plan', is: ['5'] }, { or: [{ event: [1] }, { not: { contact: {} } }] }] },
    ],
    [
      { did: { filter: { segment: 'a' }, atLeast: 2 } },
      { a: { event: 7 } },
      { did: { filter: { event: [7] }, atLeast: 2 } },
    ],
    [{ segment: 'a' }, { a: { did: { event: 7 } } }, { did: { event: [7] } }],
    [{ segment: '__proto__' }, JSON.parse('{"__proto__":{"event":1}}'), { event: [1] }],
    [event, {}, { event: [1] }],
  ])('is expanded to the saved filters: %j with %j', (given, segments, expected) => {
    expect(expand(given, segments)).toEqual(expected);
    expect(filter.safeParse(expand(given, segments)).success).toBe(true);
  });

  it.each<[object, Record<string, object>, path: string, message: string]>([
    [{ segment: 'b' }, { a: event }, 'filter.segment', 'names a segment that the account does not have'],
    [{ segment: 'constructor' }, {}, 'filter.segment', 'names a segment that the account does not have'],
    [
      { and: [{ segment: 'a' }, { not: { segment: 'A' } }] },
      { a: event },
      'filter.and[1].not.segment',
      'names a segment that the account does not have',
    ],
    [
      nested(5, { segment: 'a' }),
      { a: nested(2) },
      'filter.not.not.not.not.segment',
      'makes the filter more than 5 levels deep',
    ],
    [
      { or: [{ segment: 'a' }, { segment: 'a' }] },
      { a: { or: Array(24).fill(event) } },
      'filter.or[1].segment',
      'makes the filter contain more than 50 conditions',
    ],
    [
      { or: [{ segment: 'a' }, ...Array(25).fill(event)] },
      { a: { or: Array(24).fill(event) } },
      'filter.or[25]',
      'is one condition too many: a filter has at most 50',
    ],
    [
      { did: { filter: { segment: 'a' } } },
      { a: { not: { did: {} } } },
      'filter.did.filter.segment',
      'contains a `did`, which must not be within another `did`',
    ],
    [
      { and: [{ segment: 'a' }, { did: {} }, { segment: 'a' }] },
      { a: { or: Array(3).fill({ did: {} }) } },
      'filter.and[2].segment',
      'makes the filter contain more than 5 `did`',
    ],
    [
      { and: [{ segment: 'a' }, { segment: 'a' }] },
      { a: isOneOf(5, 2_000) },
      'filter.and[1].segment',
      "makes the filter's segments exceed 16,384 bytes of JSON together",
    ],
  ])('is rejected with the segment’s path: %j with %j', (given, segments, field, message) => {
    const code = message.startsWith('names') ? 'unknown_segment' : 'invalid_field';
    expect(expand(given, segments)).toEqual({ code, field, message: `\`${field}\` ${message}` });
  });

  it('has the same limits on levels and conditions as a filter without segments', () => {
    expect(expand(nested(4, { segment: 'a' }), { a: nested(2) })).toEqual(filter.parse(nested(5)));
    const half = { or: Array(23).fill(event) };
    expect(expand({ or: [{ segment: 'a' }, { segment: 'a' }, event] }, { a: half })).not.toHaveProperty('code');
  });

  it('is expanded to a filter without segments, or rejected if that filter is invalid', () => {
    const names = ['a', 'b', '__proto__'] as const;
    const leaf = fc.constantFrom<SentFilter>(
      { event: 1 },
      { event: ['Paid', 7] },
      { attrID: 'plan', isNot: 'pro' },
      { contact: { contactTagID: 'vip' } },
      { did: { event: 'Paid', withinDays: 30 } },
      { did: {} },
    );
    const filterOf = (leaf: fc.Arbitrary<SentFilter>) =>
      fc.letrec<{ filter: SentFilter }>((tie) => ({
        filter: fc.oneof(
          { depthSize: 'small' },
          leaf,
          fc.record({ and: fc.array(tie('filter'), { minLength: 1, maxLength: 4 }) }),
          fc.record({ or: fc.array(tie('filter'), { minLength: 1, maxLength: 4 }) }),
          fc.record({ not: tie('filter') }),
          fc.record({ did: fc.record({ filter: tie('filter') }) }),
        ),
      })).filter;
    const isFilter = (one: SentFilter) => filter.safeParse(one).success;
    const segments = fc
      .tuple(...names.map(() => filterOf(leaf).filter(isFilter)))
      .map((filters) => new Map<string, SentFilter>(names.map((name, nth) => [name, filters[nth] as SentFilter])));
    const withSegments = filterOf(fc.oneof(leaf, fc.constantFrom(...names.map((segment) => ({ segment })))));

    const writtenOut = (given: SentFilter, all: ReadonlyMap<string, SentFilter>): SentFilter => {
      const inner = (one: SentFilter) => writtenOut(one, all);
      if (given.segment !== undefined) return all.get(given.segment) as SentFilter;
      if (given.and) return { and: given.and.map(inner) };
      if (given.or) return { or: given.or.map(inner) };
      if (given.not) return { not: inner(given.not) };
      return given.did?.filter ? { did: { filter: inner(given.did.filter) } } : given;
    };
    let replacements = 0;
    fc.assert(
      fc.property(withSegments.filter(isFilter), segments, (given, all) => {
        const parsed = filter.parse(given);
        const textOf = (name: string) => JSON.stringify(all.get(name));
        const result = expandSegments(parsed, textOf, 'filter');
        const expected = filter.safeParse(writtenOut(given, all));
        expect(result.ok).toBe(expected.success);
        if (!result.ok) return;
        if (listSegmentNames(parsed).length > 0) replacements += 1;
        expect(result.value).toEqual(expected.data);
      }),
      { numRuns: 500 },
    );
    expect(replacements).toBeGreaterThan(50);
  });
});
