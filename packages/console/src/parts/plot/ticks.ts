/** Where the axes of a plot have their marks. */

/** The distance of the marks of values, of which there are about `most`: 1, 2 or 5 times a power of ten, and whole where all values are. */
export const valueStep = (range: number, most: number, isWhole: boolean): number => {
  const least = isWhole ? Math.max(range / most, 1) : range / most;
  const power = 10 ** Math.floor(Math.log10(least));
  return power * ([1, 2, 5].find((factor) => factor * power >= least) ?? 10);
};

const timeSteps = [1, 2, 3, 5, 7, 10, 14, 21, 30, 60, 90, 180, 365];

/** Each how many intervals are marked, so that at most `most` are. */
export const timeStep = (intervals: number, most: number): number =>
  timeSteps.find((step) => intervals / step <= most) ?? Math.ceil(intervals / most);
