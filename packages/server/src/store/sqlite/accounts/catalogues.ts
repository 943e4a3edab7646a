import {
  checkUses,
  isSettled,
  type ListedIDs,
  type Listing,
  listUses,
  noListedIDs,
  partEntries,
  roomForEntries,
  type Use,
  usesOfEvent,
} from '../../rules/catalogue-rules.ts';
import {
  type CatalogueEntry,
  type CatalogueKind,
  type Catalogues,
  catalogueKinds,
  type NewEvent,
} from '../../store.ts';
import type { Connection } from '../database/connection.ts';
import type { Pending } from '../transactions/transaction.ts';

interface Row {
  readonly id: string;
  readonly name: string;
  readonly browser: number;
  readonly type: string;
}

export interface CatalogueWriter extends Pending {
  /** The uses of an event that must be checked and registered; none when that would change nothing. */
  usesOf(account: number, browser: boolean, event: Pick<NewEvent, 'eventID' | 'attributes'>): readonly Use[];
  /** Throws a Refusal when the account, or a browser token, may not use an ID. Changes nothing. */
  check(account: number, browser: boolean, uses: readonly Use[]): void;
  /** Lists IDs that are not listed yet, while there is room. */
  register(account: number, browser: boolean, uses: readonly Use[]): void;
  /** Adds, changes or removes entries. IDs that only browser tokens have used are dropped when there is no room. */
  put(account: number, catalogues: Catalogues): void;
}

/** The most accounts in the cache; beyond this, it is cleared. */
const mostAccounts = 500;

export const createCatalogueWriter = (db: Connection): CatalogueWriter => {
  const settings = db.prepare<[number], { strict: number; browserCatalogue: number }>(
    'SELECT strict, browserCatalogue FROM account WHERE account = ?',
  );
  const select = db.prepare<[number], Row & { kind: CatalogueKind; byBrowser: number }>(
    'SELECT kind, id, name, browser, byBrowser, type FROM catalogue WHERE account = ?',
  );
  const upsert = db.prepare(`
    INSERT INTO catalogue (account, kind, id, name, browser, byBrowser, type)
    VALUES (@account, @kind, @id, coalesce(@name, @id), coalesce(@browser, 1), @byBrowser, coalesce(@type, @usualType))
    ON CONFLICT (account, kind, id) DO UPDATE
    SET name = coalesce(@name, name), browser = coalesce(@browser, browser), byBrowser = min(byBrowser, @byBrowser),
        type = coalesce(@type, type)`);
  const drop = db.prepare('DELETE FROM catalogue WHERE account = ? AND kind = ? AND id = ?');
  const known = new Map<number, ListedIDs>();

  const knownOf = (account: number): ListedIDs => {
    const remembered = known.get(account);
    if (remembered) return remembered;
    const { strict, browserCatalogue } = settings.get(account) ?? {};
    const fresh = noListedIDs({ strict: strict === 1, browserCatalogue: browserCatalogue === 1 });
    for (const { kind, id, browser, byBrowser } of select.iterate(account))
      fresh.listed[kind].set(id, { forBrowsers: browser === 1, byBrowser: byBrowser === 1 });
    if (known.size >= mostAccounts) known.clear();
    known.set(account, fresh);
    return fresh;
  };

  const write = (account: number, kind: CatalogueKind, entry: CatalogueEntry, byBrowser: boolean) =>
    upsert.run({
      account,
      kind,
      id: entry.id,
      name: entry.name ?? null,
      browser: entry.browser === undefined ? null : Number(entry.browser),
      byBrowser: Number(byBrowser),
      type: entry.type ?? null,
      usualType: kind === 'attr' ? 'text' : '',
    });

  const change = (account: number, listings: readonly Listing[]) => {
    for (const listing of listings) {
      const { kind, id } = listing;
      if (listing.do === 'drop') drop.run(account, kind, id);
      else write(account, kind, { id, browser: listing.forBrowsers }, listing.byBrowser);
    }
  };

  return {
    usesOf: (account, browser, event) => (isSettled(knownOf(account), browser, event) ? [] : usesOfEvent(event)),
    check: (account, browser, uses) => checkUses(knownOf(account), browser, uses),
    register: (account, browser, uses) => change(account, listUses(knownOf(account), browser, uses)),
    put(account, catalogues) {
      known.delete(account);
      const ids = knownOf(account);
      const { removed, named } = partEntries(ids, catalogues);
      change(account, [...removed, ...roomForEntries(ids, named)]);
      for (const kind of catalogueKinds) {
        for (const entry of named[kind] ?? []) write(account, kind, entry, false);
      }
      known.delete(account);
    },
    forget: () => known.clear(),
    undo: () => known.clear(),
  };
};

/** Reads the catalogues of an account. */
export const createCatalogueReader = (db: Connection) => {
  const select = db.prepare<[number, CatalogueKind], Row>(
    'SELECT id, name, browser, type FROM catalogue WHERE account = ? AND kind = ? ORDER BY id',
  );
  const selectEvents = db.prepare<[number, CatalogueKind], Row>(
    'SELECT id, name, browser, type FROM catalogue WHERE account = ? AND kind = ? ORDER BY CAST(id AS INTEGER)',
  );
  const selectName = db.prepare<[number, CatalogueKind, string], { name: string }>(
    'SELECT name FROM catalogue WHERE account = ? AND kind = ? AND id = ?',
  );
  return {
    list: (account: number, kind: CatalogueKind) =>
      (kind === 'event' ? selectEvents : select)
        .all(account, kind)
        .map(({ id, name, browser, type }) => ({ id, name, browser: browser === 1, type })),
    /** The name of an ID: itself when it is not listed, '' when it is ''. */
    name: (account: number, kind: CatalogueKind, id: string): string =>
      id === '' ? '' : (selectName.get(account, kind, id)?.name ?? id),
  };
};
