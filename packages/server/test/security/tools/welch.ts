/** Welch's t-test: whether two lists of times have the same mean, even if their variances differ. */

const mean = (numbers: readonly number[]) => numbers.reduce((sum, number) => sum + number, 0) / numbers.length;

/** The square of the standard error of a mean. */
const squaredError = (numbers: readonly number[]) => {
  const average = mean(numbers);
  const sum = numbers.reduce((squares, number) => squares + (number - average) ** 2, 0);
  return sum / (numbers.length - 1) / numbers.length;
};

/** Returns the t value of two lists. For long lists, chance alone exceeds ±2.58 once in a hundred times. */
export const computeT = (one: readonly number[], other: readonly number[]): number =>
  (mean(one) - mean(other)) / Math.sqrt(squaredError(one) + squaredError(other));
