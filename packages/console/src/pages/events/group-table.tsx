/** The groups of a funnel or retention report, as a table. */
import type { RequestFor } from '@firsthand/client';
import type { ComponentChildren } from 'preact';
import { Overlap } from '../../parts/overlap.tsx';
import { Table } from '../../parts/table.tsx';
import { formatWhole } from '../../reading/format.ts';
import { getMissingValueLabel } from '../../reading/without-value.ts';
import { ParameterChoice, readChoiceParameter } from './choices.tsx';
import { type Dimension, dimensions } from './dimensions.ts';
import { NoValues } from './no-values.tsx';
import type { ChosenNumber } from './people-dialog.tsx';

export const maxGroups = 20;
const none = 'none';

const chosenDimension = (): Dimension | undefined => {
  const all = dimensions();
  return all[readChoiceParameter('group', { [none]: undefined, ...all })];
};

/** The grouping in the URL, as a request field. */
export const readGroupBy = (): { readonly by?: RequestFor<'reportBreakdown'>['by'] } => {
  const dimension = chosenDimension();
  return dimension ? { by: dimension.by } : {};
};

export const GroupChoice = () => {
  const titles = Object.entries(dimensions()).map(([by, { title }]) => [by, title] as const);
  return (
    <ParameterChoice
      label="Break down by"
      parameter="group"
      options={{ [none]: 'None', ...Object.fromEntries(titles) }}
    />
  );
};

/** The request for the people behind a figure, in one group or in all. */
export const toPeopleRequest = <Request extends { readonly by?: unknown }>(
  { by, ...request }: Request,
  { value }: ChosenNumber,
): Omit<Request, 'by'> & { readonly by?: Request['by']; readonly value?: (string | null)[] } =>
  value === undefined ? request : { ...request, by: by as Request['by'], value: [...value] };

interface Group {
  readonly values: readonly (string | null)[];
  readonly eventName?: string | undefined;
}

/** The grouping's title; '' if there is none. */
export const titleOfGroups = (): string => chosenDimension()?.title ?? '';

export const nameOfGroup = ({ values: [value = null], eventName }: Group): string => {
  const { by, label = String } = chosenDimension() ?? { by: '' };
  return eventName || (value === null ? getMissingValueLabel(String(by)) : label(value) || '(empty)');
};

interface GroupTableProps {
  readonly label: string;
  readonly headers: readonly string[];
  readonly rows: readonly (Group & { readonly people: number; readonly cells: readonly ComponentChildren[] })[];
  /** The people in all groups, each counted once. Absent if the rows don't count people. */
  readonly total: number | undefined;
  /** How many groups are not in the table. */
  readonly others: number | undefined;
}

export const GroupTable = ({ label, headers, rows, total, others }: GroupTableProps) => (
  <div class="group-table">
    <NoValues by={String(readGroupBy().by)} parameter="group" rows={rows} />
    <Table
      label={label}
      headers={[titleOfGroups(), ...headers]}
      rows={rows.map(({ cells, people: _, ...group }) => ({
        key: `value ${group.values[0]}`,
        cells: [nameOfGroup(group), ...cells],
      }))}
    />
    {total !== undefined && <Overlap rows={rows} total={{ people: total }} />}
    {others !== undefined && (
      <p class="soft">
        {formatWhole(others)} more {others === 1 ? 'group is' : 'groups are'} not shown.
      </p>
    )}
  </div>
);
