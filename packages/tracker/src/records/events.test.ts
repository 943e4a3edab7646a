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

test('what is no event is told in the console, once for each type', async () => {
  vi.resetModules();
  const { toEventRecord } = await import('./events.ts');
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const symbol = Symbol('s');
  const object = { valueOf: () => fail() };
  for (const eventID of [0, 0.5, ' ', '', null, object, undefined, symbol, 7n, 2 ** 31, false, 'Signed up', 3, '']) {
    try {
      toEventRecord({ eventID: eventID as number }, eventUUID);
    } catch {}
  }
  const told = warn.mock.calls.filter(([, , reason]) => reason === 'no eventID').map(([, eventID]) => eventID);
  expect(told).toEqual([0, ' ', null, undefined, symbol, 7n, false]);
  warn.mockRestore();
});

test('an event’s record is what logEvents takes', () => {
  const record = { eventID: 7, eventUUID, eventTime: timeOf(eventUUID) };
  expect(JSON.parse(toEventRecord({ eventID: '7', attrs: { a: 1 } }, eventUUID))).toEqual({
    ...record,
    eventAttrArray: [{ attrID: 'a', attrValue: '1' }],
  });
  expect(JSON.parse(toEventRecord({ eventID: 7 }, eventUUID))).toEqual({ ...record, eventAttrArray: [] });
});
