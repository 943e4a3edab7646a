/**
 * Stores the records of imports. Meanwhile, no other write to the account may draw sequences, so that a stretch
 * contains only its import's rows.
 */
import type { KeyField, Values } from '../../identity/contact-view.ts';
import { distinct } from '../../shared/distinct.ts';
import { Refusal } from '../../shared/refusal.ts';
import { usesOfContact } from '../rules/accounts/catalogue-rules.ts';
import {
  addChanges,
  type ImportChanges,
  isChanged,
  type RecordedValues,
  toRecordedValues,
  withoutPresent,
} from '../rules/import-changes.ts';
import type { Import, ImportBatch, ImportOutcome, ImportPreview, ImportStep, NewContact, NewEvent } from '../store.ts';
import { findByKeys } from './contact-keys.ts';
import type { ContactParts } from './contact-store.ts';
import { putContact } from './contact-writes.ts';
import { findImport, findWrittenContact } from './imports.ts';
import { link } from './links.ts';
import { all, call, createQuery, db, type Operation, run } from './operation.ts';

type Batch = ImportBatch | ImportPreview;

/** A contact's own values, before or after a write. */
interface ContactState {
  readonly values: RecordedValues;
  readonly updatedTime: number;
}

const toState = (row: Parameters<typeof toRecordedValues>[0], values: Values): ContactState => ({
  values: toRecordedValues(row, values),
  updatedTime: row.updatedTime,
});

const changedByOthers = -1;

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

/** Records that an import wrote to a contact, or created it if `before` is undefined. */
function* recordContact(
  { account, importID }: Pick<ImportBatch, 'account' | 'importID'>,
  contact: number,
  before: ContactState | undefined,
  after: ContactState,
): Operation<void> {
  const row = yield* findWrittenContact({ account, importID }, contact);
  const isCreated = row ? Boolean(row.isCreated) : before === undefined;
  const isChangedByOthers = row !== undefined && row.updatedTime !== before?.updatedTime;
  const changes =
    before === undefined || isCreated
      ? {}
      : addChanges(row ? (JSON.parse(row.changes) as ImportChanges) : {}, before.values, after.values);
  const updatedTime = isChangedByOthers ? changedByOthers : after.updatedTime;
  yield* run(upsertWritten(account, importID, contact, isCreated, updatedTime, JSON.stringify(changes)));
}

/** Whether an import made the last write to a contact. */
function* isImported(account: number, contact: number, updatedTime: number): Operation<boolean> {
  const rows = yield* all(selectImported(account, contact, updatedTime));
  return rows.length > 0;
}

/** Creates or changes a contact, and links its user to it. */
function* importContact(
  { contacts, links, catalogues }: ContactParts,
  batch: Batch,
  request: NewContact,
  contactStatus: ImportStep['contactStatus'],
): Operation<ImportOutcome> {
  const { account, externalID, address, newContactUUID, time, userUUID, token } = request;
  const { found } = yield* findByKeys(contacts, request);
  const existing = found && (yield* call(() => contacts.followMerges(found)));
  const [own] = existing ? yield* call(() => contacts.readRecords([existing])) : [];
  const before = existing && own && toState(existing, own.values);
  const isProtected =
    existing && !batch.replaces && !(yield* isImported(account, existing.contact, existing.updatedTime));
  const values = before && isProtected ? withoutPresent(request, before.values) : request;
  const fields = existing ? values.fields : { contactProfileID: batch.defaultProfileID, ...values.fields };
  const uses = usesOfContact({ ...values, fields });
  yield* call(() => catalogues.check(account, false, uses));
  const { row, saved } = yield* putContact(
    contacts,
    { account, newContactUUID, externalID, address },
    {
      ...{ fields, addedTags: values.tags, removedTags: [], attributes: values.attributes, contactStatus },
      ...{ time, by: token },
    },
  );
  yield* call(() => catalogues.register(account, false, uses));
  const after = toState(saved, saved.values);
  const isRepeated = batch.replaces && before !== undefined && !isChanged(before.values, after.values);
  if ('importID' in batch && !isRepeated) yield* recordContact(batch, saved.contact, before, after);
  if (userUUID !== null) {
    const user = yield* call(() => links.ensureUser(account, userUUID, time));
    yield* call(() => links.holdUsers([user]));
    yield* link(links, account, { user, contact: row.contact, verified: true, claim: null, token, time });
  }
  return isRepeated ? { kept: false, duplicate: true } : { kept: true, created: existing === undefined };
}

