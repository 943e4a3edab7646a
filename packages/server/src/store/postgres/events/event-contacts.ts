/** Resolves the users and contacts that events are logged with. */
import { distinct } from '../../../shared/distinct.ts';
import { Refusal } from '../../../shared/refusal.ts';
import { handleName, missingContact } from '../../rules/erased-names.ts';
import type { EventBatch, NewEvent } from '../../store.ts';
import { findClaims } from '../contacts/claims.ts';
import type { ContactFinder } from '../contacts/contact-finder.ts';
import { type UserName, userUUIDsOf } from '../contacts/users.ts';
import type { Transaction } from '../transactions/transaction.ts';

/** The user and contact that an event is logged with. */
export interface EventSubject {
  readonly name: UserName | null;
  readonly contact: number | null;
  /** The contact that the event identifies, which must not be erased before this transaction ends. */
  readonly named: number | null;
}

/** Whether an event identifies a contact, and so might link its user. */
export const namesContact = ({ contactUUID, externalID }: NewEvent): boolean =>
  contactUUID !== null || externalID !== null;

/**
 * Looks up the contacts and claims that an account's events identify. Returns a function that resolves such an event.
 */
export const createEventResolver = async (db: Transaction, finder: ContactFinder, batches: readonly EventBatch[]) => {
  const { account } = db;
  const keyOf = (token: number, contactUUID: string) => `${token} ${contactUUID}`;
  const named = distinct(
    batches.flatMap(({ token, browser, events }) =>
      events.flatMap(({ contactUUID }) => (contactUUID === null ? [] : [{ token, browser, contactUUID }])),
    ),
    ({ token, contactUUID }) => keyOf(token, contactUUID),
  );
  const handles = named.flatMap(({ browser, contactUUID }) => (browser ? contactUUID : []));
  const claims = handles.length > 0 ? await findClaims(db, handles) : [];
  const claimByHandle = new Map(claims.map((claim) => [claim.claimID, claim]));
  const userUUIDs = await userUUIDsOf(
    db,
    claims.map(({ user }) => user),
  );
  const contactUUIDs = named.flatMap(({ browser, contactUUID }) => (browser ? [] : contactUUID));
  const contacts =
    contactUUIDs.length > 0
      ? await db.all<{ contactUUID: string; contact: number }>(
          'SELECT "contactUUID", contact FROM contact_name WHERE account = $1 AND "contactUUID" = ANY ($2::text[])',
          [account, contactUUIDs],
        )
      : [];
  const externalIDs = distinct(
    batches.flatMap(({ events }) =>
      events.flatMap(({ contactUUID, externalID }) => (contactUUID === null ? (externalID ?? []) : [])),
    ),
  );
  const contactByExternalID = await finder.numbersByExternalID(db, externalIDs);
  const contactByName = new Map(contacts.map((row) => [row.contactUUID, row.contact]));
  const subjects = new Map<string, EventSubject | Refusal>();
  const missing: { key: string; identifier: string }[] = [];
  for (const { token, browser, contactUUID } of named) {
    const key = keyOf(token, contactUUID);
    const claim = browser ? claimByHandle.get(contactUUID) : undefined;
    const contact = browser ? undefined : contactByName.get(contactUUID);
    if (contact !== undefined) subjects.set(key, { name: null, contact, named: contact });
    else if (claim?.token === token) {
      const userUUID = userUUIDs.get(claim.user) as string;
      subjects.set(key, { name: { account, userUUID }, contact: null, named: claim.contact });
    } else missing.push({ key, identifier: browser ? handleName(token, contactUUID) : contactUUID });
  }
  const refusals = await finder.missingEach(
    db,
    missing.map(({ identifier }) => identifier),
  );
  for (const [nth, { key }] of missing.entries()) subjects.set(key, refusals[nth] as Refusal);

  return ({ token, browser }: EventBatch, { userUUID, contactUUID, externalID }: NewEvent): EventSubject | Refusal => {
    const name = userUUID === null ? null : { account, userUUID };
    if (contactUUID === null) {
      const contact = contactByExternalID.get(externalID as string);
      return contact === undefined ? missingContact('contactExternalID', false) : { name, contact, named: contact };
    }
    const subject = subjects.get(keyOf(token, contactUUID)) as EventSubject | Refusal;
    if (subject instanceof Refusal) return subject;
    if (!browser) return { ...subject, name };
    // A handle identifies the user of its claim, and is unknown with any other token or user.
    const isOtherUser = userUUID !== null && userUUID !== subject.name?.userUUID;
    return isOtherUser ? new Refusal('unknown_contact', { field: 'contactUUID' }) : subject;
  };
};
