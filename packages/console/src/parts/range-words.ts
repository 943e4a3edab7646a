/** The range that is seen, in words. */
import { formatTime } from '../reading/format.ts';
import { comparison, lastDay, presets, range, today } from '../reading/range.ts';

/** A day such as `2026-11-01`, for people. */
const dayInWords = (text: string): string => formatTime(`${text}T12:00:00Z`, 'day', 'UTC');

export const rangeInWords = (): string => {
  const { name, from, to } = range.value;
  const last = to === undefined ? today.value : lastDay(to);
  return name === 'custom' ? `${dayInWords(from)} to ${dayInWords(last)}` : presets[name];
};

export const comparisonInWords = (): string =>
  comparison.value === undefined
    ? ''
    : `, compared with ${comparison.value === 'year' ? 'a year earlier' : 'the period before'}`;
