/** The selects for the date range and the comparison. */
import { useState } from 'preact/hooks';
import { setQuery } from '../address.ts';
import { comparison, defaultPreset, lastDay, presets, range, today } from '../reading/range.ts';
import { describeDates, describeRange } from './range-words.ts';

interface RangePickerProps {
  /** Whether the page supports a comparison with an earlier range. */
  readonly compares?: boolean;
}

export const RangePicker = ({ compares = true }: RangePickerProps) => {
  const { name, from, to } = range.value;
  const [isChoosing, setChoosing] = useState(false);
  const last = to === undefined ? today.value : lastDay(to);
  const choose = (event: Event) => {
    const { value } = event.target as HTMLSelectElement;
    setChoosing(value === 'custom');
    if (value !== 'custom') setQuery({ range: value === defaultPreset ? null : value, from: null, to: null });
  };
  const setDays = (days: { readonly from?: string; readonly to?: string }) => {
    const chosen = { from, to: last, ...days };
    if (chosen.from && chosen.to && chosen.from <= chosen.to) setQuery({ ...chosen, range: null });
  };
  return (
    <fieldset class="range-picker">
      <legend class="unseen">Date range</legend>
      <select aria-label="Range" title={describeDates()} value={isChoosing ? 'custom' : name} onChange={choose}>
        {Object.entries(presets).map(([preset, label]) => (
          <option key={preset} value={preset}>
            {label}
          </option>
        ))}
        <option value="custom">{name === 'custom' ? describeRange() : 'Custom range…'}</option>
      </select>
      {(isChoosing || name === 'custom') && (
        <>
          <input
            type="date"
            aria-label="First day"
            value={from}
            max={last}
            onChange={(event) => setDays({ from: event.currentTarget.value })}
          />
          <input
            type="date"
            aria-label="Last day"
            value={last}
            min={from}
            max={today.value}
            onChange={(event) => setDays({ to: event.currentTarget.value })}
          />
        </>
      )}
      {compares && (
        <select
          aria-label="Compare with"
          value={comparison.value ?? ''}
          onChange={(event) => setQuery({ compare: event.currentTarget.value })}
        >
          <option value="">No comparison</option>
          <option value="previous">Previous period</option>
          <option value="year">A year earlier</option>
        </select>
      )}
    </fieldset>
  );
};
