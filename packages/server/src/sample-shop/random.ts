/** Random numbers that are the same for the same seed. */

export interface Random {
  /** A number from 0 on, below 1. */
  next(): number;
  /** A whole number from `least` to `most`. */
  between(least: number, most: number): number;
  /** True in this share of the calls. */
  chance(share: number): boolean;
  pick<Value>(values: readonly Value[]): Value;
  /** Each value as often as its weight says. */
  weighted<Value>(weights: readonly (readonly [value: Value, weight: number])[]): Value;
  /** An identifier of 21 characters, such as trackers and servers make. */
  id(): string;
}

const characters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'];
const idLength = 21;

/** `seed` is a whole number. The algorithm is mulberry32 (public domain, Tommy Ettinger). */
export const createRandom = (seed: number): Random => {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (least: number, most: number) => least + Math.floor(next() * (most - least + 1));
  const pick = <Value>(values: readonly Value[]): Value => values[between(0, values.length - 1)] as Value;
  return {
    next,
    between,
    pick,
    chance: (share) => next() < share,
    weighted(weights) {
      let left = next() * weights.reduce((sum, [, weight]) => sum + weight, 0);
      for (const [value, weight] of weights) {
        left -= weight;
        if (left < 0) return value;
      }
      return (weights.at(-1) as (typeof weights)[number])[0];
    },
    id: () => Array.from({ length: idLength }, () => pick(characters)).join(''),
  };
};
