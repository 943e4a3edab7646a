import { expect, test } from 'vitest';
import { Refusal } from '../../../shared/refusal.ts';
import type { Outcome } from '../transactions/transaction.ts';
import { fromPlain, toPlain } from './messages.ts';

/** Returns what the other thread receives. */
const pass = (outcome: Outcome, name = 'getAccount'): unknown => {
  const call = { name, request: null };
  const received = fromPlain(call, structuredClone(toPlain(call, outcome)));
  return 'error' in received ? received.error : received.value;
};

test('preserves a value', () => {
  expect(pass({ value: { kept: true } })).toEqual({ kept: true });
  expect(pass({ value: undefined })).toBeUndefined();
});

test('preserves event outcomes and a page of events', () => {
  const outcomes = [{ kept: true }, { kept: false, duplicate: true }];
  expect(pass({ value: outcomes }, 'logEvents')).toEqual(outcomes);
  const page = { events: [], next: null, through: 7 };
  expect(pass({ value: page }, 'getEvents')).toEqual(page);
});

test.each([{}, { message: 'other words' }, { field: 'contactUUID' }, { retryAfterSeconds: 5 }])(
  'preserves a refusal with its options: %j',
  (options) => {
    const refusal = new Refusal('unavailable', options);
    const received = pass({ error: refusal }, 'logEvents');
    expect(received).toBeInstanceOf(Refusal);
    const { code, message, field, retryAfterSeconds } = refusal;
    expect(received).toMatchObject({ code, message, field, retryAfterSeconds });
  },
);

test('preserves the message, stack and code of an error', () => {
  const fault = Object.assign(new RangeError('too far'), { code: 'SQLITE_RANGE' });
  const received = pass({ error: fault }, 'getEvents') as Error;
  expect(received).toBeInstanceOf(Error);
  expect(received).not.toBeInstanceOf(Refusal);
  expect(received).toMatchObject({ message: 'too far', stack: fault.stack, code: 'SQLITE_RANGE' });
});
