/** The groups of a funnel or of a retention, as a table. */
import type { RequestFor } from '@firsthand/client';
import type { ComponentChildren } from 'preact';
import { Overlap } from '../../parts/overlap.tsx';
import { Table } from '../../parts/table.tsx';
import { formatWhole } from '../../reading/format.ts';
import { withoutValue } from '../../reading/without-value.ts';
import { chosenIn, ParameterChoice } from './choices.tsx';
import { type Dimension, dimensions } from './dimensions.ts';
import { NoValues } from './no-values.tsx';
import type { ChosenNumber } from './who.tsx';

export const groupsShown = 20;
const none = 'none';

const chosenDimension = (): Dimension | undefined => {
  const all = dimensions();
  return all[chosenIn('group', { [none]: undefined, ...all })];
};

/** The groups that the address asks for, as the field of a request. */
export const byChosen = (): { readonly by?: RequestFor<'reportBreakdown'>['by'] } => {
  const dimension = chosenDimension();
  return dimension ? { by: dimension.by } : {};
};

export const GroupChoice = () => {
  const titles = Object.entries(dimensions()).map(([by, { title }]) => [by, title] as const);
  return (
    <ParameterChoice
      label="Broken down by"
      parameter="group"
      options={{ [none]: 'Nothing', ...Object.fromEntries(titles) }}
    />
  );
};

/** The request for the people behind a number: of one group, or of all. */
export const ofNumber = <Request extends { readonly by?: unknown }>(
  { by, ...request }: Request,
  { value }: ChosenNumber,
): Omit<Request, 'by'> & { readonly by?: Request['by']; readonly value?: (string | null)[] } =>
  value === undefined ? request : { ...request, by: by as Request['by'], value: [...value] };

interface Group {
  readonly values: readonly (string | null)[];
  readonly eventName?: string | undefined;
}

/** What groups are called together; '' if the address asks for none. */
export const titleOfGroups = (): string => chosenDimension()?.title ?? '';

export const nameOfGroup = ({ values: [value = null], eventName }: Group): string => {
  const { by, label = String } = chosenDimension() ?? { by: '' };
  return eventName || (value === null ? withoutValue(String(by)) : label(value) || '(empty)');
};

interface GroupTableProps {
  readonly label: string;
  readonly heads: readonly string[];
  readonly rows: readonly (Group & { readonly people: number; readonly cells: readonly ComponentChildren[] })[];
  /** The people of all groups, each counted once. Absent where the rows count something else. */
  readonly total: number | undefined;
  /** How many groups are not in the table. */
  readonly others: number | undefined;
}

export const GroupTable = ({ label, heads, rows, total, others }: GroupTableProps) => (
  <div class="group-table">
    <NoValues by={String(byChosen().by)} parameter="group" rows={rows} />
    <Table
      label={label}
      heads={[titleOfGroups(), ...heads]}
      rows={rows.map(({ cells, people: _, ...group }) => ({
        key: `value ${group.values[0]}`,
        cells: [nameOfGroup(group), ...cells],
      }))}
    />
    {total !== undefined && <Overlap rows={rows} total={{ people: total }} />}
    {others !== undefined && <p class="soft">{formatWhole(others)} more groups are not shown.</p>}
  </div>
);
