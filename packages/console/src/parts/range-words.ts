/** The range that is seen, in words. */
import { formatTime } from '../reading/format.ts';
import { comparePeriod, lastDay, presets, range, today } from '../reading/range.ts';

/** A day such as `2026-11-01`, for people. */
const dayInWords = (text: string): string => formatTime(`${text}T12:00:00Z`, 'day', 'UTC');

export const datesInWords = (): string => {
  const { from, to } = range.value;
  return `${dayInWords(from)} to ${dayInWords(to === undefined ? today.value : lastDay(to))}`;
};

export const rangeInWords = (): string => (range.value.name === 'custom' ? datesInWords() : presets[range.value.name]);

const earlierRanges = {
  previous: 'the period before',
  week: 'a week earlier',
  month: 'a month earlier',
  year: 'a year earlier',
} as const;
const earlierInWords = (): string => (comparePeriod.value ? earlierRanges[comparePeriod.value] : '');
/** The same as a label: `Period before`. */
export const earlierLabel = (): string =>
  earlierInWords()
    .replace('the ', '')
    .replace(/^./, (letter) => letter.toUpperCase());

export const comparisonInWords = (): string => (comparePeriod.value && `, compared with ${earlierInWords()}`) || '';
