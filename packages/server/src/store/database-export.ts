/** The format for copying a database between the drivers. */
import type { EventRow } from './rules/event-row.ts';

/**
 * The copied tables except events, with SQLite's columns. PostgreSQL exports all event repeats as `erased_repeat`,
 * which records that an event was sent, but not by whom, and the requestUUID of a `request_repeat` as a key
 * (idempotency-keys.ts).
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
  'goal',
  'note',
  'share_link',
  'webhook',
  'webhook_delivery',
  'webhook_fact',
  'webhook_audience',
  'webhook_member',
  'notification',
  'notification_mail',
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
  'import',
  'import_stretch',
  'import_contact',
  'refused_request',
  'refused_count',
] as const;
export type ExportedTable = (typeof exportedTables)[number];

export type ExportedRow = Readonly<Record<string, string | number | null | Buffer>>;

/** Items in chunks, in memory or streamed. */
export type Chunks<Item> = Iterable<readonly Item[]> | AsyncIterable<readonly Item[]>;

/** A consistent snapshot of a database. */
export interface DatabaseExport {
  /** The last sequence, the current day and the clock's day (received-day.ts), and the HMAC key. */
  readonly position: {
    readonly sequence: number;
    readonly day: number;
    readonly clockDay: number;
    readonly secret: Buffer;
  };
  /** The highest row number ever assigned in each table. Erased rows' numbers are not reused. */
  readonly numbers: { readonly contact: number; readonly claim: number; readonly refused_request: number };
  rows(table: ExportedTable): Chunks<ExportedRow>;
  /** Returns the events after a sequence, in order. */
  eventsAfter(sequence: number): Chunks<EventRow>;
  close(): void | Promise<void>;
}

export interface CopyProgress {
  readonly sequence: number;
  readonly last: number;
  readonly events: number;
}

export type OnProgress = (progress: CopyProgress) => void;
