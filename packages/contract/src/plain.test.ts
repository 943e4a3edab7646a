import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { z } from 'zod';
import { createUnknownFieldFinder } from './checking.ts';
import { batchEvent, logEventInput, logEventsInput } from './event.ts';
import { limits } from './limits.ts';
import { isPlain } from './plain.ts';

const tracked = {
  eventID: 7,
  eventUUID: 'mabcdef10000000000',
  eventTime: 1_800_000_000_000,
  eventAttrArray: [
    { attrID: 'page', attrValue: '/' },
    { attrID: 'robot', attrValue: '' },
  ],
};
const userUUID = 'user_aaaaaaaaaaaaaaaa';
const { eventID: _, ...rest } = tracked;
const named = { eventName: 'Inscription réussie', ...rest };
const envelope = { tokenUUID: 'browser_0', userUUID, cookieDomain: 'example.com', sentTime: 1_800_000_000_000 };

test('recognizes input from the tracker as plain', () => {
  expect(isPlain(batchEvent, tracked)).toBe(true);
  expect(isPlain(logEventsInput, { ...envelope, event: [tracked, tracked] })).toBe(true);
  expect(isPlain(logEventInput, { tokenUUID: 'browser_0', userUUID, ...tracked })).toBe(true);
  expect(isPlain(batchEvent, named)).toBe(true);
  expect(isPlain(logEventInput, { tokenUUID: 'browser_0', userUUID, ...named })).toBe(true);
});

/** Strings around a limit: of this length, one character shorter, or one character longer. */
const textOf = (length: number) => fc.integer({ min: length - 1, max: length + 1 }).map((size) => 'x'.repeat(size));
/** Any code point. fast-check's own unit for this takes 0.9 s per process to build a table of code points. */
const anyCharacter = fc.integer({ min: 0, max: 0x10ffff }).map((code) => String.fromCodePoint(code));
const oddities = [
  '__proto__',
  'constructor',
  'toString',
  '',
  ' ',
  ' a',
  'a,b',
  '-a',
  'a\0',
  'a\ud800',
  '😀',
  '0000000000000000',
  'undefinedundefined',
  '12',
  'true',
  'e\u0301',
];
const anyValue = fc.oneof(
  fc.constantFrom<unknown>(...oddities, null, true, [], {}, [[]], 0, -0, 1, -1, 1.5, 2 ** 53, NaN, 1 / 0),
  fc.constantFrom(limits.eventIDMax, limits.eventIDMax + 1, Date.UTC(10_000, 0), Date.UTC(10_000, 0) - 1, 1e12),
  fc.constantFrom(64, limits.nameLength, limits.attrValueLength).chain(textOf),
  fc.string({ unit: anyCharacter, maxLength: 20 }),
  fc.constantFrom('2026-01-01', '2026-01-01T00:00:00Z', '1800000000000'),
);

/** Usually the valid value, occasionally anything. */
const usually = (valid: unknown): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 12, arbitrary: fc.constant(valid) }, { weight: 1, arbitrary: anyValue });

const fieldsOf = (fields: Readonly<Record<string, fc.Arbitrary<unknown>>>): fc.Arbitrary<unknown> =>
  fc
    .tuple(
      fc.record(fields, { requiredKeys: [] }),
      fc.oneof(
        { weight: 8, arbitrary: fc.constant({}) },
        {
          weight: 1,
          arbitrary: fc.dictionary(fc.constantFrom('toString', '__proto__', 'extra', 'tokenUUID'), anyValue),
        },
      ),
    )
    // Like JSON.parse, this creates `__proto__` as an own property.
    .map(([known, extra]) => Object.fromEntries([...Object.entries(known), ...Object.entries(extra)]));

const attribute = fieldsOf({
  attrID: fc.oneof(fc.constantFrom('a', 'b'), fc.uuid(), usually('page')),
  attrValue: usually('/'),
});
const attributes = fc.oneof(
  { weight: 6, arbitrary: fc.array(attribute, { maxLength: 3 }) },
  { weight: 1, arbitrary: anyValue },
  {
    weight: 1,
    arbitrary: fc
      .integer({ min: limits.attributesPerEvent - 1, max: limits.attributesPerEvent + 1 })
      .map((length) => Array.from({ length }, (_, nth) => ({ attrID: `a${nth}`, attrValue: '' }))),
  },
);
const subjectFields = { userUUID: usually(userUUID), contactUUID: usually('contact') };
const eventID = usually(7);
const eventName = usually('Signed up');
const eventFields = {
  eventUUID: usually(tracked.eventUUID),
  eventTime: usually(tracked.eventTime),
  eventAttrArray: attributes,
};
const eventOf = (more: Readonly<Record<string, fc.Arbitrary<unknown>>>) =>
  fc.oneof(
    { weight: 3, arbitrary: fieldsOf({ eventID, ...eventFields, ...more }) },
    { weight: 3, arbitrary: fieldsOf({ eventName, ...eventFields, ...more }) },
    { weight: 1, arbitrary: fieldsOf({ eventID, eventName, ...eventFields, ...more }) },
  );
const events = fc.oneof(
  fc.array(eventOf({}), { maxLength: 3 }),
  anyValue,
  fc.constantFrom(limits.eventsPerBatch, limits.eventsPerBatch + 1).map((length) => Array(length).fill(tracked)),
);
const sent = { tokenUUID: usually('browser_0'), sentTime: usually(1), ...subjectFields };

const numRuns = Number(process.env.RUNS ?? 2_000);

test.each<[name: string, schema: z.ZodType, inputs: fc.Arbitrary<unknown>]>([
  ['batchEvent', batchEvent, eventOf(subjectFields)],
  ['logEvent', logEventInput, eventOf(sent)],
  ['logEvents', logEventsInput, fieldsOf({ ...sent, cookieDomain: usually('example.com'), event: events })],
])('considers input plain only if Zod returns it unchanged and it has no unknown fields: %s', (_, schema, inputs) => {
  // Equal for Zod, but without a registered fast check.
  const unregistered = schema.clone();
  const findUnknown = createUnknownFieldFinder(schema);
  let plain = 0;
  fc.assert(
    fc.property(fc.oneof({ weight: 20, arbitrary: inputs }, { weight: 1, arbitrary: anyValue }), (input) => {
      if (!isPlain(schema, input)) return;
      plain += 1;
      const { tokenUUID: _, ...fields } = input as Record<string, unknown>;
      expect(unregistered.safeParse(input)).toStrictEqual({ success: true, data: fields });
      expect(findUnknown(fields)).toEqual([]);
    }),
    { numRuns },
  );
  expect(plain).toBeGreaterThan(numRuns / 10);
});
