/** What the formats have in common. */
import type { Row } from '../files/record.ts';

/** A message of Segment's HTTP API. */
export type Message = Readonly<Record<string, unknown>>;

/** Why a row is left out on purpose. */
export type SkipReason =
  | 'robot'
  /** The tool has logged it for itself, such as the start of a session. */
  | 'not an event'
  /** It names no browser and no person. */
  | 'no visitor';

export type Outcome =
  | { readonly message: Message }
  | { readonly skipped: SkipReason }
  /** A sentence without the line. */
  | { readonly problem: string };

export interface Format {
  /** The name of the tool. */
  readonly label: string;
  /** Fields that every row has. They distinguish the format from those that follow in the table of formats. */
  readonly fields: readonly string[];
  /** A pure function: the same row always makes the same messages. */
  toMessages(row: Row): readonly Outcome[];
}
