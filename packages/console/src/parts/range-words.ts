/** The current date range and comparison, in words. */
import { formatTime } from '../reading/format.ts';
import { comparePeriod, lastDay, presets, range, today } from '../reading/range.ts';

export const describeDates = (): string => {
  const { from, to } = range.value;
  const days = [from, to === undefined ? today.value : lastDay(to)];
  const form = days.every((day) => day.slice(0, 4) === today.value.slice(0, 4)) ? 'day' : 'date';
  return days.map((day) => formatTime(`${day}T12:00:00Z`, form, 'UTC')).join(' to ');
};

export const describeRange = (): string =>
  range.value.name === 'custom' ? describeDates() : presets[range.value.name];

const earlierRanges = {
  previous: 'the previous period',
  week: 'a week earlier',
  month: 'a month earlier',
  year: 'a year earlier',
} as const;
const describeEarlierRange = (): string => (comparePeriod.value ? earlierRanges[comparePeriod.value] : '');
/** The comparison as a label: `Previous period`. */
export const earlierLabel = (): string =>
  describeEarlierRange()
    .replace('the ', '')
    .replace(/^./, (letter) => letter.toUpperCase());

export const describeComparison = (): string =>
  (comparePeriod.value && `, compared with ${describeEarlierRange()}`) || '';
