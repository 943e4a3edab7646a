/**
 * Statements on batches of rows that are sent as arrays. On a single PostgreSQL server, a batch can have several
 * accounts. On a Citus cluster, it has one account, and each table is filtered by `account = $1`, so that Citus sends
 * the statement to one shard.
 */
import { type ElementType, integers } from './arrays.ts';
import type { AccountConnection, HeldConnection } from './connection.ts';

type Column = readonly [name: string, type: ElementType];
type Columns = readonly Column[];

interface Parts {
  /** SQL for the sent rows: a FROM item with this name that has their `account` and a column for each array. */
  readonly batch: string;
  /**
   * Returns an SQL condition that requires a table's row to have the same account as a sent row. `alias` is the table's
   * alias.
   */
  readonly ofAccount: (alias: string) => string;
}

export interface RowStatement {
  /** The SQL for a single PostgreSQL server: $1 is the array of the rows' accounts. */
  readonly sql: string;
  /** The SQL for a cluster: $1 is the account. */
  readonly clusterSQL: string;
  /**
   * The SQL for a single row on a cluster: Citus caches the plan of a statement with VALUES, but replans `clusterSQL`
   * on every execution.
   */
  readonly oneSQL?: string;
}

/** A statement and its rows: their accounts, and their columns in the statement's order. */
export interface RowBatch {
  readonly statement: RowStatement;
  readonly accounts: readonly number[];
  readonly columns: readonly Buffer[];
}

const namesOf = (columns: Columns): string[] => columns.map(([name]) => `"${name}"`);

/** Calls unnest() in the SELECT list, because in FROM PostgreSQL would materialize the elements of each array first. */
const batchSQL = (columns: Columns): string =>
  `(SELECT ${[
    'unnest($1::integer[]) AS account',
    ...columns.map(([name, type], nth) => `unnest($${nth + 2}::${type}[]) AS "${name}"`),
  ].join(', ')}) AS batch`;

/**
 * Joins a table, because Citus routes an INSERT from arrays alone through the coordinator and commits it in two phases.
 */
const clusterBatchSQL = (columns: Columns): string => `
  (SELECT p.account, sent.* FROM account_position p
   CROSS JOIN unnest(${columns.map(([, type], nth) => `$${nth + 2}::${type}[]`).join(', ')}) AS sent (${namesOf(columns).join(', ')})
   WHERE p.account = $1) AS batch`;

/** Creates a statement; `columns` are the names and types of the arrays after the accounts. */
export const createBatchStatement = (columns: Columns, toSQL: (parts: Parts) => string): RowStatement => ({
  sql: toSQL({ batch: batchSQL(columns), ofAccount: (alias) => `${alias}.account = batch.account` }),
  clusterSQL: toSQL({ batch: clusterBatchSQL(columns), ofAccount: (alias) => `${alias}.account = $1` }),
});

interface Insertion {
  /** SQL for columns with the same expression in all rows. */
  readonly equal?: Readonly<Record<string, string>>;
  /** SQL such as ON CONFLICT and RETURNING. */
  readonly end?: string;
}

/** Returns SQL that inserts the sent rows. */
export const insertRowsSQL = (
  { batch }: Parts,
  table: string,
  columns: Columns,
  { equal = {}, end = '' }: Insertion = {},
): string => {
  const names = ['account', ...namesOf(columns)];
  const others = Object.keys(equal).map((column) => `"${column}"`);
  return `INSERT INTO "${table}" (${[...names, ...others].join(', ')})
    SELECT ${[...names, ...Object.values(equal)].join(', ')} FROM ${batch} ${end}`;
};

/** Returns SQL that inserts a single sent row. */
const insertRowSQL = (table: string, columns: Columns, { equal = {}, end = '' }: Insertion = {}): string => {
  const values = columns.map(([, type], nth) => `($${nth + 2}::${type}[])[1]`);
  const others = Object.keys(equal).map((column) => `"${column}"`);
  return `INSERT INTO "${table}" (${['account', ...namesOf(columns), ...others].join(', ')})
    VALUES (${['$1', ...values, ...Object.values(equal)].join(', ')}) ${end}`;
};

/** Creates a statement that inserts the sent rows. */
export const createInsert = (table: string, columns: Columns, insertion?: Insertion): RowStatement => ({
  ...createBatchStatement(columns, (parts) => insertRowsSQL(parts, table, columns, insertion)),
  oneSQL: insertRowSQL(table, columns, insertion),
});

/** A connection that knows whether it is connected to a cluster. */
export type ClusterAwareConnection = AccountConnection & Pick<HeldConnection, 'isDistributed'>;

const toQuery = (
  db: ClusterAwareConnection,
  { statement, accounts, columns }: RowBatch,
): [sql: string, values: readonly unknown[]] =>
  db.isDistributed
    ? [(accounts.length === 1 && statement.oneSQL) || statement.clusterSQL, [accounts[0], ...columns]]
    : [statement.sql, [integers(accounts, (account) => account), ...columns]];

/** Runs a statement on a batch of rows and returns its result. */
export const readRows = <Row>(db: ClusterAwareConnection, batch: RowBatch): Promise<Row[]> =>
  db.all<Row>(...toQuery(db, batch));

/** Runs a statement on a batch of rows. */
export const writeRows = async (db: ClusterAwareConnection, batch: RowBatch): Promise<void> => {
  await db.run(...toQuery(db, batch));
};
