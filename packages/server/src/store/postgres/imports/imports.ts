/**
 * Stores the records of imports. The transaction of a batch is exclusive: no other writer of the account draws
 * sequences in the meantime, so a stretch has only the rows of its import.
 */
import { Refusal } from '../../../shared/refusal.ts';
import { findByKeys } from '../../operations/contact-keys.ts';
import { putContact } from '../../operations/contact-writes.ts';
import {
  advanceImport,
  findImport,
  findImportAt,
  isImported,
  recordContact,
  withContact,
} from '../../operations/imports.ts';
import { usesOfContact } from '../../rules/accounts/catalogue-rules.ts';
import { isChanged, type RecordedValues, toRecordedValues, withoutPresent } from '../../rules/import-changes.ts';
import type {
  EventBatch,
  EventOutcome,
  Import,
  ImportBatch,
  ImportOutcome,
  ImportPreview,
  ImportStep,
  NewContact,
  NewEvent,
} from '../../store.ts';
import type { CatalogueWriter } from '../accounts/catalogues.ts';
import type { ContactFinder } from '../contacts/contact-finder.ts';
import type { ContactRow } from '../contacts/contact-rows.ts';
import { createContactStore } from '../contacts/contacts.ts';
import { linkLocked } from '../contacts/links.ts';
import { lockUsers } from '../contacts/row-locks.ts';
import type { User, Users } from '../contacts/users.ts';
import { runOperation } from '../transactions/operations.ts';
import type { Transaction } from '../transactions/transaction.ts';

interface ImportParts {
  readonly users: Users;
  readonly catalogues: CatalogueWriter;
  readonly finder: ContactFinder;
  storeEvents(db: Transaction, batches: readonly EventBatch[]): Promise<EventOutcome[][]>;
}

type Batch = ImportBatch | ImportPreview;

/** Returns a contact's own values and keys. */
export const recordedValues = (row: ContactRow): RecordedValues => toRecordedValues({ ...row, ...row.said });

const readLastSequence = async (db: Transaction): Promise<number> =>
  (await db.one<{ last: number }>('SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS last FROM event_order'))
    .last;

export const createImportWriter = ({ users, catalogues, finder, storeEvents }: ImportParts) => {
  const findExisting = async (db: Transaction, request: NewContact): Promise<ContactRow | undefined> =>
    (await runOperation(db, findByKeys(createContactStore(db, finder), request))).found as ContactRow | undefined;

  /** Creates or changes a contact. */
  const put = async (
    db: Transaction,
    batch: Batch,
    request: NewContact,
    contactStatus: ImportStep['contactStatus'],
  ): Promise<ImportOutcome> => {
    const { account, externalID, address, newContactUUID, time, userUUID, token } = request;
    const found = await findExisting(db, request);
    const existing = found && (await finder.answering(db, found));
    const before = existing && { values: recordedValues(existing), updatedTime: existing.updatedTime };
    const mayReplace =
      before === undefined ||
      batch.replaces ||
      (await runOperation(db, isImported(account, existing?.contact as number, before.updatedTime)));
    const values = mayReplace ? request : withoutPresent(request, before.values);
    const fields =
      before === undefined ? { contactProfileID: batch.defaultProfileID, ...values.fields } : values.fields;
    const uses = usesOfContact({ ...values, fields });
    await catalogues.check(db, account, { browser: false, uses });
    const change = {
      ...{ fields, addedTags: values.tags, removedTags: [], attributes: values.attributes, contactStatus },
      ...{ time, by: token },
    };
    const keys = { account, newContactUUID, externalID, address };
    const { row } = await runOperation(db, putContact(createContactStore(db, finder), keys, change));
    await catalogues.register(db, account, [{ browser: false, uses }]);
    // Reads the contact again, because `row` is from before the write.
    const current = (await finder.get(db, row.contact)) as ContactRow;
    const written = await finder.answering(db, current);
    const after = { values: recordedValues(written), updatedTime: written.updatedTime };
    const isRepeated = batch.replaces && before !== undefined && !isChanged(before.values, after.values);
    if ('importID' in batch && !isRepeated)
      await runOperation(db, recordContact(batch, { contact: written.contact, before: before ?? null, after }));
    const outcome = isRepeated
      ? ({ kept: false, duplicate: true } as const)
      : ({ kept: true, created: before === undefined } as const);
    if (userUUID === null) return outcome;
    const [{ user }] = (await users.ensure(db, [{ account, userUUID }], { time, withEvent: false })) as [User];
    await lockUsers(db, [user]);
    await linkLocked(db, users, { user, contact: row.contact, verified: true, claim: null, token, time });
    return outcome;
  };

  const attemptPut = async (
    db: Transaction,
    batch: Batch,
    request: NewContact,
    contactStatus: ImportStep['contactStatus'],
  ): Promise<ImportOutcome> => {
    try {
      return await db.attempt(() => put(db, batch, request, contactStatus));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return { kept: false, refused: error.code, field: error.field ?? '', message: error.message };
    }
  };

  /** Stores steps in order, and consecutive events together. */
  const addSteps = async (db: Transaction, batch: Batch): Promise<ImportOutcome[]> => {
    const { account, token, browser, receivedTime, steps } = batch;
    const outcomes: ImportOutcome[] = [];
    let waiting: NewEvent[] = [];
    const storeWaiting = async () => {
      const events = waiting;
      waiting = [];
      if (events.length === 0) return;
      const [stored = []] = await storeEvents(db, [{ account, token, browser, receivedTime, events }]);
      outcomes.push(...stored);
    };
    for (const step of steps) {
      const { event, contact, contactStatus } = step;
      const found = event && contact && (await findExisting(db, contact));
      if (contact !== undefined && found === undefined) {
        await storeWaiting();
        const outcome = await attemptPut(db, batch, contact, contactStatus);
        if (event === undefined || !outcome.kept) {
          outcomes.push(outcome);
          continue;
        }
      }
      if (event) waiting.push(withContact(event, contact, found));
    }
    await storeWaiting();
    return outcomes;
  };

  const addToImport = async (
    db: Transaction,
    batch: ImportBatch,
  ): Promise<{ import: Import; outcomes: ImportOutcome[] | null }> => {
    db.requireExclusive();
    const found = await runOperation(db, findImportAt(batch));
    if (found === undefined) return { import: await runOperation(db, findImport(batch)), outcomes: null };
    const after = await readLastSequence(db);
    const outcomes = await addSteps(db, batch);
    const through = await readLastSequence(db);
    return { import: await runOperation(db, advanceImport(batch, outcomes, { after, through })), outcomes };
  };

  const previewImport = async (db: Transaction, preview: ImportPreview): Promise<ImportOutcome[]> => {
    const rollback = new Refusal('invalid_field');
    let outcomes: ImportOutcome[] = [];
    try {
      await db.attempt(async () => {
        outcomes = await addSteps(db, preview);
        throw rollback;
      });
    } catch (error) {
      if (error !== rollback) throw error;
    }
    return outcomes;
  };

  return { addToImport, previewImport };
};
