import { expect, test } from 'vitest';
import { Refusal } from '../../refusal.ts';
import { fromPlain, toPlain } from './messages.ts';
import type { Outcome } from './transaction.ts';

/** What the other thread makes of it. */
const pass = (outcome: Outcome): unknown => {
  const plain = structuredClone(toPlain(outcome));
  try {
    return fromPlain(plain);
  } catch (error) {
    return error;
  }
};

test('a value arrives as it was', () => {
  expect(pass({ value: { kept: true } })).toEqual({ kept: true });
  expect(pass({ value: undefined })).toBeUndefined();
});

test.each([{}, { message: 'other words' }, { field: 'contactUUID' }, { retryAfterSeconds: 5 }])(
  'a refusal arrives as one, with all that it says: %j',
  (options) => {
    const refusal = new Refusal('not_kept', options);
    const arrived = pass({ error: refusal });
    expect(arrived).toBeInstanceOf(Refusal);
    const { code, message, field, retryAfterSeconds } = refusal;
    expect(arrived).toMatchObject({ code, message, field, retryAfterSeconds });
  },
);

test('a fault arrives with what it says, where it happened, and its code', () => {
  const fault = Object.assign(new RangeError('too far'), { code: 'SQLITE_RANGE' });
  const arrived = pass({ error: fault }) as Error;
  expect(arrived).toBeInstanceOf(Error);
  expect(arrived).not.toBeInstanceOf(Refusal);
  expect(arrived).toMatchObject({ message: 'too far', stack: fault.stack, code: 'SQLITE_RANGE' });
});
