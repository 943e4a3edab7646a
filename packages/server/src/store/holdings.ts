/** All that a database holds, as it is handed from one driver to another: rows, in the words of the design. */

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
  readonly timeReplaced: number;
  readonly attributes: readonly (readonly [attrID: string, attrValue: string])[];
}

/** What there are rows of, beside events. */
export type HeldTable =
  | 'account'
  | 'token'
  | 'catalogue'
  | 'user'
  | 'contact'
  | 'contact_tag'
  | 'contact_attr'
  | 'claim'
  | 'statement'
  | 'event_repeat'
  | 'erased_repeat'
  | 'request_repeat'
  | 'event_total'
  | 'account_day'
  | 'erasure'
  | 'erased_stretch'
  | 'erased_contact'
  | 'erased_identifier'
  | 'refused_request'
  | 'refused_count';

export type HeldRow = Readonly<Record<string, string | number | null | Buffer>>;

/** A database that nobody writes to meanwhile. */
export interface Holdings {
  /** The last sequence, the day that is under way, and the key of the hashes. */
  readonly position: {
    readonly sequence: number;
    readonly day: number;
    readonly clockDay: number;
    readonly secret: Buffer;
  };
  rows(table: HeldTable): Iterable<HeldRow>;
  /** In order, those after a sequence, some at a time. */
  eventsAfter(sequence: number): Iterable<readonly HeldEvent[]>;
  close(): void;
}

export interface CopyProgress {
  readonly sequence: number;
  readonly last: number;
  readonly events: number;
}
