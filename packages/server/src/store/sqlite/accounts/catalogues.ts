import { BoundedMap } from '../../../shared/bounded-map.ts';
import {
  type AccountCatalogues,
  checkUses,
  type EntryWithID,
  isSettled,
  type Listing,
  listUses,
  type ResolvedQuery,
  resolveQueryIDs,
  splitEntries,
  toAccountCatalogues,
  toStoredKind,
  type Use,
  usesOfEvent,
} from '../../rules/accounts/catalogue-rules.ts';
import {
  type CatalogueMerges,
  checkEntryMerge,
  checkEntryUnmerge,
  type MergeRow,
  toCatalogueMerges,
} from '../../rules/accounts/entry-merges.ts';
import type { CatalogueKind, Catalogues, EntryMerge, EventQuery, ListedEntry, NewEvent } from '../../store.ts';
import type { Connection } from '../database/connection.ts';
import type { Rollups } from '../events/rollups.ts';

/** The size of the cache. */
const maxAccounts = 500;

interface Settings {
  readonly strict: number;
  readonly browserCatalogue: number;
  readonly nextEventID: number;
}

export const createCatalogueWriter = (db: Connection, rollups: Pick<Rollups, 'has'>) => {
  const settings = db.prepare<[number], Settings>(
    'SELECT strict, browserCatalogue, nextEventID FROM account WHERE account = ?',
  );
  const setNextEventID = db.prepare<[number, number]>('UPDATE account SET nextEventID = ? WHERE account = ?');
  const select = db.prepare<[number], MergeRow & { name: string; browser: number; byBrowser: number }>(
    'SELECT kind, id, name, browser, byBrowser, mergedInto FROM catalogue WHERE account = ?',
  );
  const upsert = db.prepare(`
    INSERT INTO catalogue (account, kind, id, name, browser, byBrowser, type)
    VALUES (@account, @kind, @id, coalesce(@name, @id), coalesce(@browser, 1), @byBrowser, coalesce(@type, @usualType))
    ON CONFLICT (account, kind, id) DO UPDATE
    SET name = coalesce(@name, name), browser = coalesce(@browser, browser), byBrowser = min(byBrowser, @byBrowser),
        type = coalesce(@type, type)`);
  const setMerged = db.prepare('UPDATE catalogue SET mergedInto = ? WHERE account = ? AND kind = ? AND id = ?');
  const drop = db.prepare('DELETE FROM catalogue WHERE account = ? AND kind = ? AND id = ?');
  const cache = new BoundedMap<number, AccountCatalogues>(maxAccounts);

  const getListedIDs = (account: number): AccountCatalogues => {
    const cached = cache.get(account);
    if (cached) return cached;
    const { strict, browserCatalogue, nextEventID } = settings.get(account) as Settings;
    const allows = { strict: strict === 1, browserCatalogue: browserCatalogue === 1, nextEventID };
    const hasEvents = (eventID: string) => rollups.has(account, Number(eventID));
    const ids = toAccountCatalogues({ ...allows, hasEvents }, select.all(account));
    cache.set(account, ids);
    return ids;
  };

  const write = (account: number, kind: CatalogueKind, entry: EntryWithID, byBrowser: boolean) =>
    upsert.run({
      account,
      kind,
      id: entry.id,
      name: entry.name,
      browser: entry.browser === undefined ? null : Number(entry.browser),
      byBrowser: Number(byBrowser),
      type: entry.type,
      usualType: kind === 'attr' ? 'text' : '',
    });

  const change = (account: number, listings: readonly Listing[]) => {
    for (const { kind, id, listed, name } of listings) {
      if (listed) write(account, kind, { id, name, browser: listed.forBrowsers }, listed.byBrowser);
      else drop.run(account, kind, id);
    }
  };

  return {
    /** Returns the uses of an event that must be checked and registered; none if that would change nothing. */
    usesOf: (account: number, browser: boolean, event: NewEvent): readonly Use[] =>
      isSettled(getListedIDs(account), browser, event) ? [] : usesOfEvent(event),
    /** Throws a Refusal if the token may not use one of the IDs. */
    check: (account: number, browser: boolean, uses: readonly Use[]): void =>
      checkUses(getListedIDs(account), browser, uses),
    /** Lists the IDs that are unlisted, while there is room. */
    register(account: number, browser: boolean, uses: readonly Use[]): void {
      const ids = getListedIDs(account);
      const { nextEventID } = ids;
      change(account, listUses(ids, browser, uses));
      if (ids.nextEventID > nextEventID) setNextEventID.run(ids.nextEventID, account);
    },
    /** Returns the eventID and attributes to store for an event. Register its uses first. */
    storedKindOf: (account: number, event: NewEvent) => toStoredKind(getListedIDs(account), event),
    /** Adds, changes or removes entries. Makes room by dropping IDs that only browser tokens have used. */
    put(account: number, catalogues: Catalogues): void {
      cache.delete(account);
      const ids = getListedIDs(account);
      const { dropped, written } = splitEntries(ids, catalogues);
      setNextEventID.run(ids.nextEventID, account);
      change(account, dropped);
      for (const { kind, entry } of written) write(account, kind, entry, false);
      cache.delete(account);
    },
    mergeEntry({ account, kind, id, otherID }: EntryMerge): void {
      if (checkEntryMerge(getListedIDs(account), { kind, id, otherID })) return;
      setMerged.run(id, account, kind, otherID);
      cache.delete(account);
    },
    unmergeEntry({ account, kind, otherID }: Omit<EntryMerge, 'id'>): void {
      checkEntryUnmerge(getListedIDs(account), { kind, otherID });
      setMerged.run(null, account, kind, otherID);
      cache.delete(account);
    },
    forget: () => cache.clear(),
    undo: () => cache.clear(),
  };
};
export type CatalogueWriter = ReturnType<typeof createCatalogueWriter>;

