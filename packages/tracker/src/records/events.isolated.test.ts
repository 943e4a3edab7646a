import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createEventUUID, parseEventTime } from './event-uuid.ts';
import { toEventRecord } from './events.ts';

const eventUUID = createEventUUID();
/** Used as the `valueOf` of an object that has no numeric value. */
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
])('accepts %o as an eventID: %s', ([eventID, expected]) => {
  const create = () => toEventRecord({ eventID: eventID as number }, eventUUID);
  if (expected) expect(JSON.parse(create()).eventID).toBe(Number(eventID));
  else expect(create).toThrow();
});

test.for<[string, string]>([
  ['Signed up', 'Signed up'],
  ['"\\\n', '"\\\n'],
  ['3 items', '3 items'],
  ['-1', '-1'],
])('accepts %j as the name of an event', ([name, eventName]) => {
  const record = JSON.parse(toEventRecord({ eventID: name }, eventUUID));
  expect(record).toEqual({ eventName, eventUUID, eventTime: parseEventTime(eventUUID), eventAttrArray: [] });
});

test('throws a printable reason for anything that is neither a name nor an eventID', () => {
  const object = { valueOf: () => fail() };
  for (const eventID of [0, 0.5, ' ', '', null, object, undefined, 7.5, 2 ** 31, false, true])
    expect(() => toEventRecord({ eventID: eventID as number }, eventUUID)).toThrow('no eventID');
  expect(() => toEventRecord({ eventID: Symbol('s') as never }, eventUUID)).toThrow(TypeError);
});

test('creates an event record in the form that logEvents accepts', () => {
  const record = { eventID: 7, eventUUID, eventTime: parseEventTime(eventUUID) };
  expect(JSON.parse(toEventRecord({ eventID: '7', attrs: { a: 1 } }, eventUUID))).toEqual({
    ...record,
    eventAttrArray: [{ attrID: 'a', attrValue: '1' }],
  });
  expect(JSON.parse(toEventRecord({ eventID: 7 }, eventUUID))).toEqual({ ...record, eventAttrArray: [] });
});
