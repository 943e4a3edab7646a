import { expect, test } from 'vitest';
import { offsetsBetween, toBytes } from './block-times.ts';

const hour = 3_600_000;
const blocks = [
  { offset: 64, firstTime: -hour, lastTime: 0 },
  { offset: 130, firstTime: hour + 1, lastTime: 2 * hour },
  { offset: 4_000_000_000, firstTime: 0, lastTime: 8.64e15 },
];
const all = () => true;

test.each([
  [{}, [64, 130, 4_000_000_000]],
  [{ from: 0 }, [64, 130, 4_000_000_000]],
  [{ from: 3 * hour }, [4_000_000_000]],
  [{ from: 8.64e15 }, [4_000_000_000]],
  [{ to: -hour }, [64]],
  [{ to: -2 * hour }, []],
  [{ from: hour, to: hour + 2 }, [130, 4_000_000_000]],
])('finds the blocks that overlap %j', (times, offsets) => {
  expect(offsetsBetween(toBytes(blocks), times, all)).toEqual(offsets);
});

test('skips blocks for which isOpen returns false', () => {
  expect(offsetsBetween(toBytes(blocks), {}, (nth) => nth === 1)).toEqual([130]);
});
