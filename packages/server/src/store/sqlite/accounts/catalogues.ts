import { BoundedMap } from '../../../shared/bounded-map.ts';
import { setMergedEntry, writeCatalogues } from '../../operations/catalogues.ts';
import {
  type AccountCatalogues,
  checkUses,
  isSettled,
  registerUses,
  splitEntries,
  toAccountCatalogues,
  toStoredKind,
  type Use,
  usesOfEvent,
} from '../../rules/accounts/catalogue-rules.ts';
import { checkEntryMerge, checkEntryUnmerge, type MergeRow } from '../../rules/accounts/entry-merges.ts';
import type { NameOf } from '../../rules/contact-presenter.ts';
import type { Catalogues, EntryMerge, NewEvent } from '../../store.ts';
import type { Connection } from '../database/connection.ts';
import type { Rollups } from '../events/rollups.ts';
import { createOperationRunner } from '../transactions/operations.ts';

/** The maximum number of cached accounts. */
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
  const runOperation = createOperationRunner(db);
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

  return {
    /** Returns the event's uses that must be checked and registered; none if that would change nothing. */
    usesOf: (account: number, browser: boolean, event: NewEvent): readonly Use[] =>
      isSettled(getListedIDs(account), browser, event) ? [] : usesOfEvent(event),
    /** Throws a Refusal if the token is not allowed to use one of the IDs. */
    check: (account: number, browser: boolean, uses: readonly Use[]): void =>
      checkUses(getListedIDs(account), browser, uses),
    /** Adds the IDs that are not listed yet, as long as there is room. */
    register(account: number, browser: boolean, uses: readonly Use[]): void {
      const ids = getListedIDs(account);
      const { nextEventID } = ids;
      runOperation(writeCatalogues(account, registerUses(ids, browser, uses)));
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
      runOperation(writeCatalogues(account, dropped, written));
      cache.delete(account);
    },
    mergeEntry(merge: EntryMerge): void {
      if (checkEntryMerge(getListedIDs(merge.account), merge)) return;
      runOperation(setMergedEntry(merge, merge.id));
      cache.delete(merge.account);
    },
    unmergeEntry(merge: Omit<EntryMerge, 'id'>): void {
      checkEntryUnmerge(getListedIDs(merge.account), merge);
      runOperation(setMergedEntry(merge, null));
      cache.delete(merge.account);
    },
    forget: () => cache.clear(),
    undo: () => cache.clear(),
  };
};
export type CatalogueWriter = ReturnType<typeof createCatalogueWriter>;

/** Returns a function that looks up the names of an account's profiles and tags one by one, because few are used. */
export const createNameReader = (db: Connection): ((account: number) => NameOf) => {
  const select = db
    .prepare<[number, string, string], string>('SELECT name FROM catalogue WHERE account = ? AND kind = ? AND id = ?')
    .pluck();
  return (account) => (kind, id) => (id === '' ? '' : (select.get(account, kind, id) ?? id));
};
