/** Creates, finds and lists imports, and lists their changes to contacts. */
import type { ImportState } from '@firsthand/contract/import';
import { limits } from '@firsthand/contract/limits';
import type { KeyField } from '../../identity/contact-view.ts';
import { Refusal } from '../../shared/refusal.ts';
import { listChanges } from '../rules/import-changes.ts';
import type { ContactImport, Import, RequestOf } from '../store.ts';
import { all, createQuery, db, first, lockAccount, type Operation, run } from './operation.ts';

const columns = [
  ...(['importID', 'kind', 'importName', 'fingerprint', 'position', 'isComplete', 'isUndoing'] as const),
  ...(['imported', 'repeated', 'refused', 'kept', 'createdTime', 'undoneTime'] as const),
] as const;

type ImportRow = Omit<Import, 'state'> & {
  readonly isComplete: boolean | 0 | 1;
  readonly isUndoing: boolean | 0 | 1;
};

const stateOf = ({ undoneTime, isUndoing, isComplete }: ImportRow): ImportState => {
  if (undoneTime !== null) return isUndoing ? 'undoing' : 'undone';
  return isComplete ? 'complete' : 'running';
};

const toImport = (row: ImportRow): Import => {
  const { isComplete: _, isUndoing: __, ...rest } = row;
  return { ...rest, state: stateOf(row) };
};

const selectImports = (account: number) => db.selectFrom('import').select(columns).where('account', '=', account);

/** Returns an import. Throws Refusal('unknown_import') if the account has no import with this ID. */
export function* findImport({ account, importID }: { account: number; importID: string }): Operation<Import> {
  const row = yield* first(selectImports(account).where('importID', '=', importID));
  if (!row) throw new Refusal('unknown_import', { field: 'importID' });
  return toImport(row);
}

export function* createImport(request: RequestOf<'createImport'>): Operation<Import> {
  const { account, importID, kind, importName, fingerprint, time } = request;
  yield* lockAccount(account);
  const rows = yield* all(selectImports(account).where('fingerprint', '=', fingerprint).where('kind', '=', kind));
  const existing = rows.map(toImport).find(({ state }) => state !== 'undone');
  if (existing?.state === 'undoing') {
    const message = 'the import of this file is being undone: try again when the undo is complete';
    throw new Refusal('unavailable', { message, retryAfterSeconds: 5 });
  }
  if (existing) return existing;
  const [count] = yield* all(
    db
      .selectFrom('import')
      .select((eb) => eb.fn.countAll<number>().as('imports'))
      .where('account', '=', account)
      .where('undoneTime', 'is', null),
  );
  if (Number(count?.imports) >= limits.importsPerAccount) {
    const message = `the account already has ${limits.importsPerAccount} imports: combine files before you import them`;
    throw new Refusal('invalid_field', { field: 'fingerprint', message });
  }
  yield* run(
    db.insertInto('import').values({
      ...{ importID, account, kind, importName, fingerprint, position: 0, isComplete: false, isUndoing: false },
      ...{ imported: 0, repeated: 0, refused: 0, kept: 0, createdTime: time, undoneTime: null, erasure: null },
    }),
  );
  return yield* findImport({ account, importID });
}

export function* listImports({ account, limit, kind, beyond }: RequestOf<'listImports'>): Operation<Import[]> {
  const skip = beyond?.skip ?? 0;
  let query = selectImports(account)
    .orderBy('createdTime', 'desc')
    .orderBy('importID')
    .limit(limit + skip);
  if (kind !== undefined) query = query.where('kind', '=', kind);
  if (beyond !== undefined) query = query.where('createdTime', '<=', beyond.createdTime);
  return (yield* all(query)).slice(skip).map(toImport);
}

/** A contact that an import has written to. */
export interface ImportedContact {
  readonly contact: number;
  readonly isCreated: boolean | 0 | 1;
  readonly updatedTime: number;
  /** ImportChanges as JSON. */
  readonly changes: string;
}

const selectWritten = createQuery<ImportedContact>(
  () => `SELECT contact, "isCreated", "updatedTime", changes FROM import_contact
    WHERE account = $1 AND "importID" = $2 AND contact = $3`,
);
/** Returns what an import recorded about a contact. */
export function* findWrittenContact(
  { account, importID }: Pick<Import, 'importID'> & { readonly account: number },
  contact: number,
): Operation<ImportedContact | undefined> {
  return yield* first(selectWritten(account, importID, contact));
}

const selectImportsOf = createQuery<Omit<ContactImport, 'changes'> & ImportedContact>(
  ({ among }) => `
  SELECT i."importID", i."importName", i."createdTime", c."isCreated", c.changes
  FROM import_contact c JOIN import i ON i.account = c.account AND i."importID" = c."importID"
  WHERE c.account = $1 AND c.contact ${among('$2', 'bigint')}
  ORDER BY i."createdTime" DESC, i."importID" LIMIT ${limits.importsPerPage}`,
);

/** Returns what the latest imports wrote to one person's contacts, newest first. */
export function* listImportsOf(account: number, contacts: readonly number[]): Operation<ContactImport[]> {
  const rows = yield* all(selectImportsOf(account, contacts));
  return rows.map(({ importID, importName, createdTime, isCreated, changes }) => ({
    ...{ importID, importName, createdTime, isCreated: Boolean(isCreated) },
    changes: listChanges(JSON.parse(changes)),
  }));
}

/**
 * SQL that removes changes to each key, by the key's value before (0) or after (1) the import. Indexes use the same
 * expressions.
 */
const deleteKeyChanges = ['contactExternalID', 'contactEmailaddress'].flatMap((field) =>
  [0, 1].map((nth) =>
    createQuery<never>(({ name, among }) => {
      const [value, others] =
        name === 'postgres'
          ? [`(changes::json -> '${field}' ->> ${nth})`, `(changes::jsonb - '${field}')::text`]
          : [`changes ->> '$.${field}[${nth}]'`, `json_remove(changes, '$.${field}')`];
      return `UPDATE import_contact SET changes = ${others} WHERE account = $1 AND ${value} ${among('$2', 'text')}`;
    }),
  ),
);

/** Removes erased keys from what imports recorded about contacts, including other contacts that once had these keys. */
export function* forgetKeys(
  account: number,
  rows: readonly Readonly<Record<KeyField, string | null>>[],
): Operation<void> {
  const keys = rows.flatMap((row) => [row.contactExternalID, row.contactEmailaddress]).filter(Boolean);
  for (const query of deleteKeyChanges) yield* run(query(account, keys));
}
