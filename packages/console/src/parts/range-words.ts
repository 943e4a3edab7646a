/** The range that is seen, in words. */
import { formatTime } from '../reading/format.ts';
import { comparison, lastDay, presets, range, today } from '../reading/range.ts';

/** A day such as `2026-11-01`, for people. */
const dayInWords = (text: string): string => formatTime(`${text}T12:00:00Z`, 'day', 'UTC');

export const datesInWords = (): string => {
  const { from, to } = range.value;
  return `${dayInWords(from)} to ${dayInWords(to === undefined ? today.value : lastDay(to))}`;
};

export const rangeInWords = (): string => (range.value.name === 'custom' ? datesInWords() : presets[range.value.name]);

export const comparisonInWords = (): string =>
  comparison.value === undefined
    ? ''
    : `, compared with ${comparison.value === 'year' ? 'a year earlier' : 'the period before'}`;
