import { pino } from 'pino';
import { expect, it } from 'vitest';
import { createClockTrust } from './clock-trust.ts';

const hourMs = 3_600_000;

it('a clock that has jumped is not believed for a day', () => {
  let monotonicMs = 0;
  let setMs = Date.UTC(2026, 5, 15);
  const isTrusted = createClockTrust(
    pino({ level: 'silent' }),
    () => setMs + monotonicMs,
    () => monotonicMs,
  );
  /** How often it is believed in so many hours. */
  const during = (hours: number): number => {
    let believed = 0;
    for (let hour = 0; hour < hours; hour += 1) {
      monotonicMs += hourMs;
      if (isTrusted()) believed += 1;
    }
    return believed;
  };
  expect(isTrusted()).toBe(true);
  expect(during(3)).toBe(3);
  setMs += 1_500 * 24 * hourMs;
  expect(during(5)).toBe(0);
  setMs -= 1_500 * 24 * hourMs;
  expect(during(24)).toBe(0);
  expect(during(3)).toBe(3);
  // A clock that is put right by a minute is the same clock.
  setMs += 60_000;
  expect(during(3)).toBe(3);
});
