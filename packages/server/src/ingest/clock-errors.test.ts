import { describe, expect, it } from 'vitest';
import { createClockErrorEstimator } from './clock-errors.ts';

const day = 86_400_000;

describe('a browser’s clock error', () => {
  it('is zero if transit time can explain the difference', () => {
    const errorOf = createClockErrorEstimator();
    expect([0, 300, 16_000, 59_000, -900, 20].map((late) => errorOf('a', late))).toEqual([0, 0, 0, 0, 0, 0]);
  });

  it.each([day, -day, 40 * 365 * day])(
    'is detected immediately for a clock that is off by %d ms, and does not change afterwards',
    (error) => {
      const errorOf = createClockErrorEstimator();
      const errors = [40, 3_000, 10, 250].map((transit) => errorOf('a', error + transit));
      expect(errors).toEqual([error + 40, error + 40, error + 40, error + 40]);
    },
  );

  it('does not change if a later request is faster, which preserves the order of events', () => {
    const errorOf = createClockErrorEstimator();
    expect([16_000, 20, 5_000].map((onTheWay) => errorOf('a', day + onTheWay))).toEqual([
      day + 16_000,
      day + 16_000,
      day + 16_000,
    ]);
  });

  it('returns to zero when the clock is corrected', () => {
    const errorOf = createClockErrorEstimator();
    expect([day, 30, 4_000].map((late) => errorOf('a', late))).toEqual([day, 0, 0]);
  });

  it('is separate for each browser, and cached for 10,000 of them', () => {
    const errorOf = createClockErrorEstimator();
    for (let nth = 0; nth <= 10_000; nth++) errorOf(`browser ${nth}`, day);
    expect(errorOf('browser 1', day + 50)).toBe(day);
    expect(errorOf('another', 50)).toBe(0);
    expect(errorOf('browser 0', day + 50)).toBe(day + 50);
  });
});
