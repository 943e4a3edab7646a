import { pino } from 'pino';
import { expect, it } from 'vitest';
import { createClockTrust } from './clock-trust.ts';

const hourMs = 3_600_000;

it('distrusts a clock for a day after it jumps', () => {
  let monotonicMs = 0;
  let setMs = Date.UTC(2026, 5, 15);
  const isTrusted = createClockTrust(
    pino({ level: 'silent' }),
    () => setMs + monotonicMs,
    () => monotonicMs,
  );
  /** Advances the clock hour by hour. Returns the number of hours in which the clock is trusted. */
  const trustedHours = (hours: number): number => {
    let trusted = 0;
    for (let hour = 0; hour < hours; hour += 1) {
      monotonicMs += hourMs;
      if (isTrusted()) trusted += 1;
    }
    return trusted;
  };
  expect(isTrusted()).toBe(true);
  expect(trustedHours(3)).toBe(3);
  setMs += 1_500 * 24 * hourMs;
  expect(trustedHours(5)).toBe(0);
  setMs -= 1_500 * 24 * hourMs;
  expect(trustedHours(24)).toBe(0);
  expect(trustedHours(3)).toBe(3);
  // A correction of one minute is not a jump.
  setMs += 60_000;
  expect(trustedHours(3)).toBe(3);
});
