/** A table. In narrow windows each row becomes a block in which every cell is preceded by its header. */
import type { ComponentChildren } from 'preact';

interface Row {
  readonly key: string;
  /** The first cell is the row's header. */
  readonly cells: readonly ComponentChildren[];
}

interface TableProps {
  /** The table's name, for screen readers. */
  readonly label: string;
  /** The column headers. An empty header is for a column of buttons. */
  readonly headers: readonly string[];
  readonly rows: readonly Row[];
  /** The headers of numeric columns. */
  readonly numbers?: readonly string[] | undefined;
  readonly more?: (() => void) | undefined;
}

export const Table = ({ label, headers, rows, numbers = [], more }: TableProps) => (
  <>
    <table class="table">
      <caption class="unseen">{label}</caption>
      <thead>
        <tr>
          {headers.map((header) => (
            <th key={header} scope="col" class={numbers.includes(header) ? 'number' : undefined}>
              {header || <span class="unseen">Actions</span>}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ key, cells: [first, ...others] }) => (
          <tr key={key}>
            <th scope="row">{first}</th>
            {others.map((cell, index) => {
              const header = headers[index + 1] ?? '';
              return (
                <td
                  key={header}
                  data-head={header}
                  class={header === '' ? 'table-actions' : numbers.includes(header) ? 'number' : undefined}
                >
                  {cell}
                </td>
              );
            })}
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
