/** Operations on catalogues. */
import {
  type EntryWithID,
  type Listing,
  type ResolvedQuery,
  resolveQueryIDs,
} from '../rules/accounts/catalogue-rules.ts';
import { type CatalogueMerges, type MergeRow, toCatalogueMerges } from '../rules/accounts/entry-merges.ts';
import type { CatalogueKind, EntryMerge, EventQuery, ListedEntry, RequestOf } from '../store.ts';
import { all, createQuery, type Operation, run, together } from './operation.ts';

type Flags = 'browser' | 'byBrowser';
type EntryRow = Omit<ListedEntry, Flags> & Readonly<Record<Flags, boolean | 0 | 1>>;

const selectSorted = (order: string) =>
  createQuery<EntryRow>(
    () => `
      SELECT id, name, browser, "byBrowser", type, "mergedInto" FROM catalogue
      WHERE account = $1 AND kind = $2 ORDER BY ${order}`,
  );
// In primary-key order, except for events, which must be sorted by number.
const selectEntries = selectSorted('id');
const selectEvents = selectSorted('CAST(id AS integer)');

export function* listCatalogue({ account, kind }: RequestOf<'listCatalogue'>): Operation<ListedEntry[]> {
  const rows = yield* all((kind === 'event' ? selectEvents : selectEntries)(account, kind));
  return rows.map((row) => ({ ...row, browser: Boolean(row.browser), byBrowser: Boolean(row.byBrowser) }));
}

/** Returns all of an account's catalogues. */
export function* listCatalogues(account: number): Operation<Readonly<Record<CatalogueKind, ListedEntry[]>>> {
  const [profile, tag, attr, event] = yield* together(
    listCatalogue({ account, kind: 'profile' }),
    listCatalogue({ account, kind: 'tag' }),
    listCatalogue({ account, kind: 'attr' }),
    listCatalogue({ account, kind: 'event' }),
  );
  return { profile, tag, attr, event };
}

const selectMerged = createQuery<MergeRow>(
  () => 'SELECT kind, id, "mergedInto" FROM catalogue WHERE account = $1 AND "mergedInto" IS NOT NULL',
);

/** Returns the merges of an account's catalogue entries. */
export function* readEntryMerges(account: number): Operation<CatalogueMerges> {
  return toCatalogueMerges(yield* all(selectMerged(account)));
}

/** Replaces a query's eventID or name with all eventIDs that it represents. */
export function* resolveIDs<Query extends Pick<EventQuery, 'account' | 'eventID' | 'eventName'>>(
  query: Query,
  merges: CatalogueMerges,
): Operation<ResolvedQuery<Query>> {
  const { account, eventName } = query;
  return resolveQueryIDs(
    query,
    merges,
    eventName === undefined ? [] : yield* listCatalogue({ account, kind: 'event' }),
  );
}

const upsert = createQuery<never>(
  ({ name }) => `
    INSERT INTO catalogue (account, kind, id, name, browser, "byBrowser", type)
    VALUES ($1, $2, $3, coalesce($4, $3), coalesce($5, ${name === 'sqlite' ? '1' : 'true'}), $6, coalesce($7, $8))
    ON CONFLICT (account, kind, id) DO UPDATE SET name = coalesce($4, catalogue.name),
      browser = coalesce($5, catalogue.browser), "byBrowser" = catalogue."byBrowser" AND $6,
      type = coalesce($7, catalogue.type)`,
);
const remove = createQuery<never>(() => 'DELETE FROM catalogue WHERE account = $1 AND kind = $2 AND id = $3');

/** Adds or changes an entry. `byBrowser` is true if only browser tokens have used the entry. */
function* writeEntry(
  account: number,
  kind: CatalogueKind,
  { id, name, browser, type }: EntryWithID,
  byBrowser: boolean,
): Operation<number> {
  return yield* run(upsert(account, kind, id, name, browser, byBrowser, type, kind === 'attr' ? 'text' : ''));
}

/** Writes the changes that the catalogue rules require, and then an account request's entries. */
export function* writeCatalogues(
  account: number,
  changes: readonly Listing[],
  entries: readonly { readonly kind: CatalogueKind; readonly entry: EntryWithID }[] = [],
): Operation<void> {
  yield* together(
    ...changes.map(({ kind, id, listed, name }) =>
      listed
        ? writeEntry(account, kind, { id, name, browser: listed.forBrowsers }, listed.byBrowser)
        : run(remove(account, kind, id)),
    ),
    ...entries.map(({ kind, entry }) => writeEntry(account, kind, entry, false)),
  );
}

const updateMerged = createQuery<never>(
  () => 'UPDATE catalogue SET "mergedInto" = $4 WHERE account = $1 AND kind = $2 AND id = $3',
);

/** Sets the entry into which another entry is merged. */
export function* setMergedEntry(
  { account, kind, otherID }: Pick<EntryMerge, 'account' | 'kind' | 'otherID'>,
  mergedInto: string | null,
): Operation<void> {
  yield* run(updateMerged(account, kind, otherID, mergedInto));
}
