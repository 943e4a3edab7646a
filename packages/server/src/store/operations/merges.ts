/** Merges and unmerges contacts. */
import { checkMerge, checkUnmerge } from '../rules/merges.ts';
import type { NamedOther, RequestOf } from '../store.ts';
import type { ContactParts, ContactStore, WritableContact } from './contact-store.ts';
import { recordFact } from './facts.ts';
import { call, type Operation } from './operation.ts';

function* findOther(
  contacts: ContactStore,
  account: number,
  { otherContactUUID, otherExternalID, otherAddress }: NamedOther,
): Operation<WritableContact> {
  const names = { account, contactUUID: otherContactUUID, externalID: otherExternalID, address: otherAddress };
  return yield* call(() => contacts.find(names, 'otherContact'));
}

export function* mergeContact(
  { contacts }: ContactParts,
  { time, ...names }: RequestOf<'mergeContact'>,
): Operation<{ contactUUID: string; otherContactUUID: string; mergedTime: number }> {
  const keep = yield* call(() => contacts.find(names));
  const other = yield* findOther(contacts, names.account, names);
  const isMerged = other.mergedInto === keep.contact;
  if (!isMerged) {
    checkMerge(yield* call(() => contacts.readMerges(keep.contact)), keep, other);
    yield* call(() => contacts.merge(other, keep.contact, time));
    const { account, contact } = keep;
    yield* recordFact(contacts, { account, type: 'contact.merged', contact, other: other.contact, time });
  }
  const mergedTime = isMerged ? (other.mergedTime as number) : time;
  const { contactUUID } = yield* call(() => contacts.followMerges(keep));
  return { contactUUID, otherContactUUID: other.contactUUID, mergedTime };
}

export function* unmergeContact(
  { contacts }: ContactParts,
  { account, time, ...names }: RequestOf<'unmergeContact'>,
): Operation<{ contactUUID: string }> {
  const other = yield* findOther(contacts, account, names);
  checkUnmerge(other);
  const contact = other.mergedInto as number;
  yield* call(() => contacts.unmerge(other));
  yield* recordFact(contacts, { account, type: 'contact.unmerged', contact, other: other.contact, time });
  return { contactUUID: other.contactUUID };
}
