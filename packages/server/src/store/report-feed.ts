/**
 * The data that reports and exports read from a store: an account's events as they were stored, and every owner change.
 */
import type { ContactField } from '../identity/contact-view.ts';

/** A dictionary-encoded attribute: event `rows[n]` (an index, in ascending order) has the value `texts[which[n]]`. */
export interface AttributeColumn {
  readonly attrID: string;
  readonly rows: Uint32Array;
  readonly which: Uint32Array;
  readonly texts: readonly string[];
}

/** Events as columns, in sequence order. Users and contacts are row numbers, from 1. */
export interface EventFeedPage {
  readonly count: number;
  readonly sequence: Float64Array;
  /** 0: logged without a user. */
  readonly user: Float64Array;
  /** The contact that the event was logged with; 0: none. */
  readonly contact: Float64Array;
  readonly eventID: Int32Array;
  readonly eventTime: Float64Array;
  readonly attributes: readonly AttributeColumn[];
  /** All events up to this sequence were examined. Pass it as `beyond` of the next query. */
  readonly through: number;
  /** All events before this sequence were deleted, including events in earlier responses. */
  readonly firstSequence: number;
  /** Whether events after `through` are stored already. */
  readonly more: boolean;
}

/** A part of a user's history with one owner, before merges: after < sequence ≤ through. `through` may be Infinity. */
export interface OwnershipRange {
  readonly after: number;
  readonly through: number;
  readonly contact: number;
}

/**
 * Erased events with after < sequence ≤ through: this user's events without a contact, events logged with this contact,
 * or (for an undone import) all events.
 */
export type FeedErasure =
  | { readonly user: number; readonly after: number; readonly through: number }
  | { readonly contact: number }
  | { readonly after: number; readonly through: number };

export interface OwnerFeedPage {
  /** Pass it as `since` to read later changes. */
  readonly position: string;
  /** Whether `since` was null or too old: discard everything read before, including events. */
  readonly reset: boolean;
  /**
   * The users with changed owners, each with all owned ranges in ascending order. Adjacent ranges of the same owner are
   * joined.
   */
  readonly users: readonly { readonly user: number; readonly stretches: readonly OwnershipRange[] }[];
  /** If a merge changed, all merged contacts with their current owners; otherwise null. */
  readonly merged: readonly { readonly contact: number; readonly owner: number }[] | null;
  /** Each erasure is repeated in every response until its events are deleted. */
  readonly erased: readonly FeedErasure[];
  /** Whether more changes follow. A report must read all changes before it runs. */
  readonly more: boolean;
}

export interface PeopleNames {
  readonly users: readonly { readonly user: number; readonly userUUID: string }[];
  readonly contacts: readonly {
    readonly contact: number;
    readonly contactUUID: string;
    readonly fields: Readonly<Record<ContactField, string>>;
  }[];
}

/** The part of the Store that reports read. */
export interface ReportFeed {
  /**
   * Reads approximately `limit` of an account's events after a sequence. May include erased events that are not deleted
   * yet.
   */
  feedEvents(query: {
    readonly account: number;
    readonly beyond: number;
    readonly limit: number;
  }): Promise<EventFeedPage>;
  /** Reads the owner changes since a position; if `since` is null, all owners. */
  feedOwners(query: { readonly account: number; readonly since: string | null }): Promise<OwnerFeedPage>;
}

/** Looks up the people in a report. */
export interface ReportNames {
  /**
   * Looks up users and contacts by row number, at most 1,000 of each. Returns them in any order, without erased
   * contacts.
   */
  namePeople(query: {
    readonly account: number;
    readonly users: readonly number[];
    readonly contacts: readonly number[];
  }): Promise<PeopleNames>;
}
