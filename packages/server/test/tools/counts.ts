/** How often a fault or an attack happens in a test: a few times, or with FAULTS=full as often as FAULTS.md says. */
const full = process.env.FAULTS === 'full';

export const times = ({ quick, full: promised }: { quick: number; full: number }): number => (full ? promised : quick);

/** As many of the list as are wanted, spread evenly over it. */
export const spread = <Entry>(entries: readonly Entry[], count: number): Entry[] =>
  entries.length <= count
    ? [...entries]
    : Array.from({ length: count }, (_, at) => entries[Math.floor((at * entries.length) / count)] as Entry);

/** Numbers below 1 that look random and are the same in every run with the same seed (mulberry32). */
export const createRandom = (seed: number) => {
  let state = seed >>> 0;
  return (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

/** The value below which `share` of the numbers lie. */
export const quantile = (numbers: readonly number[], share: number): number =>
  [...numbers].sort((a, b) => a - b)[Math.min(numbers.length - 1, Math.floor(numbers.length * share))] ?? Number.NaN;
