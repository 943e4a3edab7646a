/** Labeled selects whose values are URL parameters. */
import { useId } from 'preact/hooks';
import { query, setQuery } from '../../address.ts';
import { account, nameOf } from '../../reading/account.ts';
import { shorten } from '../../reading/format.ts';
import { isShared } from '../../reading/shared.ts';

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  /** The values and their names. */
  readonly options: Readonly<Record<string, string>> | ReadonlyMap<string, string>;
  readonly choose: (value: string) => void;
}

const Choice = ({ label, value, options, choose }: ChoiceProps) => {
  const id = useId();
  const entries = options instanceof Map ? [...options] : Object.entries(options);
  if (isShared)
    return (
      <span class="choice-of">
        <span class="soft">{label}</span> {entries.find(([name]) => name === value)?.[1]}
      </span>
    );
  return (
    <span class="choice-of">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={(event) => choose(event.currentTarget.value)}>
        {entries.map(([name, title]) => (
          <option key={name} value={name}>
            {shorten(title)}
          </option>
        ))}
      </select>
    </span>
  );
};

/** A URL parameter's value; the first option if the URL contains none of the options. */
export const readChoiceParameter = <Name extends string>(
  parameter: string,
  options: Readonly<Record<Name, unknown>>,
): Name => {
  const value = query.value.get(parameter);
  return (value !== null && Object.hasOwn(options, value) ? value : Object.keys(options)[0]) as Name;
};

interface ParameterChoiceProps {
  readonly label: string;
  readonly parameter: string;
  readonly options: Readonly<Record<string, string>>;
}

/** A select for a URL parameter. The first option is the default, which the URL omits. */
export const ParameterChoice = ({ label, parameter, options }: ParameterChoiceProps) => {
  const [first] = Object.keys(options);
  return (
    <Choice
      label={label}
      value={readChoiceParameter(parameter, options)}
      options={options}
      choose={(value) => setQuery({ [parameter]: value === first ? null : value })}
    />
  );
};

/** The eventID in a URL parameter, as text; `''` if there is none. */
export const readEventParameter = (parameter: string): string => {
  const value = query.value.get(parameter) ?? '';
  return /^\d{1,9}$/.test(value) ? value : '';
};

interface EventChoiceProps {
  readonly label: string;
  readonly value: string;
  /** The label of the option for all events. If absent, one event must be chosen. */
  readonly any?: string;
  readonly choose: (eventID: string) => void;
}

/**
 * A select for an event in the catalogue. The current value stays an option even if it is no longer in the catalogue.
 */
export const EventChoice = ({ label, value, any, choose }: EventChoiceProps) => {
  const events = (account.value?.event ?? [])
    .filter(({ mergedInto }) => mergedInto === undefined)
    .map(({ eventID, eventName }) => [String(eventID), eventName] as const);
  const options = new Map([...(any === undefined ? [] : [['', any] as const]), ...events]);
  if (!options.has(value)) options.set(value, nameOf('event', value));
  return <Choice label={label} value={value} options={options} choose={choose} />;
};
