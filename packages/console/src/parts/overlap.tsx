/** A note under rows that count some people more than once. */

interface OverlapProps {
  readonly rows: readonly { readonly people: number }[];
  /** The total of the rows that are not shown. */
  readonly others?: { readonly people: number } | undefined;
  readonly total: { readonly people: number };
}

export const Overlap = ({ rows, others, total }: OverlapProps) =>
  rows.reduce((sum, { people }) => sum + people, others?.people ?? 0) > total.people ? (
    <p class="overlap">Some people are counted in several rows.</p>
  ) : null;
