/** A table of people, with a way to the further ones. */
import type { ComponentChildren } from 'preact';
import { hrefOf } from '../../address.ts';
import { Face } from '../../parts/small.tsx';

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

export const PeopleTable = ({ rows, heads, more }: PeopleTableProps) => (
  <>
    <table class="people">
      <thead>
        <tr>
          <th scope="col">Name</th>
          {heads.map((head) => (
            <th key={head} scope="col">
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ id, name, detail, isAnonymous, cells }) => (
          <tr key={id}>
            <th scope="row">
              <a class="person-link" href={hrefOf('person', isAnonymous ? { user: id } : { contact: id })}>
                <Face id={id} name={name} isAnonymous={isAnonymous} />
                <span>
                  {name}
                  {detail && detail !== name && <small>{detail}</small>}
                </span>
              </a>
            </th>
            {cells.map((cell, index) => (
              <td key={heads[index]}>{cell}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
    {more && (
      <button type="button" class="more" onClick={more}>
        Show more
      </button>
    )}
  </>
);
