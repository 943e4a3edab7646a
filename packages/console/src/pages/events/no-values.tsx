/** A hint where no event of a breakdown has a value: a purchase, for example, names no campaign itself. */
import { hrefWith } from '../../address.ts';
import { isShared } from '../../reading/shared.ts';
import { dimensions } from './dimensions.ts';

/** The same in the visit, and then in the first event of the person. */
const widerOf: Readonly<Record<string, string>> = {
  referrerHost: 'entryReferrerHost',
  entryReferrerHost: 'firstReferrerHost',
};
const widen = (by: string): string | undefined =>
  widerOf[by] ??
  (/^(attr|first):utm_/.test(by) ? by.replace(/^first:/, 'person:first:').replace(/^attr:/, 'first:') : undefined);

interface NoValuesProps {
  readonly by: string;
  /** The parameter of the address that holds `by`. */
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
  const what = (all[by]?.title ?? '').replace(/ of the .*/, '').toLowerCase();
  return (
    <p class="soft">
      These events carry no {what} of their own. Try <a href={hrefWith({ [parameter]: wider })}>{other.title}</a>.
    </p>
  );
};