/** The contactUUIDs of the contacts that have the given keys. */
type Holders = Readonly<Record<KeyField, Map<string, string>>>;

const createHolderQuery = (field: KeyField, table: string) =>
  createQuery<{ key: string; contactUUID: string }>(
    ({ name, among }) => `
      SELECT "${field}" AS key, "contactUUID" FROM ${name === 'postgres' ? table : 'contact'}
      WHERE account = $1 AND "${field}" ${among('$2', 'text')} AND "${field}" > ''`,
  );
const selectHolders = {
  contactExternalID: createHolderQuery('contactExternalID', 'contact_external_id'),
  contactEmailaddress: createHolderQuery('contactEmailaddress', 'contact_address'),
};

/** Reads which contacts have these requests' keys. */
function* readHolders(holders: Holders, account: number, requests: readonly NewContact[]): Operation<void> {
  const keys = {
    contactExternalID: distinct(requests.flatMap(({ externalID }) => externalID ?? [])),
    contactEmailaddress: distinct(requests.flatMap(({ address }) => address ?? [])),
  };
  for (const field of ['contactExternalID', 'contactEmailaddress'] as const) {
    if (keys[field].length === 0) continue;
    for (const { key, contactUUID } of yield* all(selectHolders[field](account, keys[field])))
      holders[field].set(key, contactUUID);
  }
}

const findHolder = (holders: Holders, { externalID = '', address = '' }: NewContact): string | undefined =>
  holders.contactExternalID.get(externalID) ?? holders.contactEmailaddress.get(address);

/** Stores a batch's steps in order, and consecutive events together. A Refusal affects only its step. */
export function* addSteps(parts: ContactParts, batch: Batch): Operation<ImportOutcome[]> {
  const { account, token, browser, receivedTime, steps } = batch;
  const named = steps.flatMap(({ event, contact }) => (event && contact ? [contact] : []));
  const holders = { contactExternalID: new Map(), contactEmailaddress: new Map() };
  yield* readHolders(holders, account, named);
  const outcomes: ImportOutcome[] = [];
  let events: NewEvent[] = [];
  function* storeEvents(): Operation<void> {
    const waiting = { account, token, browser, receivedTime, events };
    events = [];
    if (waiting.events.length > 0) outcomes.push(...(yield* call(() => parts.events.log(waiting))));
  }
  for (const { event, contact, contactStatus } of steps) {
    if (contact && (event === undefined || findHolder(holders, contact) === undefined)) {
      yield* storeEvents();
      const result = yield* call(() => parts.attempt(importContact(parts, batch, contact, contactStatus)));
      const isRefused = result instanceof Refusal;
      if (isRefused)
        outcomes.push({ kept: false, refused: result.code, field: result.field ?? '', message: result.message });
      else if (event === undefined) outcomes.push(result);
      if (isRefused) continue;
      // The contact may have taken a key from another contact.
      if (named.length > 0) yield* readHolders(holders, account, [contact]);
    }
    if (event === undefined) continue;
    // `logEvents` finds a contact by external ID, but not by address.
    const isByAddress = contact !== undefined && contact.externalID === undefined;
    events.push(isByAddress ? { ...event, contactUUID: findHolder(holders, contact) as string } : event);
  }
  yield* storeEvents();
  return outcomes;
}

/**
 * Returns a batch's import. Returns undefined if the import is at another position, in which case the batch must not be
 * stored. The caller holds the account's lock.
 */
function* findImportAt({
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

/** Records what a batch has stored. `stretch` contains the batch's sequences: after < sequence <= through. */
function* advanceImport(
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

export function* addToImport(
  parts: ContactParts,
  batch: ImportBatch,
): Operation<{ import: Import; outcomes: ImportOutcome[] | null }> {
  const found = yield* findImportAt(batch);
  if (found === undefined) return { import: yield* findImport(batch), outcomes: null };
  const after = yield* call(parts.events.readLastSequence);
  const outcomes = yield* addSteps(parts, batch);
  const through = yield* call(parts.events.readLastSequence);
  return { import: yield* advanceImport(batch, outcomes, { after, through }), outcomes };
}
