import { BoundedMap } from '../../../shared/bounded-map.ts';
import {
  checkUses,
  type EntryWithID,
  isSettled,
  type ListedIDs,
  type Listing,
  listUses,
  partEntries,
  toListedIDs,
  toStoredKind,
  type Use,
  usesOfEvent,
  type WithIDs,
  withIDs,
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

/** The most accounts in the cache. */
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
  const known = new BoundedMap<number, ListedIDs>(maxAccounts);

  const knownOf = (account: number): ListedIDs => {
    const remembered = known.get(account);
    if (remembered) return remembered;
    const { strict, browserCatalogue, nextEventID } = settings.get(account) as Settings;
    const allows = { strict: strict === 1, browserCatalogue: browserCatalogue === 1, nextEventID };
    const hasEvents = (eventID: string) => rollups.has(account, Number(eventID));
    const fresh = toListedIDs({ ...allows, hasEvents }, select.all(account));
    known.set(account, fresh);
    return fresh;
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
    /** The uses of an event that must be checked and registered; none when that would change nothing. */
    usesOf: (account: number, browser: boolean, event: NewEvent): readonly Use[] =>
      isSettled(knownOf(account), browser, event) ? [] : usesOfEvent(event),
    /** Throws a Refusal when the account, or a browser token, may not use an ID. Changes nothing. */
    check: (account: number, browser: boolean, uses: readonly Use[]): void =>
      checkUses(knownOf(account), browser, uses),
    /** Lists IDs that are not listed yet, while there is room. */
    register(account: number, browser: boolean, uses: readonly Use[]): void {
      const ids = knownOf(account);
      const { nextEventID } = ids;
      change(account, listUses(ids, browser, uses));
      if (ids.nextEventID > nextEventID) setNextEventID.run(ids.nextEventID, account);
    },
    /** The eventID and the attributes that are stored of an event whose uses are registered. */
    storedKindOf: (account: number, event: NewEvent) => toStoredKind(knownOf(account), event),
    /** Adds, changes or removes entries. IDs that only browser tokens have used are dropped when there is no room. */
    put(account: number, catalogues: Catalogues): void {
      known.delete(account);
      const ids = knownOf(account);
      const { dropped, written } = partEntries(ids, catalogues);
      setNextEventID.run(ids.nextEventID, account);
      change(account, dropped);
      for (const { kind, entry } of written) write(account, kind, entry, false);
      known.delete(account);
    },
    mergeEntry({ account, kind, id, otherID }: EntryMerge): void {
      if (checkEntryMerge(knownOf(account), { kind, id, otherID })) return;
      setMerged.run(id, account, kind, otherID);
      known.delete(account);
    },
    unmergeEntry({ account, kind, otherID }: Omit<EntryMerge, 'id'>): void {
      checkEntryUnmerge(knownOf(account), { kind, otherID });
      setMerged.run(null, account, kind, otherID);
      known.delete(account);
    },
    forget: () => known.clear(),
    undo: () => known.clear(),
  };
};
export type CatalogueWriter = ReturnType<typeof createCatalogueWriter>;

/** Reads the catalogues of an account. */
export const createCatalogueReader = (db: Connection) => {
  // In the order of the primary key, but for events: only these must be sorted.
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
  /** The merges of an account's entries, as they are now. */
  const merges = (account: number): CatalogueMerges => toCatalogueMerges(selectMerged.all(account));
  return {
    list: (account: number, kind: CatalogueKind): ListedEntry[] =>
      (kind === 'event' ? selectEvents : select)
        .all(account, kind)
        .map((row) => ({ ...row, browser: row.browser === 1, byBrowser: row.byBrowser === 1 })),
    /** The name of an event; undefined when it is not listed. */
    eventName: (account: number, eventID: number): string | undefined =>
      selectName.get(account, 'event', String(eventID))?.name,
    /** The name of an ID: itself when it is not listed, '' when it is ''. */
    name: (account: number, kind: CatalogueKind, id: string): string =>
      id === '' ? '' : (selectName.get(account, kind, id)?.name ?? id),
    merges,
    /** Replaces the ID or name of a query by the IDs that it stands for. */
    withIDs: <Query extends Pick<EventQuery, 'account' | 'eventID' | 'eventName'>>(
      query: Query,
      merged: CatalogueMerges = merges(query.account),
    ): WithIDs<Query> =>
      withIDs(query, merged, query.eventName === undefined ? [] : selectEvents.all(query.account, 'event')),
  };
};
