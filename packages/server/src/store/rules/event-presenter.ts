/** Builds an event of a response from a stored event, its owner and the names of its rows. */
import type { Why } from '../../identity/ownership.ts';
import type { Statement } from '../../identity/statements.ts';
import type { StoredEvent } from '../store.ts';
import type { KeptEvent } from './kept-event.ts';

/** The names of rows, by their numbers. */
interface Names {
  eventName(eventID: number): string;
  userUUID(user: number): string;
  contactUUID(contact: number): string;
  claimID(claim: number): string | null;
}

/** `why` says who owns the event. Its statement, if any, names the claim that made it. */
export const toStoredEvent = (event: KeptEvent, why: Why, names: Names): StoredEvent => {
  const { user, eventID } = event;
  const { owner, mergedFrom } = why;
  const statement = why.statement as (Statement & { readonly claim: number | null }) | null;
  return {
    sequence: event.sequence,
    eventUUID: event.eventUUID,
    eventID,
    eventName: names.eventName(eventID),
    eventTime: event.eventTime,
    receivedTime: event.receivedTime,
    timeReplaced: event.timeReplaced === 1,
    userUUID: user === null ? '' : names.userUUID(user),
    contactUUID: owner === null ? '' : names.contactUUID(owner),
    attributes: event.attributes,
    why: {
      rule: why.rule,
      linkID: statement === null ? null : String(statement.sequence),
      verified: statement?.verified ?? null,
      claimID: statement?.claim ? names.claimID(statement.claim) : null,
      mergedFrom: mergedFrom === null ? null : names.contactUUID(mergedFrom),
    },
  };
};
