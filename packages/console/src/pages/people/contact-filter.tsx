/** The contact list's filter and columns, both stored in the URL. */
import type { RequestFor } from '@firsthand/client';
import type { ComponentChildren } from 'preact';
import { query, setQuery } from '../../address.ts';
import { Field } from '../../parts/field.tsx';
import { account, nameOf } from '../../reading/account.ts';
import type { ContactResult } from '../../reading/contact-values.ts';
import { attributeName } from '../../reading/filter.ts';

const statuses = ['active', 'unsubscribed', 'archived'] as const;

/** The filter's URL parameters, except the text, and the searchContact fields that they set. */
const parameters = {
  tag: 'contactTagID',
  profile: 'contactProfileID',
  status: 'contactStatus',
  attribute: 'attrID',
  value: 'attrValue',
  createdFrom: 'createdFrom',
  createdTo: 'createdTo',
  seenFrom: 'seenFrom',
  seenTo: 'seenTo',
} as const;
type Parameter = keyof typeof parameters;
const names = Object.keys(parameters) as Parameter[];

const dayMs = 86_400_000;
/**
 * Converts a day from `<input type=date>` to a UTC time, because searchContact counts days in UTC. Ends are exclusive.
 */
const toTime = (parameter: string, day: string): string | undefined => {
  const start = Date.parse(day);
  if (Number.isNaN(start)) return undefined;
  return new Date(parameter.endsWith('To') ? start + dayMs : start).toISOString();
};

/** The search in the URL. */
export const contactSearch = (): RequestFor<'searchContact'> => {
  const text = query.value.get('text') ?? undefined;
  const entries = names.flatMap((name) => {
    const value = query.value.get(name);
    if (value === null || (name === 'value' && !query.value.get('attribute'))) return [];
    if (name === 'status' && !statuses.some((each) => each === value)) return [];
    const fieldValue = /From$|To$/.test(name) ? toTime(name, value) : value;
    return fieldValue === undefined ? [] : [[parameters[name], fieldValue] as const];
  });
  return { text, ...Object.fromEntries(entries) };
};

const Choice = ({
  parameter,
  label,
  options,
}: {
  readonly parameter: Parameter;
  readonly label: string;
  readonly options: readonly (readonly [string, string])[];
}) => (
  <Field label={label}>
    {(props) => (
      <select
        {...props}
        value={query.value.get(parameter) ?? ''}
        onChange={(event) => setQuery({ [parameter]: event.currentTarget.value })}
      >
        <option value="">Any</option>
        {options.map(([value, name]) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
      </select>
    )}
  </Field>
);

const DayInput = ({ parameter, label }: { readonly parameter: Parameter; readonly label: string }) => (
  <Field label={label}>
    {(props) => (
      <input
        {...props}
        type="date"
        value={query.value.get(parameter) ?? ''}
        onChange={(event) => setQuery({ [parameter]: event.currentTarget.value })}
      />
    )}
  </Field>
);

const unmerged = <Entry extends { readonly mergedInto?: unknown }>(entries: readonly Entry[] = []): readonly Entry[] =>
  entries.filter(({ mergedInto }) => mergedInto === undefined);

const attributes = () => unmerged(account.value?.attr).map(({ attrID }) => [attrID, attributeName(attrID)] as const);

const Menu = ({ label, children }: { readonly label: string; readonly children: ComponentChildren }) => (
  <details class="menu tool-menu">
    <summary>{label}</summary>
    <div class="menu-form">{children}</div>
  </details>
);

export const ContactFilter = () => {
  const count = names.filter((name) => query.value.get(name)).length;
  return (
    <Menu label={count > 0 ? `Filter · ${count}` : 'Filter'}>
      <Choice
        parameter="tag"
        label="Tag"
        options={unmerged(account.value?.tag).map(({ tagID, tagName }) => [tagID, tagName])}
      />
      <Choice
        parameter="profile"
        label="Profile"
        options={unmerged(account.value?.profile).map(({ profileID, profileName }) => [profileID, profileName])}
      />
      <Choice parameter="status" label="Status" options={statuses.map((each) => [each, each])} />
      <Choice parameter="attribute" label="Attribute" options={attributes()} />
      {query.value.get('attribute') && (
        <Field label={`Value of ${nameOf('attr', query.value.get('attribute') ?? '')}`}>
          {(props) => (
            <input
              {...props}
              value={query.value.get('value') ?? ''}
              onChange={(event) => setQuery({ value: event.currentTarget.value })}
            />
          )}
        </Field>
      )}
      <DayInput parameter="createdFrom" label="Created from" />
      <DayInput parameter="createdTo" label="Created until" />
      <DayInput parameter="seenFrom" label="Last seen from" />
      <DayInput parameter="seenTo" label="Last seen until" />
      {count > 0 && (
        <button type="button" onClick={() => setQuery(Object.fromEntries(names.map((name) => [name, null])))}>
          Clear filter
        </button>
      )}
    </Menu>
  );
};

const defaultColumns = ['tag', 'contactStatus', 'lastSeenTime', 'createdTime'];

/** The titles of all columns except the name, by ID. */
export const columnTitles = (): ReadonlyMap<string, string> =>
  new Map([
    ['tag', 'Tags'],
    ['contactStatus', 'Status'],
    ['lastSeenTime', 'Last seen'],
    ['createdTime', 'Created'],
    ['contactProfileName', 'Profile'],
    ['contactTelephone', 'Phone'],
    ['contactMobile', 'Mobile'],
    ['contactJobRole', 'Job role'],
    ['contactExternalID', 'Your ID'],
    ...attributes().map(([attrID, name]) => [`attr:${attrID}`, name] as const),
  ]);

/** The columns in the URL, in display order. */
export const chosenColumns = (): string[] => {
  const titles = columnTitles();
  const columns = query.value.get('columns')?.split(',') ?? defaultColumns;
  return [...titles.keys()].filter((column) => columns.includes(column));
};

/** Offers only attributes of these contacts: the catalogue also lists attributes that only events have. */
export const ColumnChoice = ({ contacts }: { readonly contacts: readonly ContactResult[] }) => {
  const chosen = chosenColumns();
  const present = new Set(contacts.flatMap(({ contactAttr }) => contactAttr.map(({ attrID }) => `attr:${attrID}`)));
  const options = [...columnTitles()].filter(
    ([column]) => !column.startsWith('attr:') || present.has(column) || chosen.includes(column),
  );
  const toggle = (column: string, isShown: boolean) =>
    setQuery({ columns: [...chosen.filter((each) => each !== column), ...(isShown ? [column] : [])].join(',') || '-' });
  return (
    <Menu label="Columns">
      {options.map(([column, title]) => (
        <label key={column}>
          <input
            type="checkbox"
            checked={chosen.includes(column)}
            onChange={(event) => toggle(column, event.currentTarget.checked)}
          />{' '}
          {title}
        </label>
      ))}
    </Menu>
  );
};
