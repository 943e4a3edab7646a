import { describe, expect, it } from 'vitest';
import { createClockErrors } from './clock-errors.ts';

const day = 86_400_000;

describe('the error of a browser’s clock', () => {
  it('is nothing as long as the time on the way can explain what is seen', () => {
    const errorOf = createClockErrors();
    expect([0, 300, 16_000, 59_000, -900, 20].map((late) => errorOf('a', late))).toEqual([0, 0, 0, 0, 0, 0]);
  });

  it.each([day, -day, 40 * 365 * day])('of a clock that is %d ms wrong is found at once, and stays', (error) => {
    const errorOf = createClockErrors();
    const seen = [40, 3_000, 10, 250].map((onTheWay) => errorOf('a', error + onTheWay));
    expect(seen).toEqual([error + 40, error + 40, error + 40, error + 40]);
  });

  it('stays when a later request is faster, which keeps the order of the events', () => {
    const errorOf = createClockErrors();
    expect([16_000, 20, 5_000].map((onTheWay) => errorOf('a', day + onTheWay))).toEqual([
      day + 16_000,
      day + 16_000,
      day + 16_000,
    ]);
  });

  it('ends when the clock has been set right', () => {
    const errorOf = createClockErrors();
    expect([day, 30, 4_000].map((late) => errorOf('a', late))).toEqual([day, 0, 0]);
  });

  it('is each browser’s own, and remembered for 10,000 of them', () => {
    const errorOf = createClockErrors();
    for (let nth = 0; nth <= 10_000; nth++) errorOf(`browser ${nth}`, day);
    expect(errorOf('browser 1', day + 50)).toBe(day);
    expect(errorOf('another', 50)).toBe(0);
    expect(errorOf('browser 0', day + 50)).toBe(day + 50);
  });
});
