/** Assigns keys (external ID and e-mail address) to contacts, by the rules in rules/contact-keys.ts. */
import type { KeyField } from '../../identity/contact-view.ts';
import type { CreatedContact } from '../rules/contact-changes.ts';
import { keyTaken, yieldsKey } from '../rules/contact-keys.ts';
import { recordAudit } from './audit.ts';
import type { ContactStore, WritableContact } from './contact-store.ts';
import { recordFact } from './facts.ts';
import { call, createQuery, first, type Operation, ofAccount, within } from './operation.ts';

/**
 * A planned assignment of a key. `yielding` is the contact that loses the key and is merged into the contact that gets
 * it.
 */
export interface KeyPlan {
  readonly field: KeyField;
  readonly value: string;
  readonly yielding?: WritableContact | undefined;
}

function* findByKey(
  contacts: ContactStore,
  account: number,
  field: KeyField,
  value: string | undefined,
): Operation<WritableContact | undefined> {
  return value === undefined ? undefined : yield* call(() => contacts.findByKey(account, field, value));
}

const selectAccepted = createQuery<{ claim: number }>(
  (dialect) =>
    `SELECT claim FROM claim WHERE ${within(dialect, ofAccount)} contact = $2 AND accepted AND NOT voided LIMIT 1`,
);

function* hasAcceptedClaim({ account, contact }: { account: number; contact: number }): Operation<boolean> {
  return (yield* first(selectAccepted(account, contact))) !== undefined;
}

/** Whether a contact yields a key that a server token assigns to another. */
function* mayYield(contacts: ContactStore, holder: WritableContact, field: KeyField): Operation<boolean> {
  if (!yieldsKey(holder, field)) return false;
  const group = yield* call(() => contacts.readGroup(holder));
  return group.length === 1 && !(yield* hasAcceptedClaim(holder));
}

/**
 * Finds the contact that a server token identifies by external ID and address: the contact with the external ID, unless
 * it yields to the contact with the address. `keys` are the keys to assign to the contact.
 */
export function* findByKeys(
  contacts: ContactStore,
  { account, externalID, address }: Pick<CreatedContact, 'account' | 'externalID' | 'address'>,
): Operation<{ found: WritableContact | undefined; keys: Pick<CreatedContact, 'externalID' | 'address'> }> {
  const byID = yield* findByKey(contacts, account, 'contactExternalID', externalID);
  const byAddress = yield* findByKey(contacts, account, 'contactEmailaddress', address);
  const isByAddress =
    byAddress &&
    (!byID ||
      ((yield* mayYield(contacts, byID, 'contactExternalID')) &&
        !(yield* mayYield(contacts, byAddress, 'contactEmailaddress'))));
  return isByAddress ? { found: byAddress, keys: { externalID } } : { found: byID, keys: { address } };
}

/**
 * Plans the assignment of a key to a contact. With `isFound`, returns undefined if another contact of the same person
 * has the key. Throws a Refusal if another person's contact has it and does not yield it.
 */
export function* planKey(
  contacts: ContactStore,
  row: WritableContact,
  { field, value, isFound }: { field: KeyField; value: string; isFound: boolean },
): Operation<KeyPlan | undefined> {
  const holder = yield* call(() => contacts.reserveKey(row, field, value));
  if (!holder || holder.contact === row.contact) return { field, value };
  if (isFound) {
    const person = yield* call(() => contacts.followMerges(row));
    if ((yield* call(() => contacts.followMerges(holder))).contact === person.contact) return undefined;
  }
  if (!(yield* mayYield(contacts, holder, field))) throw keyTaken(field);
  return { field, value, yielding: holder };
}

/** Takes keys from the contacts that yield them, and merges these contacts into `row`'s person. */
export function* takeKeys(
  contacts: ContactStore,
  row: WritableContact,
  plans: readonly KeyPlan[],
  { time, by = null }: { time: number; by?: number | null | undefined },
): Operation<void> {
  for (const { field, value, yielding } of plans) {
    if (!yielding) continue;
    const kept = yield* call(() => contacts.followMerges(row));
    yield* call(() => contacts.clearKey(yielding, field));
    yield* call(() => contacts.merge(yielding, kept.contact, time));
    const merged = { contact: kept.contact, other: yielding.contact };
    yield* recordFact(contacts, { account: row.account, type: 'contact.merged', ...merged, time });
    yield* call(() => contacts.reserveKey(row, field, value));
    const subject = { contactUUID: kept.contactUUID, otherContactUUID: yielding.contactUUID };
    yield* recordAudit({ action: 'mergeContact', subject, account: row.account, by, time });
  }
}

/** Records that a server token has sent a key, which belongs to `row` or another contact of the account. */
export function* verifyKey(
  contacts: ContactStore,
  row: WritableContact,
  field: KeyField,
  value: string | undefined,
): Operation<void> {
  const holder = row[field] === value ? row : yield* findByKey(contacts, row.account, field, value);
  const isVerified = field === 'contactEmailaddress' ? holder?.verified : holder?.externalIDClaim === null;
  if (holder && !isVerified) yield* call(() => contacts.verifyKey(holder, field));
}
