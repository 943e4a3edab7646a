/**
 * Returns how often tests repeat a fault or an attack: a few times or, with FAULTS=full, as often as FAULTS.md states.
 */
export { createRandomNumbers as createRandom } from '../../src/shared/random.ts';

const full = process.env.FAULTS === 'full';

export const times = ({ quick, full: fullCount }: { quick: number; full: number }): number =>
  full ? fullCount : quick;

/** Picks up to `count` entries, spread evenly over the list. */
export const spread = <Entry>(entries: readonly Entry[], count: number): Entry[] =>
  entries.length <= count
    ? [...entries]
    : Array.from({ length: count }, (_, at) => entries[Math.floor((at * entries.length) / count)] as Entry);

/** Returns a quantile of a list of numbers. A `share` of 0.5 is the median. */
export const quantile = (numbers: readonly number[], share: number): number =>
  [...numbers].sort((a, b) => a - b)[Math.min(numbers.length - 1, Math.floor(numbers.length * share))] ?? Number.NaN;
