import {
  type CatalogueSettings,
  checkUses,
  isListedOnUse,
  type Listed,
  type ListedIDs,
  type Listing,
  listUses,
  noListedIDs,
  partEntries,
  roomForEntries,
  type Use,
  usesOfEvent,
} from '../catalogue-rules.ts';
import type { NameOf } from '../contact-telling.ts';
import { type CatalogueEntry, type CatalogueKind, type Catalogues, catalogueKinds, type NewEvent } from '../store.ts';
import type { Connection } from './connection.ts';
import type { Transaction } from './transaction.ts';

interface Row {
  readonly id: string;
  readonly name: string;
  readonly browser: boolean;
  readonly type: string;
}

/** What an account lists, as a transaction sees it. */
interface Known {
  /** Another one when anybody has changed it. */
  readonly version: number;
  readonly ids: ListedIDs;
}

export interface EventChecks {
  /** Throws a Refusal when the account, or a browser token, may not use an ID. */
  check(account: number, browser: boolean, event: NewEvent): void;
  mayBeNew(account: number, browser: boolean, event: NewEvent): boolean;
}

export interface UsedIDs {
  readonly browser: boolean;
  readonly uses: readonly Use[];
}

/** Accounts that are remembered; beyond this, all are read again as they come. */
const mostAccounts = 500;

const copyOf = ({ listed, ...settings }: ListedIDs): ListedIDs => ({
  ...settings,
  listed: {
    profile: new Map(listed.profile),
    tag: new Map(listed.tag),
    attr: new Map(listed.attr),
    event: new Map(listed.event),
  },
});

interface Version extends CatalogueSettings {
  readonly account: number;
  readonly version: number;
}

const versionsOf = (db: Connection, accounts: readonly number[], lock = '') =>
  db.all<Version>(
    `SELECT account, catalogues AS version, strict, "browserCatalogue" FROM account
     WHERE account = ANY ($1::integer[]) ORDER BY account ${lock}`,
    [accounts],
  );

const readIDs = async (db: Connection, account: number, settings: CatalogueSettings): Promise<ListedIDs> => {
  const rows = await db.all<Row & { kind: CatalogueKind; byBrowser: boolean }>(
    'SELECT kind, id, browser, "byBrowser" FROM catalogue WHERE account = $1 ORDER BY nth',
    [account],
  );
  const ids = noListedIDs(settings);
  for (const { kind, id, browser, byBrowser } of rows) ids.listed[kind].set(id, { forBrowsers: browser, byBrowser });
  return ids;
};

const write = (db: Connection, account: number, kind: CatalogueKind, entry: CatalogueEntry, byBrowser: boolean) =>
  db.run(
    `INSERT INTO catalogue (account, kind, id, name, browser, "byBrowser", type)
     VALUES ($1, $2, $3, coalesce($4, $3), coalesce($5, true), $6, coalesce($7, CASE $2 WHEN 'attr' THEN 'text' ELSE '' END))
     ON CONFLICT (account, kind, id) DO UPDATE SET name = coalesce($4, catalogue.name),
       browser = coalesce($5, catalogue.browser), "byBrowser" = catalogue."byBrowser" AND $6, type = coalesce($7, catalogue.type)`,
    [account, kind, entry.id, entry.name ?? null, entry.browser ?? null, byBrowser, entry.type ?? null],
  );

const change = (db: Connection, account: number, listings: readonly Listing[]) =>
  listings.map((listing) => {
    const { kind, id } = listing;
    if (listing.do === 'list') return write(db, account, kind, { id, browser: listing.forBrowsers }, listing.byBrowser);
    return db.run('DELETE FROM catalogue WHERE account = $1 AND kind = $2 AND id = $3', [account, kind, id]);
  });

/** To be called with each change of what an account lists, and of `strict`: other servers read it anew. */
const nextVersion = (db: Connection, account: number) =>
  db.run('UPDATE account SET catalogues = catalogues + 1 WHERE account = $1', [account]);

/** Whether all that an event uses is listed, for whoever sends it, or not to be listed, and stays as it is. */
const usesKnownOnly = (ids: ListedIDs, browser: boolean, { eventID, attributes }: NewEvent): boolean => {
  const { listed, strict } = ids;
  const isGood = (entry: Listed | undefined, isLeftUnlisted: boolean) =>
    entry === undefined ? isLeftUnlisted : browser ? entry.forBrowsers : !entry.byBrowser;
  const mayBeUnlisted = !strict && !isListedOnUse(ids, browser, 'attr');
  return (
    isGood(listed.event.get(String(eventID)), false) &&
    attributes.every(([id]) => isGood(listed.attr.get(id), mayBeUnlisted))
  );
};

