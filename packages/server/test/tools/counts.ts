/** How often a fault or an attack happens in a test: a few times, or with FAULTS=full as often as FAULTS.md says. */
export { createRandomNumbers as createRandom } from '../../src/shared/random.ts';

const full = process.env.FAULTS === 'full';

export const times = ({ quick, full: promised }: { quick: number; full: number }): number => (full ? promised : quick);

/** As many of the list as are wanted, spread evenly over it. */
export const spread = <Entry>(entries: readonly Entry[], count: number): Entry[] =>
  entries.length <= count
    ? [...entries]
    : Array.from({ length: count }, (_, at) => entries[Math.floor((at * entries.length) / count)] as Entry);

/** The value below which `share` of the numbers lie. */
export const quantile = (numbers: readonly number[], share: number): number =>
  [...numbers].sort((a, b) => a - b)[Math.min(numbers.length - 1, Math.floor(numbers.length * share))] ?? Number.NaN;
