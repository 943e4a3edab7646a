/** Catalogues: checks, adds and removes an account's IDs, and caches each account's listed IDs. */
import { canonicalName } from '@firsthand/contract/fields';
import { limits } from '@firsthand/contract/limits';
import { BoundedMap } from '../../../shared/bounded-map.ts';
import { setMergedEntry, writeCatalogues } from '../../operations/catalogues.ts';
import {
  type AccountCatalogues,
  checkUses,
  copyCatalogues,
  isRegistered,
  isSettled,
  registerUses,
  splitEntries,
  toAccountCatalogues,
  type Use,
  usesOfEvent,
} from '../../rules/accounts/catalogue-rules.ts';
import { checkEntryMerge, checkEntryUnmerge, type MergeRow } from '../../rules/accounts/entry-merges.ts';
import { unlistedIDsOf } from '../../rules/accounts/unlisted-names.ts';
import type { NameOf } from '../../rules/contact-presenter.ts';
import type { Catalogues, EntryMerge, NewEvent } from '../../store.ts';
import type { Connection } from '../database/connection.ts';
import { runOperation } from '../transactions/operations.ts';
import { type AccountState, stateSQL } from '../transactions/sequencer.ts';
import type { Transaction } from '../transactions/transaction.ts';

/** The IDs in an account's catalogues, as a transaction sees them. */
interface CachedIDs {
  /** Increases with each change. */
  readonly version: number;
  readonly ids: AccountCatalogues;
}

export interface EventChecks {
  /** Throws a Refusal if the account, or a browser token, is not allowed to use an ID. */
  check(account: number, browser: boolean, event: NewEvent): void;
  mayBeNew(account: number, browser: boolean, event: NewEvent): boolean;
  /** Returns the IDs in the account's catalogues, for storing events that need no registration. */
  idsOf(account: number): AccountCatalogues;
}

interface UsedIDs {
  readonly browser: boolean;
  readonly uses: readonly Use[];
}

/** The cache limits: accounts, and the IDs of all accounts together, at about 200 bytes each. */
const maxAccounts = 5_000;
export const maxIDs = 200_000;

const readIDs = async (
  db: Connection,
  { account, strict, browserCatalogue, nextEventID }: AccountState,
): Promise<AccountCatalogues> => {
  const rows = await db.all<MergeRow & { name: string; browser: boolean; byBrowser: boolean }>(
    'SELECT kind, id, name, browser, "byBrowser", "mergedInto" FROM catalogue WHERE account = $1 ORDER BY nth',
    [account],
  );
  // `hasEvents` is not needed here: only `lockCatalogues` assigns IDs to names, and reads which IDs have events.
  return toAccountCatalogues({ strict, browserCatalogue, nextEventID, hasEvents: () => false }, rows);
};

/** The number of eventIDs that one query of `readStoredIDs` reads. */
const maxStoredIDs = 10_000;

/**
 * Returns the eventIDs from `nextEventID` on that have events, and the eventIDs of `names` that have events. Skips
 * dense ranges; the returned nextEventID is then higher.
 */
const readStoredIDs = async (
  db: Connection,
  account: number,
  nextEventID: number,
  names: readonly string[],
): Promise<{ stored: Set<string>; nextEventID: number }> => {
  const [rows, unlisted] = await Promise.all([
    db.all<{ eventID: number }>(
      `SELECT DISTINCT "eventID" FROM event_total WHERE account = $1 AND "eventID" >= $2 ORDER BY 1 LIMIT ${maxStoredIDs}`,
      [account, nextEventID],
    ),
    names.length === 0
      ? []
      : db.all<{ eventID: number }>(
          'SELECT DISTINCT "eventID" FROM event_total WHERE account = $1 AND "eventID" = ANY ($2::integer[])',
          [account, names.flatMap(unlistedIDsOf)],
        ),
  ]);
  const last = rows.at(-1)?.eventID;
  // Pages can send any eventID up to the maximum, so a range is skipped only if it has too few free IDs.
  const isDense = last !== undefined && last - nextEventID < rows.length + limits.idsPerCatalogue;
  if (rows.length < maxStoredIDs || !isDense) {
    return { stored: new Set([...rows, ...unlisted].map(({ eventID }) => String(eventID))), nextEventID };
  }
  return readStoredIDs(db, account, last + 1, names);
};

/** Creates a cache of accounts' listed IDs. The cache is cleared when it would contain too many IDs. */
export const createCatalogueCache = () => {
  const cache = new BoundedMap<number, CachedIDs>(maxAccounts);
  /** An upper bound on the number of cached IDs. */
  let ids = 0;
  return {
    get: (account: number): CachedIDs | undefined => cache.get(account),
    set(account: number, entry: CachedIDs): void {
      const count = Object.values(entry.ids.listed).reduce((sum, { size }) => sum + size, 0);
      if (ids + count > maxIDs) {
        cache.clear();
        ids = 0;
      }
      ids += count;
      cache.set(account, entry);
    },
  };
};

/** Call it on each change to an account's catalogues or their settings. It invalidates other servers' caches. */
const nextVersion = (db: Transaction, account: number, nextEventID: number) =>
  db.run('UPDATE account_position SET catalogues = catalogues + 1, "nextEventID" = $2 WHERE account = $1', [
    account,
    nextEventID,
  ]);

const setMerged = async (
  db: Transaction,
  merge: Omit<EntryMerge, 'id'>,
  { nextEventID }: AccountCatalogues,
  mergedInto: string | null,
): Promise<void> => {
  await runOperation(db, setMergedEntry(merge, mergedInto));
  await nextVersion(db, merge.account, nextEventID);
};

