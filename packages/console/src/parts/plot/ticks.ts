/** Steps between the marks on a plot's axes. */

/**
 * The step for a value axis with about `maxMarks` marks: 1, 2 or 5 times a power of ten, and an integer if all values
 * are.
 */
export const valueStep = (range: number, maxMarks: number, isWhole: boolean): number => {
  const minStep = isWhole ? Math.max(range / maxMarks, 1) : range / maxMarks;
  const power = 10 ** Math.floor(Math.log10(minStep));
  return power * ([1, 2, 5].find((factor) => factor * power >= minStep) ?? 10);
};

const timeSteps = [1, 2, 3, 5, 7, 10, 14, 21, 30, 60, 90, 180, 365];

/** Returns n such that marking every nth interval gives at most `maxMarks` marks. */
export const timeStep = (intervals: number, maxMarks: number): number =>
  timeSteps.find((step) => intervals / step <= maxMarks) ?? Math.ceil(intervals / maxMarks);
