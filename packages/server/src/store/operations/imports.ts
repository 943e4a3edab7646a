/** Operations on imports. Each driver writes the imported events and contacts itself. */
import type { ImportState } from '@firsthand/contract/import';
import { limits } from '@firsthand/contract/limits';
import type { KeyField } from '../../identity/contact-view.ts';
import { Refusal } from '../../shared/refusal.ts';
import type { NewKeys } from '../rules/contact-keys.ts';
import { addChanges, type ImportChanges, listChanges, type RecordedValues } from '../rules/import-changes.ts';
import type { ContactImport, Import, ImportBatch, ImportOutcome, NewContact, NewEvent, RequestOf } from '../store.ts';
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

/** Returns an import to undo. Throws Refusal('token_kind') if it is not of the kind that the caller may undo. */
export function* findImportToUndo({ kind, ...name }: RequestOf<'undoImport'>): Operation<Import> {
  const found = yield* findImport(name);
  if (kind === undefined || found.kind === kind) return found;
  const message = `\`importID\` is an import of ${found.kind}, which only a server token or an owner can undo`;
  throw new Refusal('token_kind', { field: 'importID', message });
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

export function* listImports({ account, limit, kind }: RequestOf<'listImports'>): Operation<Import[]> {
  let query = selectImports(account).orderBy('createdTime', 'desc').orderBy('importID').limit(limit);
  if (kind !== undefined) query = query.where('kind', '=', kind);
  return (yield* all(query)).map(toImport);
}

/**
 * Returns the import of a batch. Returns undefined if the import is at another position: then the batch must not be
 * stored. The caller holds the account's lock.
 */
export function* findImportAt({
  account,
  importID,
  kind,
  position,
  records,
  isLast,
}: ImportBatch): Operation<Import | undefined> {
  const found = yield* findImport({ account, importID });
  if (found.undoneTime !== null) throw new Refusal('import_undone', { field: 'importID' });
  if (found.kind !== kind) {
    const message = `\`importID\` is an import of ${found.kind}, not of ${kind}`;
    throw new Refusal('invalid_field', { field: 'importID', message });
  }
  const isEmptyRepeat = found.state === 'complete' && isLast && records === 0;
  if (found.position !== position || isEmptyRepeat) return undefined;
  if (found.state === 'complete')
    throw new Refusal('invalid_field', { field: 'position', message: 'the import is complete: `isLast` was sent' });
  return found;
}

/** Returns an imported event with the contactUUID of its contact. `found` is the contact, if it existed before. */
export const withContact = (
  event: NewEvent,
  contact: NewContact | undefined,
  found: { readonly contactUUID: string } | undefined,
): NewEvent =>
  // The store finds a contact with an external ID itself.
  contact === undefined || contact.externalID !== undefined
    ? event
    : { ...event, contactUUID: found?.contactUUID ?? contact.newContactUUID };

/** Records what a batch has stored. `stretch` contains the sequences of the batch: after < sequence <= through. */
export function* advanceImport(
  { account, importID, records, steps, isLast }: ImportBatch,
  outcomes: readonly ImportOutcome[],
  { after, through }: { readonly after: number; readonly through: number },
): Operation<Import> {
  const imported = outcomes.filter(({ kept }) => kept).length;
  const repeated = outcomes.filter((outcome) => 'duplicate' in outcome).length;
  const refused = outcomes.length - imported - repeated + records - steps.length;
  yield* run(
    db
      .updateTable('import')
      .set((eb) => ({
        position: eb('position', '+', records),
        imported: eb('imported', '+', imported),
        repeated: eb('repeated', '+', repeated),
        refused: eb('refused', '+', refused),
        ...(isLast && { isComplete: true }),
      }))
      .where('account', '=', account)
      .where('importID', '=', importID),
  );
  if (through > after) {
    const ofImport = db.updateTable('import_stretch').where('account', '=', account).where('importID', '=', importID);
    const isJoined = (yield* run(ofImport.set({ through }).where('through', '=', after))) > 0;
    if (!isJoined) yield* run(db.insertInto('import_stretch').values({ account, importID, after, through }));
  }
  return yield* findImport({ account, importID });
}

/** A contact, before and after a write. */
interface WrittenContact {
  readonly contact: number;
  /** Null if the import has created the contact. */
  readonly before: { readonly values: RecordedValues; readonly updatedTime: number } | null;
  readonly after: { readonly values: RecordedValues; readonly updatedTime: number };
}

/** A contact that an import has written. */
export interface ImportedContact {
  readonly contact: number;
  readonly isCreated: boolean | 0 | 1;
  readonly updatedTime: number;
  /** JSON of ImportChanges. */
  readonly changes: string;
}

const changedByOthers = -1;

const selectWritten = createQuery<ImportedContact>(
  () => `SELECT contact, "isCreated", "updatedTime", changes FROM import_contact
    WHERE account = $1 AND "importID" = $2 AND contact = $3`,
);
const upsertWritten = createQuery<never>(
  ({ name }) => `
  INSERT INTO import_contact (account, "importID", contact, "isCreated", "updatedTime", changes)
  VALUES ($1, $2, $3, $4, $5, $6)
  ON CONFLICT (${name === 'postgres' ? 'account, ' : ''}"importID", contact)
  DO UPDATE SET "updatedTime" = excluded."updatedTime", changes = excluded.changes`,
);
const selectImported = createQuery<unknown>(
  () => 'SELECT 1 FROM import_contact WHERE account = $1 AND contact = $2 AND "updatedTime" = $3 LIMIT 1',
);

/** Records that an import has written a contact. */
export function* recordContact(
  { account, importID }: Pick<ImportBatch, 'account' | 'importID'>,
  { contact, before, after }: WrittenContact,
): Operation<void> {
  const row = yield* first(selectWritten(account, importID, contact));
  const isCreated = row ? Boolean(row.isCreated) : before === null;
  const isChangedByOthers = row !== undefined && row.updatedTime !== before?.updatedTime;
  const changes =
    before === null || isCreated
      ? {}
      : addChanges(row ? (JSON.parse(row.changes) as ImportChanges) : {}, before.values, after.values);
  const updatedTime = isChangedByOthers ? changedByOthers : after.updatedTime;
  yield* run(upsertWritten(account, importID, contact, isCreated, updatedTime, JSON.stringify(changes)));
}

const selectImportsOf = createQuery<Omit<ContactImport, 'changes'> & ImportedContact>(
  ({ among }) => `
  SELECT i."importID", i."importName", i."createdTime", c."isCreated", c.changes
  FROM import_contact c JOIN import i ON i.account = c.account AND i."importID" = c."importID"
  WHERE c.account = $1 AND c.contact ${among('$2', 'bigint')}
  ORDER BY i."createdTime" DESC, i."importID" LIMIT ${limits.importsPerPage}`,
);

/** Returns what the last imports have written to contacts of one person, newest first. */
export function* listImportsOf(account: number, contacts: readonly number[]): Operation<ContactImport[]> {
  const rows = yield* all(selectImportsOf(account, contacts));
  return rows.map(({ importID, importName, createdTime, isCreated, changes }) => ({
    ...{ importID, importName, createdTime, isCreated: Boolean(isCreated) },
    changes: listChanges(JSON.parse(changes)),
  }));
}

/** Whether an import made the last write to a contact. */
export function* isImported(account: number, contact: number, updatedTime: number): Operation<boolean> {
  const rows = yield* all(selectImported(account, contact, updatedTime));
  return rows.length > 0;
}

const selectByExternalID = createQuery<{ contact: number }>(
  ({ name }) => `SELECT contact FROM ${name === 'postgres' ? 'contact_external_id' : 'contact'}
    WHERE account = $1 AND "contactExternalID" = $2 AND "contactExternalID" > ''`,
);
const selectByAddress = createQuery<{ contact: number }>(
  ({ name }) => `SELECT contact FROM ${name === 'postgres' ? 'contact_address' : 'contact'}
    WHERE account = $1 AND "contactEmailaddress" = $2`,
);

/** Omits the keys that another contact has, because an undo takes no keys from contacts and merges no contacts. */
export function* omitTakenKeys(
  { account, contact }: { readonly account: number; readonly contact: number },
  { externalID, address }: NewKeys,
): Operation<NewKeys> {
  const [byID] = typeof externalID === 'string' ? yield* all(selectByExternalID(account, externalID)) : [];
  const [byAddress] = address === undefined ? [] : yield* all(selectByAddress(account, address));
  return {
    ...((byID?.contact ?? contact) === contact && { externalID }),
    ...((byAddress?.contact ?? contact) === contact && { address }),
  };
}

/**
 * SQL for the changes of each key, by the key's value before (0) and after (1) the import. Indexes use the same
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

/** Deletes what imports recorded about erased keys that other contacts had before. */
export function* forgetKeys(
  account: number,
  rows: readonly Readonly<Record<KeyField, string | null>>[],
): Operation<void> {
  const keys = rows.flatMap((row) => [row.contactExternalID, row.contactEmailaddress]).filter(Boolean);
  for (const query of deleteKeyChanges) yield* run(query(account, keys));
}

/** Begins to undo an import, using an erasure that the caller has created. The undo must not have begun before. */
export function* beginUndo({ account, importID, time }: RequestOf<'undoImport'>, erasure: number): Operation<Import> {
  yield* run(
    db
      .updateTable('import')
      .set({ erasure, isUndoing: true, undoneTime: time })
      .where('account', '=', account)
      .where('importID', '=', importID),
  );
  return yield* findImport({ account, importID });
}

/** An import whose undo is not complete. */
export interface Undoing {
  readonly account: number;
  readonly importID: string;
  readonly erasure: number;
}

export interface ImportStretch {
  readonly after: number;
  readonly through: number;
}

/** Returns an import that is being undone, of any account or only of `account`. */
export function* findUndoing(account?: number): Operation<Undoing | undefined> {
  const [undoing] = yield* all<Undoing>({
    sqlite: 'SELECT account, importID, erasure FROM import WHERE isUndoing = 1 LIMIT 1',
    postgres: 'SELECT account, "importID", erasure FROM import WHERE account = $1 AND "isUndoing" LIMIT 1',
    values: account === undefined ? [] : [account],
  });
  return undoing;
}

/** Returns a stretch whose events and links are not all deleted yet. */
export function* findStretch({ account, importID }: Undoing): Operation<ImportStretch | undefined> {
  return yield* first(
    db
      .selectFrom('import_stretch')
      .select(['after', 'through'])
      .where('account', '=', account)
      .where('importID', '=', importID)
      .orderBy('after', 'desc')
      .limit(1),
  );
}

export function* dropImportStretch({ account, importID }: Undoing, { after }: ImportStretch): Operation<void> {
  yield* run(
    db
      .deleteFrom('import_stretch')
      .where('account', '=', account)
      .where('importID', '=', importID)
      .where('after', '=', after),
  );
}

/** Returns the next contacts that an import has written and that the undo has not restored yet. */
export function* findWritten({ account, importID }: Undoing, most: number): Operation<ImportedContact[]> {
  return yield* all(
    db
      .selectFrom('import_contact')
      .select(['contact', 'isCreated', 'updatedTime', 'changes'])
      .where('account', '=', account)
      .where('importID', '=', importID)
      .orderBy('contact')
      .limit(most),
  );
}

/**
 * Removes restored contacts from the import's record. `kept` is the number of these contacts that were created by the
 * import, but stay.
 */
export function* dropWritten({ account, importID }: Undoing, last: number, kept: number): Operation<void> {
  yield* run(
    db
      .deleteFrom('import_contact')
      .where('account', '=', account)
      .where('importID', '=', importID)
      .where('contact', '<=', last),
  );
  if (kept === 0) return;
  yield* run(
    db
      .updateTable('import')
      .set((eb) => ({ kept: eb('kept', '+', kept) }))
      .where('account', '=', account)
      .where('importID', '=', importID),
  );
}

export function* endUndo({ account, importID }: Undoing): Operation<void> {
  yield* run(
    db.updateTable('import').set({ isUndoing: false }).where('account', '=', account).where('importID', '=', importID),
  );
}