export const createCatalogueWriter = () => {
  const remembered = new Map<number, Known>();

  const remember = (account: number, known: Known) => {
    if (remembered.size >= mostAccounts) remembered.clear();
    remembered.set(account, known);
  };

  /** Answers what each of these accounts lists now, read anew where anybody has changed it. */
  const knownOf = async (db: Transaction, accounts: readonly number[]): Promise<(account: number) => Known> => {
    const versions = await versionsOf(db, accounts);
    const now = new Map(
      await Promise.all(
        versions.map(async ({ account, version, ...settings }): Promise<[number, Known]> => {
          const known = remembered.get(account);
          if (known?.version === version) return [account, known];
          const fresh = { version, ids: await readIDs(db, account, settings) };
          // It may be this transaction's own change that is seen.
          db.whenCommitted(() => remember(account, fresh));
          return [account, fresh];
        }),
      ),
    );
    return (account) => now.get(account) as Known;
  };

  /** What an account lists, and nobody else changes until this transaction ends. */
  const held = async (db: Transaction, account: number): Promise<Known> => {
    const [{ version, ...settings }] = (await versionsOf(db, [account], 'FOR NO KEY UPDATE')) as [Version];
    const known = remembered.get(account);
    const ids = known?.version === version ? copyOf(known.ids) : await readIDs(db, account, settings);
    return { version, ids };
  };

  /** Lists IDs that are not listed yet, while there is room. */
  const register = async (db: Transaction, account: number, used: readonly UsedIDs[]): Promise<void> => {
    const listingsOf = (ids: ListedIDs) => used.flatMap(({ browser, uses }) => listUses(ids, browser, uses));
    const known = (await knownOf(db, [account]))(account);
    const isListed = ({ browser, uses }: UsedIDs) =>
      uses.every(({ kind, id }) => {
        const entry = known.ids.listed[kind].get(id);
        return entry ? browser || !entry.byBrowser : !isListedOnUse(known.ids, browser, kind);
      });
    if (used.every(isListed) || listingsOf(copyOf(known.ids)).length === 0) return;
    const { version, ids } = await held(db, account);
    const listings = listingsOf(ids);
    if (listings.length === 0) return;
    await Promise.all([...change(db, account, listings), nextVersion(db, account)]);
    db.whenCommitted(() => remember(account, { version: version + 1, ids }));
  };

  return {
    /** Answers a check of what is used: it throws a Refusal when the account, or a browser token, may not use an ID. */
    async checks(db: Transaction, accounts: readonly number[]) {
      const knownNow = await knownOf(db, accounts);
      return (account: number, { browser, uses }: UsedIDs): void => checkUses(knownNow(account).ids, browser, uses);
    },

    /** As `checks`, of the IDs that events use; and which events use any that may have to be registered. */
    async checksOfEvents(db: Transaction, accounts: readonly number[]): Promise<EventChecks> {
      const knownNow = await knownOf(db, accounts);
      return {
        check(account, browser, event) {
          const { ids } = knownNow(account);
          if (!usesKnownOnly(ids, browser, event)) checkUses(ids, browser, usesOfEvent(event));
        },
        mayBeNew: (account, browser, event) => !usesKnownOnly(knownNow(account).ids, browser, event),
      };
    },

    register,

    /** Adds, changes or removes entries. What only browser tokens have used makes room for them. */
    async put(db: Transaction, account: number, catalogues: Catalogues): Promise<void> {
      const { ids } = await held(db, account);
      const { removed, named } = partEntries(ids, catalogues);
      await Promise.all([
        ...change(db, account, [...removed, ...roomForEntries(ids, named)]),
        ...catalogueKinds.flatMap((kind) => (named[kind] ?? []).map((entry) => write(db, account, kind, entry, false))),
        nextVersion(db, account),
      ]);
    },
  };
};
export type CatalogueWriter = ReturnType<typeof createCatalogueWriter>;

export const listCatalogue = (db: Connection, account: number, kind: CatalogueKind): Promise<Row[]> =>
  db.all<Row>(
    `SELECT id, name, browser, type FROM catalogue WHERE account = $1 AND kind = $2
     ORDER BY CASE kind WHEN 'event' THEN id::integer END, id`,
    [account, kind],
  );

/** Answers what the IDs of profiles and tags are called. */
export const readNames = async (db: Connection, account: number): Promise<NameOf> => {
  const rows = await db.all<Row & { kind: 'profile' | 'tag' }>(
    "SELECT kind, id, name FROM catalogue WHERE account = $1 AND kind IN ('profile', 'tag')",
    [account],
  );
  const names = new Map(rows.map(({ kind, id, name }) => [`${kind} ${id}`, name]));
  return (kind, id) => names.get(`${kind} ${id}`) ?? id;
};
