import { expect, test } from 'vitest';
import { Refusal } from '../../../shared/refusal.ts';
import type { Outcome } from '../transactions/transaction.ts';
import { fromPlain, toPlain } from './messages.ts';

/** What the other thread makes of it. */
const pass = (outcome: Outcome, name = 'getAccount'): unknown => {
  const call = { name, request: null };
  const received = fromPlain(call, structuredClone(toPlain(call, outcome)));
  return 'error' in received ? received.error : received.value;
};

test('a value arrives as it was', () => {
  expect(pass({ value: { kept: true } })).toEqual({ kept: true });
  expect(pass({ value: undefined })).toBeUndefined();
});

test('what became of events, and a page of them, arrive as they were', () => {
  const outcomes = [{ kept: true }, { kept: false, duplicate: true }];
  expect(pass({ value: outcomes }, 'logEvents')).toEqual(outcomes);
  const page = { events: [], next: null, through: 7 };
  expect(pass({ value: page }, 'getEvents')).toEqual(page);
});

test.each([{}, { message: 'other words' }, { field: 'contactUUID' }, { retryAfterSeconds: 5 }])(
  'a refusal arrives as one, with all that it says: %j',
  (options) => {
    const refusal = new Refusal('unavailable', options);
    const arrived = pass({ error: refusal }, 'logEvents');
    expect(arrived).toBeInstanceOf(Refusal);
    const { code, message, field, retryAfterSeconds } = refusal;
    expect(arrived).toMatchObject({ code, message, field, retryAfterSeconds });
  },
);

test('a fault arrives with what it says, where it happened, and its code', () => {
  const fault = Object.assign(new RangeError('too far'), { code: 'SQLITE_RANGE' });
  const arrived = pass({ error: fault }, 'getEvents') as Error;
  expect(arrived).toBeInstanceOf(Error);
  expect(arrived).not.toBeInstanceOf(Refusal);
  expect(arrived).toMatchObject({ message: 'too far', stack: fault.stack, code: 'SQLITE_RANGE' });
});
