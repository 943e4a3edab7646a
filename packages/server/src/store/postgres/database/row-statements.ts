/**
 * Statements about rows that are sent as arrays. On one PostgreSQL the rows may be of several accounts. On a Citus cluster they are of one, and
 * each table of the statement says `account = $1`, so that Citus sends it to the one shard.
 */
import { type ElementType, integers } from './arrays.ts';
import type { AccountConnection, TakenConnection } from './connection.ts';

type Column = readonly [name: string, type: ElementType];
type Columns = readonly Column[];

interface Parts {
  /** SQL for the sent rows, a FROM item named `given`: their `account`, and a column for each array. */
  readonly given: string;
  /** Returns SQL for the condition that a row of a table, by its alias, has the account of a sent row. */
  readonly ofAccount: (alias: string) => string;
}

export interface RowStatement {
  /** For one PostgreSQL: $1 is the array of the rows' accounts. */
  readonly sql: string;
  /** For a cluster: $1 is the account. */
  readonly clusterSQL: string;
  /** For one row on a cluster: Citus plans a text with VALUES once for a connection, and `clusterSQL` each time, which takes longer than it runs. */
  readonly oneSQL?: string;
}

/** A statement and its rows: the account of each, and the columns in their order. */
export interface SentRows {
  readonly statement: RowStatement;
  readonly accounts: readonly number[];
  readonly columns: readonly Buffer[];
}

const namesOf = (columns: Columns): string[] => columns.map(([name]) => `"${name}"`);

/** With unnest() in the list of a SELECT: in FROM, PostgreSQL stores the elements of each array before it reads them. */
const givenHere = (columns: Columns): string =>
  `(SELECT ${[
    'unnest($1::integer[]) AS account',
    ...columns.map(([name, type], nth) => `unnest($${nth + 2}::${type}[]) AS "${name}"`),
  ].join(', ')}) AS given`;

/** With a table, because Citus would send an INSERT whose rows come from arrays only by way of the coordinator, and commit it in two phases. */
const givenOnCluster = (columns: Columns): string => `
  (SELECT p.account, sent.* FROM account_position p
   CROSS JOIN unnest(${columns.map(([, type], nth) => `$${nth + 2}::${type}[]`).join(', ')}) AS sent (${namesOf(columns).join(', ')})
   WHERE p.account = $1) AS given`;

/** `columns` are names and types of the arrays after the accounts. */
export const aboutRows = (columns: Columns, toSQL: (parts: Parts) => string): RowStatement => ({
  sql: toSQL({ given: givenHere(columns), ofAccount: (alias) => `${alias}.account = given.account` }),
  clusterSQL: toSQL({ given: givenOnCluster(columns), ofAccount: (alias) => `${alias}.account = $1` }),
});

interface Insertion {
  /** Columns that are equal in all rows, and SQL for them. */
  readonly equal?: Readonly<Record<string, string>>;
  /** ON CONFLICT and RETURNING. */
  readonly end?: string;
}

/** SQL that inserts the sent rows. */
export const insertRows = (
  { given }: Parts,
  table: string,
  columns: Columns,
  { equal = {}, end = '' }: Insertion = {},
): string => {
  const names = ['account', ...namesOf(columns)];
  const others = Object.keys(equal).map((column) => `"${column}"`);
  return `INSERT INTO "${table}" (${[...names, ...others].join(', ')})
    SELECT ${[...names, ...Object.values(equal)].join(', ')} FROM ${given} ${end}`;
};

/** SQL that inserts the only sent row. */
const insertOne = (table: string, columns: Columns, { equal = {}, end = '' }: Insertion = {}): string => {
  const values = columns.map(([, type], nth) => `($${nth + 2}::${type}[])[1]`);
  const others = Object.keys(equal).map((column) => `"${column}"`);
  return `INSERT INTO "${table}" (${['account', ...namesOf(columns), ...others].join(', ')})
    VALUES (${['$1', ...values, ...Object.values(equal)].join(', ')}) ${end}`;
};

/** Inserts the sent rows. */
export const inserting = (table: string, columns: Columns, insertion?: Insertion): RowStatement => ({
  ...aboutRows(columns, (parts) => insertRows(parts, table, columns, insertion)),
  oneSQL: insertOne(table, columns, insertion),
});

/** A connection that says whether it is to a cluster. */
export type SpreadConnection = AccountConnection & Pick<TakenConnection, 'isSpread'>;

const toQuery = (
  db: SpreadConnection,
  { statement, accounts, columns }: SentRows,
): [sql: string, values: readonly unknown[]] =>
  db.isSpread
    ? [(accounts.length === 1 && statement.oneSQL) || statement.clusterSQL, [accounts[0], ...columns]]
    : [statement.sql, [integers(accounts, (account) => account), ...columns]];

/** Runs a statement about sent rows and returns what it returns. */
export const readRows = <Row>(db: SpreadConnection, sent: SentRows): Promise<Row[]> =>
  db.all<Row>(...toQuery(db, sent));

/** Runs a statement about sent rows. */
export const writeRows = async (db: SpreadConnection, sent: SentRows): Promise<void> => {
  await db.run(...toQuery(db, sent));
};
