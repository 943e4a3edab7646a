import { limits } from '@firsthand/contract/limits';
import { Refusal } from '../../refusal.ts';
import { scrub } from '../../scrub.ts';
import { type CatalogueEntry, type CatalogueKind, type Catalogues, catalogueKinds } from '../store.ts';
import type { Connection } from './connection.ts';
import type { Pending } from './transaction.ts';

interface Row {
  readonly id: string;
  readonly name: string;
  readonly browser: number;
  readonly type: string;
}

/** An ID that a request uses, and the field that it stands in. */
export interface Use {
  readonly kind: CatalogueKind;
  readonly id: string;
  readonly field: string;
}

export interface CatalogueWriter extends Pending {
  /** Throws a Refusal when the account, or a browser token, may not use an ID. Changes nothing. */
  check(account: number, browser: boolean, uses: readonly Use[]): void;
  /** Lists IDs that are not listed yet, while there is room. */
  register(account: number, browser: boolean, uses: readonly Use[]): void;
  /** Adds or changes entries. What only browser tokens have used makes room for them. */
  put(account: number, catalogues: Catalogues): void;
}

/** What is known of an account without asking: whether it is strict, and which IDs it lists. */
interface Known {
  readonly strict: boolean;
  readonly listed: Record<CatalogueKind, Map<string, Listed>>;
}

interface Listed {
  /** May a browser token use it? */
  readonly forBrowsers: boolean;
  /** Listed on a browser token's word only. */
  readonly byBrowser: boolean;
}

/** Accounts that are remembered; beyond this, all are read again as they come. */
const mostAccounts = 500;

export const createCatalogueWriter = (db: Connection): CatalogueWriter => {
  const strictOf = db.prepare<[number], { strict: number }>('SELECT strict FROM account WHERE account = ?');
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
  const known = new Map<number, Known>();

  const knownOf = (account: number): Known => {
    const remembered = known.get(account);
    if (remembered) return remembered;
    const listed = { profile: new Map(), tag: new Map(), attr: new Map(), event: new Map() } as Known['listed'];
    for (const { kind, id, browser, byBrowser } of select.iterate(account))
      listed[kind].set(id, { forBrowsers: browser === 1, byBrowser: byBrowser === 1 });
    const fresh = { strict: strictOf.get(account)?.strict === 1, listed };
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

  /** Makes room for IDs that are not listed, at the cost of the newest that only browsers used; answers whether there is room. */
  const makeRoom = (
    account: number,
    kind: CatalogueKind,
    listed: Map<string, Listed>,
    ids: ReadonlySet<string>,
  ): boolean => {
    const added = [...ids].filter((id) => !listed.has(id)).length;
    const surplus = listed.size + added - limits.idsPerCatalogue;
    if (added === 0 || surplus <= 0) return true;
    const droppable = [...listed].filter(([id, { byBrowser }]) => byBrowser && !ids.has(id)).slice(-surplus);
    if (droppable.length < surplus) return false;
    for (const [id] of droppable) {
      drop.run(account, kind, id);
      listed.delete(id);
    }
    return true;
  };

  return {
    check(account, browser, uses) {
      const { strict, listed } = knownOf(account);
      for (const { kind, id, field } of uses) {
        const entry = listed[kind].get(id);
        if (entry === undefined && strict) {
          throw new Refusal('unknown_id', {
            field,
            message: `${field} names ${kind} ${scrub(id)}, which this strict account does not list`,
          });
        }
        if (entry?.forBrowsers === false && browser) {
          throw new Refusal('id_not_for_browser', {
            field,
            message: `${field} names ${kind} ${scrub(id)}, which a browser token may not use`,
          });
        }
      }
    },
    register(account, browser, uses) {
      const { strict, listed } = knownOf(account);
      if (strict) return;
      for (const { kind, id } of uses) {
        const entry = listed[kind].get(id);
        if (entry && (browser || !entry.byBrowser)) continue;
        const isFull = listed[kind].size >= limits.idsPerCatalogue;
        if (!entry && isFull && (browser || !makeRoom(account, kind, listed[kind], new Set([id])))) continue;
        write(account, kind, { id }, browser);
        listed[kind].set(id, { forBrowsers: entry?.forBrowsers ?? true, byBrowser: browser });
      }
    },
    put(account, catalogues) {
      known.delete(account);
      const { listed } = knownOf(account);
      for (const kind of catalogueKinds) {
        const entries = catalogues[kind] ?? [];
        if (!makeRoom(account, kind, listed[kind], new Set(entries.map(({ id }) => id)))) {
          throw new Refusal('invalid_field', {
            field: kind,
            message: `${kind} would list more than ${limits.idsPerCatalogue} IDs`,
          });
        }
        for (const entry of entries) write(account, kind, entry, false);
      }
      known.delete(account);
    },
    forget: () => known.clear(),
    undo: () => known.clear(),
  };
};

/** Names of what an account lists. */
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
export type CatalogueReader = ReturnType<typeof createCatalogueReader>;
