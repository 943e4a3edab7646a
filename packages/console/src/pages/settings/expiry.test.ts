import { expect, test } from 'vitest';
import { expiresTimeOf } from './expiry.ts';

const now = Date.parse('2026-11-25T12:00:00Z');

test.each([
  ['never', '', undefined],
  ['30', '', '2026-12-25T12:00:00.000Z'],
  ['365', '', '2027-11-25T12:00:00.000Z'],
  ['day', '2026-12-01', '2026-12-01T00:00:00Z'],
] as const)('converts “%s” with the day “%s” to a time', (expiry, day, time) => {
  expect(expiresTimeOf(expiry, day, now)).toBe(time);
});
