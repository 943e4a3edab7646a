/** How often a measured value was at most each of some bounds: a histogram of plain numbers, because it is counted with every request. */
export interface Distribution {
  /** Upper bounds, ascending. */
  readonly bounds: readonly number[];
  /** How many values were at most the bound of the same index, and above the one before it; the last counts those above all. */
  readonly counts: readonly number[];
  readonly sum: number;
  add(value: number): void;
}

export const createDistribution = (bounds: readonly number[]): Distribution => {
  const counts = [...bounds, 0].fill(0);
  let sum = 0;
  return {
    bounds,
    counts,
    get sum() {
      return sum;
    },
    add(value) {
      let index = 0;
      while (index < bounds.length && value > (bounds[index] as number)) index += 1;
      counts[index] = (counts[index] as number) + 1;
      sum += value;
    },
  };
};
