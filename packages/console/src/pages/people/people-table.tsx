/** A table of people, each a link to the person's page. */
import type { ComponentChildren } from 'preact';
import { hrefOf } from '../../address.ts';
import { Face } from '../../parts/small.tsx';
import { Table } from '../../parts/table.tsx';

export interface PersonRow {
  readonly id: string;
  readonly name: string;
  readonly detail: string;
  readonly isAnonymous: boolean;
  readonly cells: readonly ComponentChildren[];
}

interface PeopleTableProps {
  readonly rows: readonly PersonRow[];
  /** The heads of `cells`. */
  readonly heads: readonly string[];
  readonly more?: (() => void) | undefined;
}

const PersonLink = ({ id, name, detail, isAnonymous }: Omit<PersonRow, 'cells'>) => (
  <a class="person-link" href={hrefOf('person', isAnonymous ? { user: id } : { contact: id })}>
    <Face id={id} name={name} isAnonymous={isAnonymous} />
    <span>
      {name}
      {detail && detail !== name && <small>{detail}</small>}
    </span>
  </a>
);

export const PeopleTable = ({ rows, heads, more }: PeopleTableProps) => (
  <Table
    label="People"
    heads={['Name', ...heads]}
    more={more}
    rows={rows.map(({ cells, ...person }) => ({
      key: person.id,
      cells: [<PersonLink key="name" {...person} />, ...cells],
    }))}
  />
);
