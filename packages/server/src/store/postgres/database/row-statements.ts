/** Statements about rows that are sent as arrays, of one account or of several, and run on one PostgreSQL or on the shards of a cluster (sent-rows.ts). */
import { type ElementType, integers } from './arrays.ts';

type Column = readonly [name: string, type: ElementType];
export type Columns = readonly Column[];

export interface Parts {
  /** SQL for the sent rows, a FROM item named `given`: their `account`, and a column for each array. */
  readonly given: string;
  /** SQL for how many rows are sent. */
  readonly count: string;
  /** Returns SQL for a table of accounts. */
  readonly table: (name: string) => string;
}

/**
 * Returns the SQL of a statement. On a cluster it is a format of PostgreSQL's format(), and may be a part of WITH: it must not contain "%". One that is
 * sent with others must not begin with WITH.
 */
type ToSQL = (parts: Parts) => string;

export interface RowStatement {
  readonly columns: Columns;
  readonly toSQL: ToSQL;
  /** For one PostgreSQL. */
  readonly sql: string;
  /** For a cluster: a text that Citus plans once. $1 is the account, not the account of each row. */
  readonly one?: string | undefined;
  /** Whether it may be planned once for all values: it finds rows by a unique key only. */
  readonly isPrepared: boolean;
}

/** A statement and its rows: the account of each, and the columns in their order. */
export interface SentRows {
  readonly statement: RowStatement;
  readonly accounts: readonly number[];
  readonly columns: readonly Buffer[];
}

export const arraysOf = ({ accounts, columns }: SentRows): Buffer[] => [
  integers(accounts, (account) => account),
  ...columns,
];

/** The columns of `given`. */
const namesOf = (columns: Columns): string[] =>
  ['account', ...columns.map(([name]) => name)].map((name) => `"${name}"`);

/** With unnest() in the list of a SELECT: in FROM, PostgreSQL stores the elements of each array before it reads them. */
export const givenBy = (columns: Columns, inRows: readonly string[], from = ''): string =>
  `(SELECT ${namesOf(columns)
    .map((name, nth) => `${inRows[nth]} AS ${name}`)
    .join(', ')}${from}) AS given`;

type Optional = Partial<Pick<RowStatement, 'one' | 'isPrepared'>>;

/** `columns` are names and types of the arrays after the accounts. */
export const aboutRows = (
  columns: Columns,
  toSQL: ToSQL,
  { one, isPrepared = false }: Optional = {},
): RowStatement => ({
  columns,
  toSQL,
  one,
  isPrepared,
  sql: toSQL({
    given: givenBy(columns, [
      'unnest($1::integer[])',
      ...columns.map(([, type], nth) => `unnest($${nth + 2}::${type}[])`),
    ]),
    count: 'cardinality($1::integer[])',
    table: (name) => `"${name}"`,
  }),
});

interface Insertion {
  /** Columns that are equal in all rows, and SQL for them. */
  readonly equal?: Readonly<Record<string, string>>;
  /** ON CONFLICT and RETURNING. */
  readonly end?: string;
}

/** SQL that inserts the sent rows. */
export const insertRows = (
  { given, table }: Parts,
  name: string,
  columns: Columns,
  { equal = {}, end = '' }: Insertion = {},
): string => {
  const names = namesOf(columns);
  const others = Object.keys(equal).map((column) => `"${column}"`);
  // ON CONFLICT names the table by this alias: a shard has another name.
  return `INSERT INTO ${table(name)} AS "${name}" (${[...names, ...others].join(', ')})
    SELECT ${[...names, ...Object.values(equal)].join(', ')} FROM ${given} ${end}`;
};

/** Inserts the sent rows. */
export const inserting = (name: string, columns: Columns, insertion?: Insertion): RowStatement =>
  aboutRows(columns, (parts) => insertRows(parts, name, columns, insertion), { isPrepared: true });
