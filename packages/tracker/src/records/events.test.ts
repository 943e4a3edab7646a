import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createEventUUID, timeOf } from './event-uuid.ts';
import { toEventRecord } from './events.ts';

const eventUUID = createEventUUID();
/** Of an object that has no number. */
const fail = () => {
  throw Error('no number');
};

beforeAll(() => void vi.stubGlobal('navigator', { webdriver: false }));
afterAll(() => void vi.unstubAllGlobals());

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
  [null, false],
  [undefined, false],
  [{}, false],
  [7n, false],
  [Symbol('s'), false],
])('%o is an eventID: %s', ([eventID, expected]) => {
  const make = () => toEventRecord({ eventID: eventID as number }, eventUUID);
  if (expected) expect(JSON.parse(make()).eventID).toBe(Number(eventID));
  else expect(make).toThrow();
});

test.for<[string, string]>([
  ['Signed up', 'Signed up'],
  ['"\\\n', '"\\\n'],
  ['3 items', '3 items'],
  ['-1', '-1'],
])('%j is the name of an event', ([given, eventName]) => {
  const record = JSON.parse(toEventRecord({ eventID: given }, eventUUID));
  expect(record).toEqual({ eventName, eventUUID, eventTime: timeOf(eventUUID), eventAttrArray: [] });
});

test('throws what can be shown for anything that is neither a name nor an eventID', () => {
  const object = { valueOf: () => fail() };
  for (const eventID of [0, 0.5, ' ', '', null, object, undefined, 7.5, 2 ** 31, false, true])
    expect(() => toEventRecord({ eventID: eventID as number }, eventUUID)).toThrow('no eventID');
  expect(() => toEventRecord({ eventID: Symbol('s') as never }, eventUUID)).toThrow(TypeError);
});

test('an event’s record is what logEvents takes', () => {
  const record = { eventID: 7, eventUUID, eventTime: timeOf(eventUUID) };
  expect(JSON.parse(toEventRecord({ eventID: '7', attrs: { a: 1 } }, eventUUID))).toEqual({
    ...record,
    eventAttrArray: [{ attrID: 'a', attrValue: '1' }],
  });
  expect(JSON.parse(toEventRecord({ eventID: 7 }, eventUUID))).toEqual({ ...record, eventAttrArray: [] });
});
