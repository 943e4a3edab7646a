/** The data that a report reads. */
import type { DuckDBConnection } from '@duckdb/node-api';
import type { Condition } from '../queries.ts';
import type { Columns } from './files/columns.ts';
import type { SQL } from './sql.ts';

/** A condition on an event's person. */
export type PersonCondition = Extract<
  Condition,
  { readonly contacts: unknown } | { readonly did: unknown } | { readonly personFirst: unknown }
>;

/** The state of an account at one moment. */
export interface Snapshot {
  readonly columns: Columns;
  /**
   * SQL that finds an event's person (alias `e`), and the tables that it reads: `owners`, with the users (`user`) owned
   * by contacts, and `merged`, with the merged contacts.
   */
  readonly person: {
    readonly joins: SQL;
    readonly person: SQL;
    readonly owners: SQL;
    readonly merged: SQL;
  };
  /** Returns a query for the events with these columns. */
  select(names: readonly string[]): SQL;
  /** Returns the same query, split into parts in sequence order. */
  parts(names: readonly string[]): SQL[];
  /** The table of irregular visitors, whose sessions are not numbered, and the number of these visitors (visits.ts). */
  readonly irregular: { readonly table: SQL; readonly visitors: number | 'all' };
  /** The highest numbers of users, logged contacts and sessions. */
  readonly bounds: { readonly user: number; readonly contact: number; readonly session: number };
  /** The latest time of the events that retention has deleted. */
  readonly cutUntil: number;
  readonly memoryBytes: number;
  /** Returns the highest contact number that was logged with an event or owns events. */
  highestContact(connection: DuckDBConnection): Promise<number>;
  readonly through: number;
}

export interface Source extends Snapshot {
  /** Whether an event's person (alias `e`) meets one of the report's conditions (condition-people.ts). */
  isOf(condition: PersonCondition): SQL;
}
