/** Creates and changes contacts, and writes the values that server tokens send. */
import { type ContactRecord, viewContact } from '../../identity/contact-view.ts';
import { usesOfContact } from '../rules/accounts/catalogue-rules.ts';
import { resolveMergedEntries } from '../rules/accounts/entry-merges.ts';
import type { ClaimRow } from '../rules/claims.ts';
import { type ContactUpdate, changedFields, type PutContact, toStoredFields } from '../rules/contact-changes.ts';
import { otherExternalID, toNewKeys } from '../rules/contact-keys.ts';
import type { ContactChange } from '../store.ts';
import { readEntryMerges } from './catalogues.ts';
import { findByKeys, type KeyPlan, planKey, takeKeys, verifyKey } from './contact-keys.ts';
import type { ContactParts, ContactStore, SavedContact, StoredKeys, WritableContact } from './contact-store.ts';
import { recordFact } from './facts.ts';
import { call, type Operation } from './operation.ts';

type PlainContactUpdate = Omit<ContactUpdate, 'keys'>;

/** Returns the record of a contact that this transaction created, which therefore has no merges or claims. */
const newRecord = ({ contactEmailaddress, contactExternalID, verified }: StoredKeys): ContactRecord => ({
  values: {
    fields: {
      ...(contactEmailaddress !== null && { contactEmailaddress }),
      ...(contactExternalID !== null && { contactExternalID }),
    },
    tags: new Map(),
    attributes: new Map(),
  },
  verified: Boolean(verified),
  externalIDVerified: true,
  claims: [],
});

/** Returns a record with a change applied. `keys` are the keys that change. */
const withChange = (
  record: ContactRecord,
  { fields, addedTags, removedTags, attributes }: PlainContactUpdate,
  { contactEmailaddress, contactExternalID }: Partial<StoredKeys>,
): ContactRecord => {
  const { values } = record;
  const tags = new Map(values.tags);
  for (const tagID of addedTags) tags.set(tagID, true);
  for (const tagID of removedTags) tags.set(tagID, false);
  return {
    ...record,
    values: {
      fields: {
        ...values.fields,
        ...toStoredFields(fields),
        ...(contactEmailaddress != null && { contactEmailaddress }),
        ...(contactExternalID != null && { contactExternalID }),
      },
      tags,
      attributes: new Map([...values.attributes, ...attributes]),
    },
    verified: record.verified || contactEmailaddress != null,
    externalIDVerified: record.externalIDVerified || contactExternalID != null,
  };
};

/** Plans the assignment of a change's keys. */
function* planKeys(
  contacts: ContactStore,
  row: WritableContact,
  { keys: { address, externalID }, isFound = false }: ContactUpdate,
): Operation<KeyPlan[]> {
  const plans: (KeyPlan | undefined)[] = [];
  if (address !== undefined)
    plans.push(yield* planKey(contacts, row, { field: 'contactEmailaddress', value: address, isFound }));
  if (typeof externalID === 'string')
    plans.push(yield* planKey(contacts, row, { field: 'contactExternalID', value: externalID, isFound }));
  return plans.filter((plan) => plan !== undefined);
}

/**
 * Returns the columns that change when keys are assigned. A cleared external ID becomes '', so that no claim fills it.
 */
const toKeyColumns = (plans: readonly KeyPlan[], isIDCleared: boolean): Partial<StoredKeys> => ({
  ...(isIDCleared && { contactExternalID: '', externalIDClaim: null }),
  ...Object.assign(
    {},
    ...plans.map(({ field, value }) =>
      field === 'contactExternalID'
        ? { contactExternalID: value, externalIDClaim: null }
        : { contactEmailaddress: value, verified: true },
    ),
  ),
});

interface WriteResult {
  readonly contactUUID: string;
  /** The names of the fields whose visible values changed. */
  readonly updated: string[];
  /** The contact that was written, with its new values. */
  readonly saved: SavedContact & Pick<WritableContact, 'contact'>;
}

/**
 * Writes to the contact at the end of `row`'s merges. Throws a Refusal before any write if another person has one of
 * the new keys. `isNew` is true if this transaction created the contact. `recordedTime` is the time of the write, which
 * differs from the values' time when an undo restores them.
 */
