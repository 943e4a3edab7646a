/**
 * Undoes imports, a limited number of rows per transaction. The drivers delete a stretch's events; this module deletes
 * its links, then deletes or restores the contacts that the import wrote to.
 */
import type { KeyField } from '../../identity/contact-view.ts';
import { distinct } from '../../shared/distinct.ts';
import { Refusal } from '../../shared/refusal.ts';
import type { NewKeys } from '../rules/contact-keys.ts';
import { type ImportChanges, toRecordedValues, toRestoration } from '../rules/import-changes.ts';
import type { Import, RequestOf } from '../store.ts';
import type { ContactStore, LinkStore, WritableContact } from './contact-store.ts';
import { writeContact } from './contact-writes.ts';
import type { Result } from './contacts.ts';
import { findImport, findWrittenContact, type ImportedContact } from './imports.ts';
import { deleteLinks } from './link-deletion.ts';
import { all, call, createQuery, db, first, type Operation, ofAccount, ofContact, run, within } from './operation.ts';

/** Returns an import to undo. Throws Refusal('token_kind') if it is not of the kind that the caller may undo. */
export function* findImportToUndo({ kind, ...name }: RequestOf<'undoImport'>): Operation<Import> {
  const found = yield* findImport(name);
  if (kind === undefined || found.kind === kind) return found;
  const message = `\`importID\` is an import of ${found.kind}, which only a server token or an owner can undo`;
  throw new Refusal('token_kind', { field: 'importID', message });
}

/** Starts to undo an import, using an erasure that the caller has created. The undo must not have started already. */
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
  /** When the undo began. */
  readonly undoneTime: number;
}

interface ImportStretch {
  readonly after: number;
  readonly through: number;
}