export const createCatalogueReader = (db: Connection) => {
  // Uses the order of the primary key, except for events, which must be sorted.
  const selectBy = (order: string) =>
    db.prepare<
      [number, CatalogueKind],
      Omit<ListedEntry, 'browser' | 'byBrowser'> & { browser: 0 | 1; byBrowser: 0 | 1 }
    >(
      `SELECT id, name, browser, byBrowser, type, mergedInto FROM catalogue WHERE account = ? AND kind = ? ORDER BY ${order}`,
    );
  const select = selectBy('id');
  const selectEvents = selectBy('CAST(id AS INTEGER)');
  const selectName = db.prepare<[number, CatalogueKind, string], { name: string }>(
    'SELECT name FROM catalogue WHERE account = ? AND kind = ? AND id = ?',
  );
  const selectMerged = db.prepare<[number], MergeRow>(
    'SELECT kind, id, mergedInto FROM catalogue WHERE account = ? AND mergedInto IS NOT NULL',
  );
  /** Returns the current merges of an account's entries. */
  const merges = (account: number): CatalogueMerges => toCatalogueMerges(selectMerged.all(account));
  return {
    list: (account: number, kind: CatalogueKind): ListedEntry[] =>
      (kind === 'event' ? selectEvents : select)
        .all(account, kind)
        .map((row) => ({ ...row, browser: row.browser === 1, byBrowser: row.byBrowser === 1 })),
    /** Returns the name of an event; undefined if it is unlisted. */
    eventName: (account: number, eventID: number): string | undefined =>
      selectName.get(account, 'event', String(eventID))?.name,
    /** Returns the name of an ID: the ID itself if it is unlisted, '' for ''. */
    name: (account: number, kind: CatalogueKind, id: string): string =>
      id === '' ? '' : (selectName.get(account, kind, id)?.name ?? id),
    merges,
    /** Resolves the ID or name in a query. */
    resolveQueryIDs: <Query extends Pick<EventQuery, 'account' | 'eventID' | 'eventName'>>(
      query: Query,
      merged: CatalogueMerges = merges(query.account),
    ): ResolvedQuery<Query> =>
      resolveQueryIDs(query, merged, query.eventName === undefined ? [] : selectEvents.all(query.account, 'event')),
  };
};
