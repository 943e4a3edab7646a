import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createEventUUID, timeOf } from './event-uuid.ts';
import { toEventRecord } from './events.ts';

const eventUUID = createEventUUID();

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
  ['signup', false],
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

test('an event’s record is what logEvents takes', () => {
  const record = { eventID: 7, eventUUID, eventTime: timeOf(eventUUID) };
  expect(JSON.parse(toEventRecord({ eventID: '7', attrs: { a: 1 } }, eventUUID))).toEqual({
    ...record,
    eventAttrArray: [{ attrID: 'a', attrValue: '1' }],
  });
  expect(JSON.parse(toEventRecord({ eventID: 7 }, eventUUID))).toEqual({ ...record, eventAttrArray: [] });
});
