import { isStorable } from '@firsthand/contract/fields';
import { limits } from '@firsthand/contract/limits';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  createBodies,
  maxTimesBytes,
  type NewBody,
  readBody,
  readReceivedTime,
  toBodies,
  toSearchBytes,
} from './event-body.ts';

const eventTime = Date.UTC(2027, 0, 10);
const event: NewBody = { eventTime, timeReplaced: false, eventUUID: 'event-00001', attributes: [] };

const toBody = (one: NewBody, receivedTime: number): Buffer => toBodies([{ ...one, receivedTime }])[0] as Buffer;

/** Returns the expected result of reading the body. */
const toRead = ({ timeReplaced, eventUUID, attributes }: NewBody, receivedTime: number) => ({
  receivedTime,
  timeReplaced: timeReplaced ? 1 : 0,
  eventUUID,
  attributes,
});

const anyTime = fc.integer({ min: 0, max: Date.UTC(10_000, 0) - 1 });
const anyText = (maxLength: number) =>
  fc
    .oneof(
      fc.string({ unit: 'binary', maxLength: 60 }),
      fc.string({ unit: 'binary-ascii', maxLength: 60 }),
      fc
        .tuple(fc.string({ unit: 'binary', minLength: 1, maxLength: 3 }), fc.nat(maxLength))
        .map(([text, times]) => text.repeat(times)),
    )
    .map((text) => text.slice(0, maxLength).toWellFormed())
    .filter(isStorable);
const anyEvent: fc.Arbitrary<NewBody> = fc.record({
  eventTime: anyTime,
  timeReplaced: fc.boolean(),
  eventUUID: fc.stringMatching(/^[\w-]{8,64}$/),
  attributes: fc.uniqueArray(fc.tuple(anyText(limits.attrIDLength), anyText(limits.attrValueLength)), {
    maxLength: limits.attributesPerEvent,
    selector: ([attrID]) => attrID,
  }),
});

test('reads back any event that can be stored', () => {
  fc.assert(
    fc.property(anyEvent, anyTime, (event, receivedTime) => {
      const body = toBody(event, receivedTime);
      expect(readBody(body, event.eventTime)).toEqual(toRead(event, receivedTime));
      expect(readReceivedTime(body.subarray(0, maxTimesBytes), event.eventTime)).toBe(receivedTime);
      for (const [attrID, attrValue] of event.attributes) {
        expect(body.includes(toSearchBytes(attrID))).toBe(true);
        expect(body.includes(toSearchBytes(attrID, attrValue))).toBe(true);
      }
    }),
  );
});

test('writes the same bodies whether together or one by one', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(anyEvent, anyTime), { maxLength: 5 }), fc.nat(3), (events, expected) => {
      const bodies = createBodies(expected);
      for (const [event, receivedTime] of events) bodies.add(event, receivedTime);
      const alone = events.map(([event, receivedTime]) => toBody(event, receivedTime));
      expect(bodies.bytes().equals(Buffer.concat(alone))).toBe(true);
      expect(bodies.ends).toEqual(alone.map((_, nth) => Buffer.concat(alone.slice(0, nth + 1)).length));
      expect(toBodies(events.map(([event, receivedTime]) => ({ ...event, receivedTime })))).toEqual(alone);
    }),
  );
});

describe('a body', () => {
  test.each([0, 1, 127, 128, 16_383, 16_384, 2 ** 31, 2 ** 32, Date.UTC(9999, 11, 31)])(
    'stores an interval of %i ms between event and receipt',
    (distance) => {
      expect(readBody(toBody({ ...event, eventTime: 0 }, distance), 0).receivedTime).toBe(distance);
      expect(readBody(toBody({ ...event, eventTime: distance }, 0), distance).receivedTime).toBe(0);
    },
  );

  test.each([8, 9, 10, 11, 63, 64])('stores an eventUUID of %i characters', (length) => {
    for (const eventUUID of ['-_'.padEnd(length, '_'), 'z'.repeat(length), 'A'.repeat(length)]) {
      expect(readBody(toBody({ ...event, eventUUID }, eventTime), eventTime).eventUUID).toBe(eventUUID);
    }
  });

  test.each([
    '',
    'a'.repeat(42),
    'a'.repeat(43),
    '€'.repeat(42),
    '€'.repeat(43),
    '😀'.repeat(21),
    '€'.repeat(2_048),
    'a'.repeat(127),
    'a'.repeat(128),
  ])('stores strings of any length: %#', (text) => {
    const { attributes } = readBody(toBody({ ...event, attributes: [['text', text]] }, eventTime), eventTime);
    expect(attributes).toEqual([['text', text]]);
  });

  test('is small', () => {
    expect(toBody(event, eventTime + 1_000)).toHaveLength(1 + 2 + 1 + 9);
    expect(toBody({ ...event, attributes: [['page', '/']] }, eventTime)).toHaveLength(1 + 1 + 1 + 9 + 5 + 2);
  });

  test.each(['event.00001', 'event 00001', 'évent-00001', 'event-0000😀'])(
    'rejects the eventUUID %s, which it cannot represent',
    (eventUUID) => {
      expect(() => toBody({ ...event, eventUUID }, eventTime)).toThrow(/eventUUID/);
    },
  );
});
