import { limits } from '@firsthand/contract/limits';
import { Refusal } from '../../refusal.ts';
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
  register(account: number, uses: readonly Use[]): void;
  /** Adds or changes entries. */
  put(account: number, catalogues: Catalogues): void;
}

/** What is known of an account without asking: whether it is strict, and which IDs it lists. */
interface Known {
  readonly strict: boolean;
  readonly listed: Record<CatalogueKind, Map<string, boolean>>;
}

export const createCatalogueWriter = (db: Connection): CatalogueWriter => {
  const strictOf = db.prepare<[number], { strict: number }>('SELECT strict FROM account WHERE account = ?');
  const select = db.prepare<[number], Row & { kind: CatalogueKind }>(
    'SELECT kind, id, name, browser, type FROM catalogue WHERE account = ?',
  );
  const upsert = db.prepare(`
    INSERT INTO catalogue (account, kind, id, name, browser, type)
    VALUES (@account, @kind, @id, coalesce(@name, @id), coalesce(@browser, 1), coalesce(@type, @usualType))
    ON CONFLICT (account, kind, id) DO UPDATE
    SET name = coalesce(@name, name), browser = coalesce(@browser, browser), type = coalesce(@type, type)`);
  const known = new Map<number, Known>();

  const knownOf = (account: number): Known => {
    const remembered = known.get(account);
    if (remembered) return remembered;
    const listed = { profile: new Map(), tag: new Map(), attr: new Map(), event: new Map() } as Known['listed'];
    for (const { kind, id, browser } of select.iterate(account)) listed[kind].set(id, browser === 1);
    const fresh = { strict: strictOf.get(account)?.strict === 1, listed };
    known.set(account, fresh);
    return fresh;
  };

  const write = (account: number, kind: CatalogueKind, entry: CatalogueEntry) =>
    upsert.run({
      account,
      kind,
      id: entry.id,
      name: entry.name ?? null,
      browser: entry.browser === undefined ? null : Number(entry.browser),
      type: entry.type ?? null,
      usualType: kind === 'attr' ? 'text' : '',
    });

  return {
    check(account, browser, uses) {
      const { strict, listed } = knownOf(account);
      for (const { kind, id, field } of uses) {
        const forBrowser = listed[kind].get(id);
        if (forBrowser === undefined && strict) {
          throw new Refusal('unknown_id', {
            field,
            message: `${field} names ${kind} ${id}, which this strict account does not list`,
          });
        }
        if (forBrowser === false && browser) {
          throw new Refusal('id_not_for_browser', {
            field,
            message: `${field} names ${kind} ${id}, which a browser token may not use`,
          });
        }
      }
    },
    register(account, uses) {
      const { strict, listed } = knownOf(account);
      if (strict) return;
      for (const { kind, id } of uses) {
        if (listed[kind].has(id) || listed[kind].size >= limits.idsPerCatalogue) continue;
        write(account, kind, { id });
        listed[kind].set(id, true);
      }
    },
    put(account, catalogues) {
      known.delete(account);
      const { listed } = knownOf(account);
      for (const kind of catalogueKinds) {
        const entries = catalogues[kind] ?? [];
        const added = new Set(entries.map(({ id }) => id).filter((id) => !listed[kind].has(id)));
        if (added.size > 0 && listed[kind].size + added.size > limits.idsPerCatalogue) {
          throw new Refusal('invalid_field', {
            field: kind,
            message: `${kind} would list more than ${limits.idsPerCatalogue} IDs`,
          });
        }
        for (const entry of entries) write(account, kind, entry);
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
