/** A table of people, with links to their pages. */
import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import { hrefOf } from '../../address.ts';
import { Avatar } from '../../parts/small.tsx';
import { Table } from '../../parts/table.tsx';

interface PersonRow {
  readonly id: string;
  readonly name: string;
  readonly detail: string;
  readonly isAnonymous: boolean;
  readonly cells: readonly ComponentChildren[];
}

/** The selection of people for bulk changes. */
interface PeopleChoice {
  readonly isChosen: (id: string) => boolean;
  readonly choose: (ids: readonly string[], isChosen: boolean) => void;
}

interface PeopleTableProps {
  readonly rows: readonly PersonRow[];
  readonly headers: readonly string[];
  /** The headers of numeric columns. */
  readonly numbers?: readonly string[] | undefined;
  readonly more?: (() => void) | undefined;
  readonly choice?: PeopleChoice;
}

const PersonLink = ({ id, name, detail, isAnonymous }: Omit<PersonRow, 'cells'>) => (
  <a class="person-link" href={hrefOf('person', isAnonymous ? { user: id } : { contact: id })}>
    <Avatar id={id} name={name} isAnonymous={isAnonymous} />
    <span>
      {name}
      {detail && detail !== name && <small>{detail}</small>}
    </span>
  </a>
);

export const PeopleTable = ({ rows, headers, numbers, more, choice }: PeopleTableProps) => {
  const ids = rows.map(({ id }) => id);
  /** The last clicked row, where a Shift-click range starts. */
  const lastID = useRef('');
  /** A click with Shift applies to all rows between the last click and this one. */
  const click = (id: string, { currentTarget, shiftKey }: { currentTarget: HTMLInputElement; shiftKey: boolean }) => {
    const ends = [ids.indexOf(shiftKey ? lastID.current : id), ids.indexOf(id)].sort((a, b) => a - b);
    lastID.current = id;
    choice?.choose(ends[0] === -1 ? [id] : ids.slice(ends[0], Number(ends[1]) + 1), currentTarget.checked);
  };
  return (
    <>
      {choice && (
        <label class="choose-all">
          <input
            type="checkbox"
            checked={ids.every(choice.isChosen)}
            onChange={(event) => choice.choose(ids, event.currentTarget.checked)}
          />
          Select all shown
        </label>
      )}
      <Table
        label="People"
        headers={['Name', ...headers]}
        numbers={numbers}
        more={more}
        rows={rows.map(({ cells, ...person }) => ({
          key: person.id,
          cells: [
            <span key="name" class="chosen-person">
              {choice && (
                <input
                  type="checkbox"
                  aria-label={`Select ${person.name}`}
                  checked={choice.isChosen(person.id)}
                  onClick={(event) => click(person.id, event)}
                />
              )}
              <PersonLink {...person} />
            </span>,
            ...cells,
          ],
        }))}
      />
    </>
  );
};