export const createCatalogueWriter = () => {
  const cache = createCatalogueCache();

  /** Returns an account's listed IDs in a given state, from the cache if it is current. */
  const getListedIDs = async (db: Transaction, state: AccountState): Promise<AccountCatalogues> => {
    const { account, version } = state;
    const cached = cache.get(account);
    if (cached?.version === version) return cached.ids;
    const ids = await readIDs(db, state);
    // Cached only after the commit, because the read may include this transaction's own changes.
    db.whenCommitted(() => cache.set(account, { version, ids }));
    return ids;
  };

  /** Returns an account's listed IDs, including this transaction's own changes. */
  const readListedIDs = async (db: Transaction, account: number): Promise<AccountCatalogues> =>
    getListedIDs(db, await db.one<AccountState>(`${stateSQL} WHERE account = $1`, [account]));

  /** Locks the account's catalogues until this transaction ends, and returns the account's listed IDs. */
  const lockCatalogues = async (
    db: Transaction,
    account: number,
    names: readonly string[] = [],
  ): Promise<CachedIDs & { readonly stored: Set<string> }> => {
    const state = await db.one<AccountState>(`${stateSQL} WHERE account = $1 FOR NO KEY UPDATE`, [account]);
    const { version } = state;
    const cached = cache.get(account);
    const [ids, { stored, nextEventID }] = await Promise.all([
      cached?.version === version ? copyCatalogues(cached.ids) : readIDs(db, state),
      readStoredIDs(db, account, state.nextEventID, names),
    ]);
    return { version, ids: { ...ids, nextEventID, hasEvents: (eventID) => stored.has(eventID) }, stored };
  };

  /** Adds used IDs that are not listed yet to the catalogues, while there is room. Returns the account's listed IDs. */
  const register = async (db: Transaction, account: number, used: readonly UsedIDs[]): Promise<AccountCatalogues> => {
    const listingsOf = (ids: AccountCatalogues, stored = new Set<string>()) =>
      used.flatMap(({ browser, uses }) => {
        const listings = registerUses(ids, browser, uses);
        // Stores the event under its ID even if the catalogue has no room for it.
        for (const { kind, id } of uses) if (kind === 'event' && id !== null) stored.add(id);
        return listings;
      });
    const current = await readListedIDs(db, account);
    const isUnchanged = ({ browser, uses }: UsedIDs) => uses.every((use) => isRegistered(current, browser, use));
    if (used.every(isUnchanged) || listingsOf(copyCatalogues(current)).length === 0) return current;
    const names = used.flatMap(({ uses }) => uses.flatMap(({ id, name }) => (id === null && name ? name : [])));
    const { version, ids, stored } = await lockCatalogues(db, account, names);
    const listings = listingsOf(ids, stored);
    if (listings.length === 0) return ids;
    await Promise.all([
      runOperation(db, writeCatalogues(account, listings)),
      nextVersion(db, account, ids.nextEventID),
    ]);
    db.whenCommitted(() => cache.set(account, { version: version + 1, ids }));
    return ids;
  };

  return {
    /** Throws a Refusal if the account, or a browser token, is not allowed to use an ID. */
    async check(db: Transaction, account: number, { browser, uses }: UsedIDs): Promise<void> {
      checkUses(await readListedIDs(db, account), browser, uses);
    },

    /** Like `check`, but for events; `mayBeNew` is true for an event whose IDs may need registration. */
    async checksOfEvents(db: Transaction, accounts: readonly number[]): Promise<EventChecks> {
      const listed = accounts.map(
        async (account) => [account, await getListedIDs(db, db.forAccount(account).initialState)] as const,
      );
      const idsByAccount = new Map(await Promise.all(listed));
      const idsOf = (account: number) => idsByAccount.get(account) as AccountCatalogues;
      const mayBeNew = (account: number, browser: boolean, event: NewEvent) =>
        !isSettled(idsOf(account), browser, event);
      return {
        check(account, browser, event) {
          if (mayBeNew(account, browser, event)) checkUses(idsOf(account), browser, usesOfEvent(event));
        },
        mayBeNew,
        idsOf,
      };
    },

    register,

    /** Adds, changes or removes entries. If there is no room, drops entries that only browser tokens have used. */
    async put(db: Transaction, account: number, catalogues: Catalogues): Promise<void> {
      const names = (catalogues.event ?? []).flatMap(({ id, name }) =>
        id === null && name ? canonicalName(name) : [],
      );
      const { ids } = await lockCatalogues(db, account, names);
      const { dropped, written } = splitEntries(ids, catalogues);
      await Promise.all([
        runOperation(db, writeCatalogues(account, dropped, written)),
        nextVersion(db, account, ids.nextEventID),
      ]);
    },

    async mergeEntry(db: Transaction, merge: EntryMerge): Promise<void> {
      const { ids } = await lockCatalogues(db, merge.account);
      if (!checkEntryMerge(ids, merge)) await setMerged(db, merge, ids, merge.id);
    },

    async unmergeEntry(db: Transaction, merge: Omit<EntryMerge, 'id'>): Promise<void> {
      const { ids } = await lockCatalogues(db, merge.account);
      checkEntryUnmerge(ids, merge);
      await setMerged(db, merge, ids, null);
    },
  };
};
export type CatalogueWriter = ReturnType<typeof createCatalogueWriter>;

/** Returns a function that looks up profile and tag names. */
export const readNames = async (db: Connection, account: number): Promise<NameOf> => {
  const rows = await db.all<{ kind: 'profile' | 'tag'; id: string; name: string }>(
    "SELECT kind, id, name FROM catalogue WHERE account = $1 AND kind IN ('profile', 'tag')",
    [account],
  );
  const names = new Map(rows.map(({ kind, id, name }) => [`${kind} ${id}`, name]));
  return (kind, id) => names.get(`${kind} ${id}`) ?? id;
};