/** Returns an import that is being undone, from any account or only from `account`. */
export function* findUndoing(account?: number): Operation<Undoing | undefined> {
  const [undoing] = yield* all<Undoing>({
    sqlite: 'SELECT account, importID, erasure, undoneTime FROM import WHERE isUndoing = 1 LIMIT 1',
    postgres:
      'SELECT account, "importID", erasure, "undoneTime" FROM import WHERE account = $1 AND "isUndoing" LIMIT 1',
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

function* dropImportStretch({ account, importID }: Undoing, { after }: ImportStretch): Operation<void> {
  yield* run(
    db
      .deleteFrom('import_stretch')
      .where('account', '=', account)
      .where('importID', '=', importID)
      .where('after', '=', after),
  );
}

type WrittenContact = Omit<ImportedContact, 'changes'>;

/** Returns the next contacts that an import wrote to and that the undo has not restored yet. */
function* findWritten({ account, importID }: Undoing, limit: number): Operation<WrittenContact[]> {
  return yield* all(
    db
      .selectFrom('import_contact')
      .select(['contact', 'isCreated', 'updatedTime'])
      .where('account', '=', account)
      .where('importID', '=', importID)
      .orderBy('contact')
      .limit(limit),
  );
}

/**
 * Removes restored contacts from the import's record. `kept` counts the contacts that the import created but that stay.
 */
function* dropWritten({ account, importID }: Undoing, last: number, kept: number): Operation<void> {
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

function* endUndo({ account, importID }: Undoing): Operation<void> {
  yield* run(
    db.updateTable('import').set({ isUndoing: false }).where('account', '=', account).where('importID', '=', importID),
  );
}

const selectLinks = createQuery<{ sequence: number; user: number }>(({ name }) =>
  name === 'sqlite'
    ? `SELECT s.sequence, s.user FROM statement s JOIN user u ON u.user = s.user
       WHERE s.sequence > $2 AND s.sequence <= $3 AND u.account = $1 LIMIT $4`
    : `SELECT sequence, "user" FROM statement_place
       WHERE account = $1 AND sequence > $2 AND sequence <= $3 LIMIT $4`,
);

/**
 * Deletes up to `limit` links of a stretch whose events are deleted; deletes the stretch with its last link. Returns
 * the number of links.
 */
export function* continueStretch(
  links: LinkStore,
  undoing: Undoing,
  stretch: ImportStretch,
  limit: number,
): Operation<number> {
  const { account } = undoing;
  const rows = yield* all(selectLinks(account, stretch.after, stretch.through, limit));
  if (rows.length > 0) {
    const users = distinct(rows.map(({ user }) => user));
    yield* call(() => links.holdUsers(users));
    yield* deleteLinks(
      'withSequences',
      account,
      users,
      rows.map(({ sequence }) => sequence),
    );
  }
  if (rows.length < limit) yield* dropImportStretch(undoing, stretch);
  return rows.length;
}

export interface UndoParts {
  readonly contacts: ContactStore;
  /** Whether an event was logged with the contact; undefined if a search within `maxCost` cannot determine it. */
  findEvent(
    contact: number,
    maxCost: number,
  ): Result<{ readonly hasEvent: boolean | undefined; readonly cost: number }>;
  /** Deletes a contact that nothing uses. */
  deleteContact(row: WritableContact): Result<unknown>;
}

interface Undone {
  /**
   * `kept`: the import created the contact, and the contact stays. `pending`: the step ended before that was decided.
   */
  readonly outcome: 'undone' | 'kept' | 'pending';
  readonly cost: number;
}
const undone: Undone = { outcome: 'undone', cost: 1 };
const kept: Undone = { outcome: 'kept', cost: 1 };

const selectContact = createQuery<WritableContact>(() => `SELECT * FROM contact WHERE ${ofContact}`);
const selectUse = createQuery<{ isUsed: boolean | 0 | 1 }>((dialect) => {
  const exists = (table: string, column = 'contact') =>
    `EXISTS (SELECT 1 FROM ${table} WHERE ${within(dialect, ofAccount)} "${column}" = $2)`;
  const uses =
    dialect.name === 'sqlite'
      ? [exists('statement'), exists('claim'), exists('contact', 'mergedInto')]
      : [exists('contact_user'), exists('claim'), exists('merged_contact')];
  return `SELECT ${uses.join(' OR ')} AS "isUsed"`;
});

/** Deletes a contact that an import has created, unless something else has changed or uses it. */
function* deleteCreated(
  { findEvent, deleteContact }: UndoParts,
  row: WritableContact,
  updatedTime: number,
  maxCost: number,
): Operation<Undone> {
  if (row.updatedTime !== updatedTime || row.mergedInto !== null) return kept;
  if ((yield* first(selectUse(row.account, row.contact)))?.isUsed) return kept;
  const { hasEvent, cost } = yield* call(() => findEvent(row.contact, maxCost));
  if (hasEvent === false) yield* call(() => deleteContact(row));
  return { outcome: hasEvent === undefined ? 'pending' : hasEvent ? 'kept' : 'undone', cost };
}

const updateChanges = createQuery<never>(
  () => 'UPDATE import_contact SET changes = $4 WHERE account = $1 AND "importID" = $2 AND contact = $3',
);

/**
 * Takes a key from a contact that got it from the same import and is not restored yet. Returns whether the key is free:
 * an undo takes no keys from other contacts, and merges no contacts.
 */
function* freeKey(
  contacts: ContactStore,
  undoing: Undoing,
  field: KeyField,
  holder: WritableContact,
): Operation<boolean> {
  const { account, importID } = undoing;
  const written = holder.mergedInto === null ? yield* findWrittenContact(undoing, holder.contact) : undefined;
  const changes: ImportChanges = written ? JSON.parse(written.changes) : {};
  const [before, after] = changes[field] ?? [];
  if (before === undefined || after !== holder[field]) return false;
  yield* call(() => contacts.clearKey(holder, field));
  yield* run(updateChanges(account, importID, holder.contact, JSON.stringify({ ...changes, [field]: [before, null] })));
  return true;
}

/** Returns the keys that a contact can get back. */
function* freeKeys(
  contacts: ContactStore,
  undoing: Undoing,
  { contact }: WritableContact,
  { externalID, address }: NewKeys,
): Operation<NewKeys> {
  function* isFree(field: KeyField, value: string): Operation<boolean> {
    const holder = yield* call(() => contacts.findByKey(undoing.account, field, value));
    return !holder || holder.contact === contact || (yield* freeKey(contacts, undoing, field, holder));
  }
  return {
    ...((typeof externalID !== 'string' || (yield* isFree('contactExternalID', externalID))) && { externalID }),
    ...(address !== undefined && (yield* isFree('contactEmailaddress', address)) && { address }),
  };
}

/** Restores a contact's values that have not changed since the import. */
function* restore(contacts: ContactStore, undoing: Undoing, row: WritableContact): Operation<void> {
  const written = yield* findWrittenContact(undoing, row.contact);
  const [own] = yield* call(() => contacts.readRecords([row]));
  if (!written || !own) return;
  const { update, removesAddress, time } = toRestoration(
    JSON.parse(written.changes),
    toRecordedValues(row, own.values),
  );
  if (removesAddress) yield* call(() => contacts.clearKey(row, 'contactEmailaddress'));
  const current = removesAddress ? { ...row, contactEmailaddress: null } : row;
  const keys = yield* freeKeys(contacts, undoing, row, update.keys);
  const change = { ...update, keys, time: time ?? row.updatedTime };
  yield* writeContact(contacts, current, change, { recordedTime: undoing.undoneTime });
}

function* undoContact(
  parts: UndoParts,
  undoing: Undoing,
  imported: WrittenContact,
  maxCost: number,
): Operation<Undone> {
  const row = yield* first(selectContact(undoing.account, imported.contact));
  if (row === undefined) return undone;
  if (imported.isCreated) return yield* deleteCreated(parts, row, imported.updatedTime, maxCost);
  if (row.mergedInto === null) yield* restore(parts.contacts, undoing, row);
  return undone;
}

const contactsPerStep = 50;

/**
 * Deletes or restores some contacts of an import that has no stretches left, and ends the undo after the last contact.
 * Returns the cost. Nothing else may change the contacts in the meantime.
 */
export function* continueContacts(parts: UndoParts, undoing: Undoing, maxCost = Infinity): Operation<number> {
  const written = yield* findWritten(undoing, contactsPerStep);
  if (written.length === 0) {
    yield* endUndo(undoing);
    return 1;
  }
  let [cost, keptCount] = [0, 0];
  let last: number | undefined;
  for (const imported of written) {
    if (cost >= maxCost) break;
    const result = yield* undoContact(parts, undoing, imported, maxCost - cost);
    cost += result.cost;
    if (result.outcome === 'pending') break;
    if (result.outcome === 'kept') keptCount += 1;
    last = imported.contact;
  }
  if (last !== undefined) yield* dropWritten(undoing, last, keptCount);
  return cost;
}
