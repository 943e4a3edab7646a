/** A table of people, each a link to the person's page. */
import type { ComponentChildren } from 'preact';
import { hrefOf } from '../../address.ts';
import { Face } from '../../parts/small.tsx';
import { Table } from '../../parts/table.tsx';

interface PersonRow {
  readonly id: string;
  readonly name: string;
  readonly detail: string;
  readonly isAnonymous: boolean;
  readonly cells: readonly ComponentChildren[];
}

/** Which people are chosen, to be changed together. */
interface PeopleChoice {
  readonly isChosen: (id: string) => boolean;
  readonly choose: (ids: readonly string[], isChosen: boolean) => void;
}

interface PeopleTableProps {
  readonly rows: readonly PersonRow[];
  /** The heads of `cells`. */
  readonly heads: readonly string[];
  readonly more?: (() => void) | undefined;
  readonly choice?: PeopleChoice;
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

const Chooser = ({
  label,
  ids,
  choice,
}: {
  readonly label: string;
  readonly ids: readonly string[];
  readonly choice: PeopleChoice;
}) => (
  <input
    type="checkbox"
    aria-label={label}
    checked={ids.every(choice.isChosen)}
    onChange={(event) => choice.choose(ids, event.currentTarget.checked)}
  />
);

export const PeopleTable = ({ rows, heads, more, choice }: PeopleTableProps) => (
  <>
    {choice && (
      <p class="choose-all">
        <Chooser label="Choose all that are shown" ids={rows.map(({ id }) => id)} choice={choice} />
        <span aria-hidden="true">Choose all shown</span>
      </p>
    )}
    <Table
      label="People"
      heads={['Name', ...heads]}
      more={more}
      rows={rows.map(({ cells, ...person }) => ({
        key: person.id,
        cells: [
          <span key="name" class="chosen-person">
            {choice && <Chooser label={`Choose ${person.name}`} ids={[person.id]} choice={choice} />}
            <PersonLink {...person} />
          </span>,
          ...cells,
        ],
      }))}
    />
  </>
);
