/** A histogram. It uses plain numbers, because it is updated with every request. */
export interface Distribution {
  /** Upper bounds, ascending. */
  readonly bounds: readonly number[];
  /**
   * The number of values in each bucket: up to the bound at the same index, and above the previous bound. The last
   * bucket has no upper bound.
   */
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
