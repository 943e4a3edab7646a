/** All that a database holds, as it is handed from one driver to another: rows, in the words of the design. */
import type { SentByServer } from './sent-keys.ts';

/** An event as it was kept; its numbers are those of the rows. */
export interface HeldEvent {
  readonly sequence: number;
  readonly day: number;
  readonly account: number;
  readonly user: number | null;
  readonly contact: number | null;
  readonly eventID: number;
  readonly eventUUID: string;
  readonly eventTime: number;
  readonly receivedTime: number;
  readonly timeReplaced: 0 | 1;
  /** Null when it is not known, or only in the key of its repeat. */
  readonly server: SentByServer;
  readonly attributes: readonly (readonly [attrID: string, attrValue: string])[];
}

/**
 * What there are rows of, beside events; their columns are those of the SQLite tables. Of PostgreSQL, all repeats of events
 * are in `erased_repeat`, which knows of each that it was sent, and not by whom; the requestUUID of a `request_repeat` is a
 * key, and its token is in that (sent-keys.ts).
 */
export const heldTables = [
  'account',
  'token',
  'audit',
  'catalogue',
  'user',
  'contact',
  'contact_tag',
  'contact_attr',
  'claim',
  'statement',
  'event_repeat',
  'event_repeat_of_either',
  'erased_repeat',
  'request_repeat',
  'event_total',
  'account_day',
  'erasure',
  'erased_stretch',
  'erased_contact',
  'erased_identifier',
  'refused_request',
  'refused_count',
] as const;
export type HeldTable = (typeof heldTables)[number];

export type HeldRow = Readonly<Record<string, string | number | null | Buffer>>;

/** Some at a time: at once, or as they arrive. */
export type Held<Item> = Iterable<readonly Item[]> | AsyncIterable<readonly Item[]>;

/** A database that nobody writes to meanwhile: all that is read is of one moment. */
export interface Holdings {
  /** The last sequence, the day that is under way, and the key of the hashes. */
  readonly position: {
    readonly sequence: number;
    readonly day: number;
    readonly clockDay: number;
    readonly secret: Buffer;
  };
  /** The greatest number that was ever given to each: those of what is erased are not given again. */
  readonly numbers: { readonly contact: number; readonly claim: number; readonly refused_request: number };
  rows(table: HeldTable): Held<HeldRow>;
  /** In order, those after a sequence. */
  eventsAfter(sequence: number): Held<HeldEvent>;
  close(): void | Promise<void>;
}

export interface CopyProgress {
  readonly sequence: number;
  readonly last: number;
  readonly events: number;
}
