/** The contents of a database in the form in which one driver passes them to the other: rows, named as in the design. */
import type { KeptEvent } from './rules/kept-event.ts';

/**
 * The tables that are copied besides events, with the columns of SQLite. From PostgreSQL, all repeats of events are passed as
 * `erased_repeat`, which holds that an event was sent but not by whom; the requestUUID of a `request_repeat` is a key, which
 * includes the token (idempotency-keys.ts).
 */
export const exportedTables = [
  'account',
  'token',
  'audit',
  'catalogue',
  'member',
  'known_network',
  'passkey',
  'report_segment',
  'report_view',
  'share_link',
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
export type ExportedTable = (typeof exportedTables)[number];

export type ExportedRow = Readonly<Record<string, string | number | null | Buffer>>;

/** Items in groups, in memory or as they arrive. */
export type InParts<Item> = Iterable<readonly Item[]> | AsyncIterable<readonly Item[]>;

/** The contents of a database at one moment: nobody writes to it meanwhile. */
export interface DatabaseExport {
  /** The last sequence, the current day and the clock's day (received-day.ts), and the key of the hashes. */
  readonly position: {
    readonly sequence: number;
    readonly day: number;
    readonly clockDay: number;
    readonly secret: Buffer;
  };
  /** The greatest row number ever given in each table: numbers of erased rows are not reused. */
  readonly numbers: { readonly contact: number; readonly claim: number; readonly refused_request: number };
  rows(table: ExportedTable): InParts<ExportedRow>;
  /** Returns the events after a sequence, in order. */
  eventsAfter(sequence: number): InParts<KeptEvent>;
  close(): void | Promise<void>;
}

export interface CopyProgress {
  readonly sequence: number;
  readonly last: number;
  readonly events: number;
}

export type Tell = (progress: CopyProgress) => void;
