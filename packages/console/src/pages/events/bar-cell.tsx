/** A row's first cell: its label over a bar scaled to the largest row. */

interface BarCellProps {
  readonly label: string;
  /** From 0 to 1; 0 draws no bar. */
  readonly share: number;
  /** Text at the end of the cell. */
  readonly detail?: string;
  /** The URL that a click opens, and its tooltip. */
  readonly href?: string | undefined;
  readonly hint?: string | undefined;
}

export const BarCell = ({ label, share, detail, href, hint }: BarCellProps) => (
  <span class="bar-cell">
    {share > 0 && <span class="bar" style={{ width: `${share * 100}%` }} />}
    {href === undefined ? (
      <span class="bar-label" title={label}>
        {label}
      </span>
    ) : (
      <a class="bar-label" href={href} title={hint}>
        {label}
      </a>
    )}
    {detail && <span class="share">{detail}</span>}
  </span>
);
