/** The filter builder's inputs: alternative values, a number, a day, a select. */
import type { ComponentChildren } from 'preact';
import { shorten } from '../../reading/format.ts';

type Values = readonly (string | number)[];

interface ValuesProps {
  readonly label: string;
  readonly values: unknown;
  readonly change: (values: Values) => void;
  /** The input for one value. */
  readonly input: (
    value: string | number,
    change: (value: string | number) => void,
    label: string,
  ) => ComponentChildren;
  readonly empty: string | number;
}

/** One or more values, joined with “or”. */
export const ValuesInput = ({ label, values, change, input, empty }: ValuesProps) => {
  const list = [values].flat() as (string | number)[];
  return (
    <span class="values">
      {list.map((value, nth) => (
        <span key={nth}>
          {nth > 0 && 'or '}
          {input(value, (next) => change(list.with(nth, next)), nth === 0 ? label : `${label} ${nth + 1}`)}
          {list.length > 1 && (
            <button
              type="button"
              class="quiet"
              aria-label={`Remove ${label} ${nth + 1}`}
              onClick={() => change(list.toSpliced(nth, 1))}
            >
              ×
            </button>
          )}
        </span>
      ))}
      <button type="button" onClick={() => change([...list, empty])}>
        or…
      </button>
    </span>
  );
};

interface NumberProps {
  readonly label: string;
  readonly value: number | undefined;
  readonly min?: number;
  readonly change: (value: number | undefined) => void;
}

export const NumberInput = ({ label, value, min, change }: NumberProps) => (
  <input
    type="number"
    class="short"
    aria-label={label}
    step={min === undefined ? 'any' : 1}
    {...(min !== undefined && { min })}
    value={value ?? ''}
    onInput={({ currentTarget }) => change(currentTarget.value === '' ? undefined : Number(currentTarget.value))}
  />
);

/** A day; its value is the start of the day in UTC. */
export const DayInput = ({
  label,
  value,
  change,
}: {
  readonly label: string;
  readonly value: unknown;
  readonly change: (value: string | undefined) => void;
}) => (
  <input
    type="date"
    aria-label={label}
    value={value == null ? '' : new Date(value as string | number).toISOString().slice(0, 10)}
    onInput={({ currentTarget }) => change(currentTarget.value === '' ? undefined : `${currentTarget.value}T00:00:00Z`)}
  />
);

export const SelectInput = ({
  label,
  value,
  options,
  change,
}: {
  readonly label: string;
  readonly value: string;
  readonly options: ReadonlyMap<string, string>;
  readonly change: (value: string) => void;
}) => (
  <select aria-label={label} value={value} onChange={({ currentTarget }) => change(currentTarget.value)}>
    {/* Keep a value that the account no longer lists. */}
    {!options.has(value) && <option value={value}>{value}</option>}
    {[...options].map(([each, title]) => (
      <option key={each} value={each}>
        {shorten(title)}
      </option>
    ))}
  </select>
);
