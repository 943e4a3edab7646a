import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { z } from 'zod';
import { createFindUnknown } from './checking.ts';
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

test('what the tracker sends is plain', () => {
  expect(isPlain(batchEvent, tracked)).toBe(true);
  expect(isPlain(logEventsInput, { ...envelope, event: [tracked, tracked] })).toBe(true);
  expect(isPlain(logEventInput, { tokenUUID: 'browser_0', userUUID, ...tracked })).toBe(true);
  expect(isPlain(batchEvent, named)).toBe(true);
  expect(isPlain(logEventInput, { tokenUUID: 'browser_0', userUUID, ...named })).toBe(true);
});

/** Of a list of characters, so that limits are met exactly. */
const textOf = (length: number) => fc.integer({ min: length - 1, max: length + 1 }).map((many) => 'x'.repeat(many));
/** Any code point. With fast-check's own `unit: anyCharacter` each process spends 0.9 s on a table of all of them. */
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

/** Mostly what is right, now and then anything. */
const nearly = (right: unknown): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 12, arbitrary: fc.constant(right) }, { weight: 1, arbitrary: anyValue });

const fieldsOf = (right: Readonly<Record<string, fc.Arbitrary<unknown>>>): fc.Arbitrary<unknown> =>
  fc
    .tuple(
      fc.record(right, { requiredKeys: [] }),
      fc.oneof(
        { weight: 8, arbitrary: fc.constant({}) },
        {
          weight: 1,
          arbitrary: fc.dictionary(fc.constantFrom('toString', '__proto__', 'extra', 'tokenUUID'), anyValue),
        },
      ),
    )
    // As JSON.parse makes them.
    .map(([known, more]) => Object.fromEntries([...Object.entries(known), ...Object.entries(more)]));

const attribute = fieldsOf({
  attrID: fc.oneof(fc.constantFrom('a', 'b'), fc.uuid(), nearly('page')),
  attrValue: nearly('/'),
});
const attributes = fc.oneof(
  { weight: 6, arbitrary: fc.array(attribute, { maxLength: 3 }) },
  { weight: 1, arbitrary: anyValue },
  {
    weight: 1,
    arbitrary: fc
      .integer({ min: limits.attributesPerEvent - 1, max: limits.attributesPerEvent + 1 })
      .map((many) => Array.from({ length: many }, (_, nth) => ({ attrID: `a${nth}`, attrValue: '' }))),
  },
);
const who = { userUUID: nearly(userUUID), contactUUID: nearly('contact') };
const eventID = nearly(7);
const eventName = nearly('Signed up');
const what = {
  eventUUID: nearly(tracked.eventUUID),
  eventTime: nearly(tracked.eventTime),
  eventAttrArray: attributes,
};
const fieldsOfEvent = (others: Readonly<Record<string, fc.Arbitrary<unknown>>>) =>
  fc.oneof(
    { weight: 3, arbitrary: fieldsOf({ eventID, ...what, ...others }) },
    { weight: 3, arbitrary: fieldsOf({ eventName, ...what, ...others }) },
    { weight: 1, arbitrary: fieldsOf({ eventID, eventName, ...what, ...others }) },
  );
const events = fc.oneof(
  fc.array(fieldsOfEvent({}), { maxLength: 3 }),
  anyValue,
  fc.constantFrom(limits.eventsPerBatch, limits.eventsPerBatch + 1).map((many) => Array(many).fill(tracked)),
);
const sent = { tokenUUID: nearly('browser_0'), sentTime: nearly(1), ...who };

test.each<[name: string, schema: z.ZodType, inputs: fc.Arbitrary<unknown>]>([
  ['batchEvent', batchEvent, fieldsOfEvent(who)],
  ['logEvent', logEventInput, fieldsOfEvent(sent)],
  ['logEvents', logEventsInput, fieldsOf({ ...sent, cookieDomain: nearly('example.com'), event: events })],
])('what is plain Zod answers as it is, and knows: %s', (_, schema, inputs) => {
  // The same to Zod, and without a test of its own.
  const asked = schema.clone();
  const findUnknown = createFindUnknown(schema);
  let plain = 0;
  fc.assert(
    fc.property(fc.oneof({ weight: 20, arbitrary: inputs }, { weight: 1, arbitrary: anyValue }), (input) => {
      if (!isPlain(schema, input)) return;
      plain += 1;
      const { tokenUUID: _, ...fields } = input as Record<string, unknown>;
      expect(asked.safeParse(input)).toStrictEqual({ success: true, data: fields });
      expect(findUnknown(fields)).toEqual([]);
    }),
    { numRuns: 5_000 },
  );
  expect(plain).toBeGreaterThan(500);
});
