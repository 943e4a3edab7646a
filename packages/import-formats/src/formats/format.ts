/** What the formats have in common. */
import type { Row } from '../files/record.ts';

/** A message of Segment's HTTP API. */
export type Message = Readonly<Record<string, unknown>>;

/** Why a row is deliberately left out. */
export type SkipReason =
  | 'robot'
  /** The tool logged it for its own use, such as a session start. */
  | 'not an event'
  /** The row identifies neither a browser nor a person. */
  | 'no visitor';

export type Outcome =
  | { readonly message: Message }
  | { readonly skipped: SkipReason }
  /** A description without the line number. */
  | { readonly problem: string };

export interface Format {
  /** The tool's name. */
  readonly label: string;
  /** Fields that every row has. They distinguish the format from those that follow in the table of formats. */
  readonly fields: readonly string[];
  /** A pure function: the same row always gives the same messages. */
  toMessages(row: Row): readonly Outcome[];
}
