/** Seeded random numbers; the seed is a whole number. The algorithm is mulberry32 (public domain, Tommy Ettinger). */

/** Returns a function that returns numbers from 0 (inclusive) to 1 (exclusive). */
export const createRandomNumbers = (seed: number): (() => number) => {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

const characters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'];

export const createRandom = (seed: number) => {
  const next = createRandomNumbers(seed);
  /** Returns a whole number from `min` to `max`. */
  const between = (min: number, max: number): number => min + Math.floor(next() * (max - min + 1));
  const pick = <Value>(values: readonly Value[]): Value => values[between(0, values.length - 1)] as Value;
  return {
    next,
    between,
    pick,
    chance: (share: number): boolean => next() < share,
    /** Returns a name, with a probability proportional to its weight (a whole number). */
    weighted: <Name extends string>(weights: Readonly<Partial<Record<Name, number>>>): Name =>
      pick((Object.keys(weights) as Name[]).flatMap((name) => Array<Name>(weights[name] ?? 0).fill(name))),
    /** Returns an identifier like those created by trackers and servers. */
    id: (): string => Array.from({ length: 21 }, () => pick(characters)).join(''),
  };
};
export type Random = ReturnType<typeof createRandom>;
