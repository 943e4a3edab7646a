import { expect, it } from 'vitest';
import { timeStep, valueStep } from './ticks.ts';

it.each([
  [5, 5, true, 1],
  [1, 5, true, 1],
  [1, 5, false, 0.2],
  [11, 5, true, 5],
  [999, 5, true, 200],
  [1_000, 5, true, 200],
  [1_001, 5, true, 500],
  [7_000_000, 5, true, 2_000_000],
  [0.03, 5, false, 0.01],
])('spaces axis ticks over a range of %d, with at most %d ticks', (range, maxMarks, isWhole, step) => {
  expect(valueStep(range, maxMarks, isWhole)).toBeCloseTo(step, 12);
});

it.each([
  [1, 8, 1],
  [8, 8, 1],
  [24, 8, 3],
  [30, 8, 5],
  [31, 4, 10],
  [365, 8, 60],
  [10_000, 4, 2_500],
])('chooses axis ticks for %d intervals, with at most %d ticks', (intervals, maxMarks, step) => {
  expect(timeStep(intervals, maxMarks)).toBe(step);
});
