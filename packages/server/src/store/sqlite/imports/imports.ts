/**
 * Stores the records of imports. A batch draws its sequences without gaps, so that its stretch contains only its own
 * rows.
 */
import { plainFields } from '../../../identity/contact-view.ts';
import { Refusal } from '../../../shared/refusal.ts';
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
  EventOutcome,
  ImportBatch,
  ImportOutcome,
  ImportPreview,
  ImportStep,
  NewContact,
  RequestOf,
  Store,
} from '../../store.ts';
import type { CatalogueWriter } from '../accounts/catalogues.ts';
import type { ContactRow } from '../contacts/contact-rows.ts';
import type { ContactWriter } from '../contacts/contacts.ts';
import type { LinkWriter } from '../contacts/links.ts';
import type { Users } from '../contacts/users.ts';
import type { Connection } from '../database/connection.ts';
import { createOperationRunner } from '../transactions/operations.ts';
import type { Sequencer } from '../transactions/sequencer.ts';
import { RolledBack } from '../transactions/transaction.ts';

interface ImportParts {
  readonly sequencer: Sequencer;
  readonly users: Users;
  readonly catalogues: CatalogueWriter;
  readonly contacts: ContactWriter;
  readonly links: LinkWriter;
  logEvents(request: RequestOf<'logEvents'>): EventOutcome[];
}

type AddToImport = (batch: ImportBatch) => Awaited<ReturnType<Store['addToImport']>>;
type Batch = ImportBatch | ImportPreview;

/** Returns a function that reads a contact's own values and keys. */
export const createRecordedValues = (db: Connection) => {
  const tagsOf = db.prepare<[number], { tagID: string; opt: number }>(
    'SELECT tagID, opt FROM contact_tag WHERE contact = ?',
  );
  const attributesOf = db.prepare<[number], { attrID: string; attrValue: string | null }>(
    'SELECT attrID, attrValue FROM contact_attr WHERE contact = ?',
  );
  return (row: ContactRow): RecordedValues =>
    toRecordedValues({
      ...row,
      fields: Object.fromEntries(plainFields.map((name) => [name, row[name]])),
      tags: tagsOf.all(row.contact).map(({ tagID, opt }) => [tagID, opt === 1]),
      attributes: attributesOf.all(row.contact).map(({ attrID, attrValue }) => [attrID, attrValue]),
    });
};

export const createImportWriter = (
  db: Connection,
  parts: ImportParts,
): { readonly addToImport: AddToImport; readonly previewImport: (preview: ImportPreview) => ImportOutcome[] } => {
  const { sequencer, users, catalogues, contacts, links, logEvents } = parts;
  const runOperation = createOperationRunner(db);
  const valuesOf = createRecordedValues(db);

  /**
   * Creates or changes a contact. A thrown Refusal affects only this contact, because it comes before the first write.
   */
  const putContact = (batch: Batch, request: NewContact, contactStatus: ImportStep['contactStatus']): ImportOutcome => {
    const { account, externalID, address, newContactUUID, time, userUUID, token } = request;
    const { found } = contacts.findByKeys(request);
    const existing = found && contacts.followMerges(found.contact);
    const before = existing && { values: valuesOf(existing), updatedTime: existing.updatedTime };
    const mayReplace =
      before === undefined ||
      batch.replaces ||
      runOperation(isImported(account, existing?.contact as number, before.updatedTime));
    const values = mayReplace ? request : withoutPresent(request, before.values);
    const fields =
      before === undefined ? { contactProfileID: batch.defaultProfileID, ...values.fields } : values.fields;
    const uses = usesOfContact({ ...values, fields });
    catalogues.check(account, false, uses);
    const change = { fields, addedTags: values.tags, removedTags: [], attributes: values.attributes, contactStatus };
    const { row } = contacts.put({ account, newContactUUID, externalID, address }, { ...change, time, by: token });
    catalogues.register(account, false, uses);
    const written = contacts.followMerges(row.contact);
    const after = { values: valuesOf(written), updatedTime: written.updatedTime };
    const isRepeated = batch.replaces && before !== undefined && !isChanged(before.values, after.values);
    if ('importID' in batch && !isRepeated)
      runOperation(recordContact(batch, { contact: written.contact, before: before ?? null, after }));
    const outcome = isRepeated
      ? ({ kept: false, duplicate: true } as const)
      : ({ kept: true, created: before === undefined } as const);
    if (userUUID === null) return outcome;
    const { user } = users.ensure(account, userUUID, time);
    links.link(account, { user, contact: row.contact, verified: true, claim: null, token, time });
    return outcome;
  };

  const attemptContact = (
    batch: Batch,
    request: NewContact,
    contactStatus: ImportStep['contactStatus'],
  ): ImportOutcome => {
    try {
      return putContact(batch, request, contactStatus);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return { kept: false, refused: error.code, field: error.field ?? '', message: error.message };
    }
  };

  const addStep = (batch: Batch, { event, contact, contactStatus }: ImportStep): readonly ImportOutcome[] => {
    const { account, token, browser, receivedTime } = batch;
    const found = event && contact && contacts.findByKeys(contact).found;
    if (contact !== undefined && found === undefined) {
      const outcome = attemptContact(batch, contact, contactStatus);
      if (event === undefined || !outcome.kept) return [outcome];
    }
    if (event === undefined) return [];
    const events = [withContact(event, contact, found)];
    return logEvents({ account, token, browser, receivedTime, events });
  };

  const addToImport: AddToImport = (batch) => {
    const found = runOperation(findImportAt(batch));
    if (found === undefined) return { import: runOperation(findImport(batch)), outcomes: null };
    const after = sequencer.sequence;
    const outcomes = batch.steps.flatMap((step) => addStep(batch, step));
    const advanced = runOperation(advanceImport(batch, outcomes, { after, through: sequencer.sequence }));
    return { import: advanced, outcomes };
  };

  return {
    addToImport,
    previewImport: (preview) => {
      throw new RolledBack(preview.steps.flatMap((step) => addStep(preview, step)));
    },
  };
};
