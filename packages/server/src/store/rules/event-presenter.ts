/** Builds an event for a response from a stored event, its owner, and the names of the rows that it references. */
import { uniteEntries } from '../../identity/merged-entries.ts';
import type { Why } from '../../identity/ownership.ts';
import type { Statement } from '../../identity/statements.ts';
import type { StoredEvent } from '../store.ts';
import type { CatalogueMerges } from './accounts/entry-merges.ts';
import { eventNameOf } from './accounts/unlisted-names.ts';
import type { EventRow } from './event-row.ts';

/** Looks up names by row number. */
interface Names {
  /** Undefined if the event is unlisted. */
  eventName(eventID: number): string | undefined;
  userUUID(user: number): string;
  contactUUID(contact: number): string;
  claimID(claim: number): string | null;
}

/** Returns the eventID that remains after catalogue entry merges. */
export const toMergedEventID = (eventID: number, { event }: Pick<CatalogueMerges, 'event'>): number =>
  event.groups.length === 0 ? eventID : Number(event.targetOf(String(eventID)));

/** `why` has the event's owner. Its statement, if any, has the claim that created the statement. */
export const toStoredEvent = (
  event: EventRow,
  why: Why,
  names: Names,
  merges: Pick<CatalogueMerges, 'event' | 'attr'>,
): StoredEvent => {
  const { user } = event;
  const eventID = toMergedEventID(event.eventID, merges);
  const { owner, mergedFrom } = why;
  const statement = why.statement as (Statement & { readonly claim: number | null }) | null;
  return {
    sequence: event.sequence,
    eventUUID: event.eventUUID,
    eventID,
    eventName: eventNameOf({ eventID, attributes: event.attributes }, names.eventName(eventID)),
    eventTime: event.eventTime,
    receivedTime: event.receivedTime,
    timeReplaced: event.timeReplaced === 1,
    userUUID: user === null ? '' : names.userUUID(user),
    contactUUID: owner === null ? '' : names.contactUUID(owner),
    attributes: merges.attr.groups.length === 0 ? event.attributes : uniteEntries(event.attributes, merges.attr),
    why: {
      rule: why.rule,
      linkID: statement === null ? null : String(statement.sequence),
      verified: statement?.verified ?? null,
      claimID: statement?.claim ? names.claimID(statement.claim) : null,
      mergedFrom: mergedFrom === null ? null : names.contactUUID(mergedFrom),
    },
  };
};
