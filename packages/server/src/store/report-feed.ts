/** What reports read of a store: the events of an account as they were stored, and everything that changes whose they are. */
import type { ContactField } from '../identity/contact-view.ts';

/** Distinct texts, and where they occur: `rows[n]` (an index into the events, ascending) has `texts[which[n]]`. */
export interface FedAttribute {
  readonly attrID: string;
  readonly rows: Uint32Array;
  readonly which: Uint32Array;
  readonly texts: readonly string[];
}

/** Events in the order of their sequences, by columns. Users and contacts are numbers of the store, 1 or greater. */
export interface FedEvents {
  readonly count: number;
  readonly sequence: Float64Array;
  /** 0: logged without a user. */
  readonly user: Float64Array;
  /** The contact that the event was logged with; 0: none. */
  readonly contact: Float64Array;
  readonly eventID: Int32Array;
  readonly eventTime: Float64Array;
  /** Each attribute that occurs. */
  readonly attributes: readonly FedAttribute[];
  /** All events up to this sequence were examined: it is `beyond` of the next query. */
  readonly through: number;
  /** All events before this sequence were deleted, also those of earlier responses. */
  readonly firstSequence: number;
  /** Whether events beyond `through` were already stored. */
  readonly more: boolean;
}

/** A part of a user's history with one owner, before merges: after < sequence ≤ through. `through` is Infinity for the open end. */
export interface FedStretch {
  readonly after: number;
  readonly through: number;
  readonly contact: number;
}

/** Events that are erased: of this user without a contact, or logged with this contact; after < sequence ≤ through. */
export type FedErasure =
  | { readonly user: number; readonly after: number; readonly through: number }
  | { readonly contact: number };

export interface FedOwners {
  /** What changes later is read with it as `since`. */
  readonly position: string;
  /** `since` was null or too long ago: everything that was read before is void, events included. */
  readonly reset: boolean;
  /** The users whose stretches changed, with all their present stretches that have an owner, ascending, neighbours of one owner united. */
  readonly users: readonly { readonly user: number; readonly stretches: readonly FedStretch[] }[];
  /** Every merged contact, and the contact that it belongs to now, when a merge changed; else null. */
  readonly merged: readonly { readonly contact: number; readonly owner: number }[] | null;
  /** Each erasure is listed when it begins, and in each response until its events are deleted. */
  readonly erased: readonly FedErasure[];
  /** Whether more has changed. It is read with `position`, and a report waits for all of it. */
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
  /** The events of an account beyond a sequence, at most about `most`. Erased ones may be among them until they are deleted. */
  feedEvents(query: { readonly account: number; readonly beyond: number; readonly most: number }): Promise<FedEvents>;
  /** What changed about owners since a position. `since` null: all. */
  feedOwners(query: { readonly account: number; readonly since: string | null }): Promise<FedOwners>;
}

/** Who the people of a report are. */
export interface ReportNames {
  /** The names of users and contacts of an account by their numbers, in any order, without erased contacts. At most 1,000 of each. */
  namePeople(query: {
    readonly account: number;
    readonly users: readonly number[];
    readonly contacts: readonly number[];
  }): Promise<PeopleNames>;
}