export function* writeContact(
  contacts: ContactStore,
  row: WritableContact,
  request: ContactUpdate,
  { isNew = false, recordedTime = request.time }: { isNew?: boolean; recordedTime?: number } = {},
): Operation<WriteResult> {
  const entryMerges = yield* readEntryMerges(row.account);
  const change = resolveMergedEntries(request, entryMerges);
  const { externalID, address } = change.keys;
  const changesKeys = externalID !== undefined || address !== undefined;
  const target = isNew ? row : yield* call(() => contacts.followMerges(row));
  const kept = isNew ? row : yield* call(() => contacts.lock(target, changesKeys));
  const readRecords = function* () {
    const group = yield* call(() => contacts.readGroup(kept));
    return yield* call(() => contacts.readRecords(group));
  };
  const [own, ...merged] = isNew ? [newRecord(kept)] : yield* readRecords();
  const before = viewContact([own as ContactRecord, ...merged], entryMerges);
  if (change.isFound && typeof externalID === 'string') {
    const other = otherExternalID(before, externalID);
    if (other) throw other;
  }
  const plans = yield* planKeys(contacts, kept, change);
  yield* takeKeys(contacts, kept, plans, change);
  const keys = toKeyColumns(plans, externalID === null);
  const written = withChange(own as ContactRecord, change, keys);
  // A contact that yielded a key is now merged into this contact.
  const others = plans.some(({ yielding }) => yielding) ? (yield* readRecords()).slice(1) : merged;
  const updated = changedFields(before, viewContact([written, ...others], entryMerges));
  const { contactStatus = kept.contactStatus } = change;
  if (contactStatus !== kept.contactStatus) updated.push('contactStatus');
  const { contactEmailaddress, contactExternalID, externalIDClaim, verified } = { ...kept, ...keys };
  const saved = {
    ...{ contactEmailaddress, contactExternalID, externalIDClaim, verified, contactStatus, change },
    values: written.values,
    updatedTime: updated.length > 0 ? change.time : kept.updatedTime,
  };
  yield* call(() => contacts.save(kept, saved));
  const { account, contact, contactUUID } = kept;
  if (isNew) yield* recordFact(contacts, { account, type: 'contact.created', contact, time: recordedTime });
  else if (updated.length > 0)
    yield* recordFact(contacts, { account, type: 'contact.updated', contact, detail: { updated }, time: recordedTime });
  if (contactStatus === 'unsubscribed' && kept.contactStatus !== contactStatus)
    yield* recordFact(contacts, { account, type: 'contact.unsubscribed', contact, time: recordedTime });
  return { contactUUID, updated, saved: { ...saved, contact } };
}

/** The contact with a request's keys, and the contact at the end of its merges, which was written to. */
interface PutResult extends Pick<WriteResult, 'contactUUID' | 'saved'> {
  readonly row: WritableContact;
  readonly existed: boolean;
}

/**
 * For a server token: finds a contact by external ID or address, or creates one, and writes to the contact at the end
 * of its merges. A null external ID is cleared.
 */
export function* putContact(
  contacts: ContactStore,
  { account, externalID: sentID, address, newContactUUID }: PutContact,
  change: PlainContactUpdate,
): Operation<PutResult> {
  const externalID = sentID ?? undefined;
  const { found, keys } = yield* findByKeys(contacts, { account, externalID, address });
  const created = { account, externalID, address, newContactUUID, time: change.time };
  const row = found ?? (yield* call(() => contacts.insert(created)));
  const newKeys = sentID === null ? { externalID: sentID } : found ? keys : {};
  const written = yield* writeContact(contacts, row, { ...change, keys: newKeys, isFound: true }, { isNew: !found });
  if (found) {
    yield* verifyKey(contacts, found, 'contactExternalID', externalID);
    yield* verifyKey(contacts, found, 'contactEmailaddress', address);
  }
  return { row, existed: found !== undefined, contactUUID: written.contactUUID, saved: written.saved };
}

/**
 * Assigns the external ID of an accepted claim to the contact. Assigns nothing if the contact has or had an external
 * ID, or if another contact of the same person has this ID. Throws a Refusal if another person has it.
 */
export function* acceptExternalID(
  contacts: ContactStore,
  { contact, claim }: Pick<ClaimRow, 'contact' | 'claim'>,
  { externalID, ...origin }: { externalID: string; time: number; by?: number | null | undefined },
): Operation<void> {
  const found = yield* call(() => contacts.get(contact));
  const row = yield* call(() => contacts.lock(found, true));
  if (row.contactExternalID !== null) return;
  const plan = yield* planKey(contacts, row, { field: 'contactExternalID', value: externalID, isFound: true });
  if (!plan) return;
  yield* takeKeys(contacts, row, [plan], origin);
  yield* call(() => contacts.setExternalID(row, externalID, claim));
}

/** Removes the external ID that a contact got from a claim. */
export function* withdrawExternalID(
  contacts: ContactStore,
  { contact, claim }: Pick<ClaimRow, 'contact' | 'claim'>,
): Operation<void> {
  const found = yield* call(() => contacts.get(contact));
  if (found.externalIDClaim !== claim) return;
  const row = yield* call(() => contacts.lock(found, true));
  if (row.externalIDClaim === claim) yield* call(() => contacts.clearKey(row, 'contactExternalID'));
}

export function* updateContact(
  { contacts, catalogues }: ContactParts,
  change: ContactChange,
): Operation<{ contactUUID: string; updated: string[] }> {
  const { account } = change;
  const row = yield* call(() => contacts.find(change));
  const uses = usesOfContact({ ...change, tags: change.addedTags });
  yield* call(() => catalogues.check(account, false, uses));
  const { contactUUID, updated } = yield* writeContact(contacts, row, { ...change, keys: toNewKeys(change) });
  yield* call(() => catalogues.register(account, false, uses));
  return { contactUUID, updated };
}
