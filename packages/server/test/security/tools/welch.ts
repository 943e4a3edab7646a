/** Welch's t-test: whether two lists of times have the same mean, whatever their variances. */

const mean = (numbers: readonly number[]) => numbers.reduce((sum, number) => sum + number, 0) / numbers.length;

/** The square of the standard error of a mean. */
const squaredError = (numbers: readonly number[]) => {
  const middle = mean(numbers);
  const sum = numbers.reduce((squares, number) => squares + (number - middle) ** 2, 0);
  return sum / (numbers.length - 1) / numbers.length;
};

/** t of two lists; beyond ±2.58 it is chance once in a hundred times (of lists as long as ours). */
export const welch = (one: readonly number[], other: readonly number[]): number =>
  (mean(one) - mean(other)) / Math.sqrt(squaredError(one) + squaredError(other));
