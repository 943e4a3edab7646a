import { expect, test } from 'vitest';
import { isEventID, toEventRecord } from './events.ts';
import { createEventUUID, timeOf } from './eventUUID.ts';

test.for<[unknown, boolean]>([
  [1, true],
  ['1', true],
  [2 ** 31 - 1, true],
  [0, false],
  [-1, false],
  [2 ** 31, false],
  [1.5, false],
  [Number.NaN, false],
  ['', false],
  ['signup', false],
  [null, false],
  [undefined, false],
  [{}, false],
])('%o is an eventID: %s', ([eventID, expected]) => {
  expect(isEventID(eventID)).toBe(expected);
});

test('an event’s record is what logEvents takes', () => {
  const eventUUID = createEventUUID();
  expect(JSON.parse(toEventRecord('7', eventUUID, { a: 1 }))).toEqual({
    eventID: 7,
    eventUUID,
    eventTime: timeOf(eventUUID),
    eventAttrArray: [{ attrID: 'a', attrValue: '1' }],
  });
  expect(JSON.parse(toEventRecord(7, eventUUID, undefined))).toEqual({
    eventID: 7,
    eventUUID,
    eventTime: timeOf(eventUUID),
    eventAttrArray: [],
  });
});
