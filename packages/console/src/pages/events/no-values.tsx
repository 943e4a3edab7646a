/** A hint for a breakdown whose events have no values. For example, a purchase has no campaign, but its visit does. */
import { hrefWith } from '../../address.ts';
import { isShared } from '../../reading/shared.ts';
import { dimensions } from './dimensions.ts';

/**
 * Maps each dimension to the next broader one: from an event to its visit, and from a visit to the person's first
 * event.
 */
const widerOf: Readonly<Record<string, string>> = {
  referrerHost: 'entryReferrerHost',
  entryReferrerHost: 'firstReferrerHost',
};
const widen = (by: string): string | undefined =>
  widerOf[by] ??
  (/^(attr|first):utm_/.test(by) ? by.replace(/^first:/, 'person:first:').replace(/^attr:/, 'first:') : undefined);

interface NoValuesProps {
  readonly by: string;
  /** The URL parameter that holds `by`. */
  readonly parameter: string;
  readonly rows: readonly { readonly values: readonly (string | null)[]; readonly people: number }[];
}

export const NoValues = ({ by, parameter, rows }: NoValuesProps) => {
  const wider = widen(by);
  const all = dimensions();
  const other = wider === undefined ? undefined : all[wider];
  if (
    other === undefined ||
    isShared ||
    rows.length === 0 ||
    rows.some(({ values, people }) => values[0] != null && people > 0)
  )
    return null;
  const valueName = (all[by]?.title ?? '').replace(/ of the .*/, '').toLowerCase();
  return (
    <p class="soft">
      These events have no {valueName}. Try <a href={hrefWith({ [parameter]: wider })}>{other.title}</a>.
    </p>
  );
};
