/**
 * Statements about rows that are sent as arrays. On one PostgreSQL, the rows of a statement may be of several accounts. On a Citus cluster
 * they are of one, and the text tells Citus the machine that runs the whole statement. Citus plans a text with one table, or with VALUES,
 * once for each connection, and any other each time, which takes two to three times as long (test/citus/README.md).
 */
import { integers } from './arrays.ts';
import type { TakenConnection } from './connection.ts';

type Column = readonly [name: string, type: string];

/**
 * SQL for the sent rows of several accounts, a FROM item named `given`: `columns` are names and types of $2, $3, …; `account`, from $1, is
 * one more. In the list of a SELECT: in FROM, PostgreSQL stores the elements of each array before it reads them.
 */
export const ofSeveral = (...columns: readonly Column[]): string =>
  `(SELECT unnest($1::integer[]) AS account,
      ${columns.map(([name, type], nth) => `unnest($${nth + 2}::${type}[]) AS "${name}"`).join(', ')}) AS given`;

/** The same of one account, $1. Citus finds the machine by the account's row of `account_position`. */
export const ofOne = (...columns: readonly Column[]): string =>
  `(SELECT p.account, sent.* FROM account_position p,
      unnest(${columns.map(([, type], nth) => `$${nth + 2}::${type}[]`).join(', ')})
        AS sent (${columns.map(([name]) => `"${name}"`).join(', ')})
    WHERE p.account = $1) AS given`;

interface Texts {
  readonly several: string;
  /** On a cluster. */
  readonly one: string;
  /** On a cluster, if there is one row. */
  readonly single?: string;
}

/** Returns a function that takes the account of each row, and returns the text of the statement and the value of its $1. */
export const forAccounts =
  ({ several, one, single = one }: Texts) =>
  ({ isSpread }: Pick<TakenConnection, 'isSpread'>, accounts: readonly number[]) =>
    isSpread
      ? ([accounts.length === 1 ? single : one, accounts[0]] as const)
      : ([several, integers(accounts, (account) => account)] as const);

/** Reads the rows of a table whose key was sent. `end`: ORDER BY and locks of the rows, which are named t. */
export const readingBy = (
  table: string,
  [key, type]: Column,
  columns: readonly string[],
  end = '',
): ReturnType<typeof forAccounts> => {
  const read = `SELECT ${columns.map((name) => `t."${name}"`).join(', ')} FROM`;
  return forAccounts({
    several: `${read} ${ofSeveral([key, type])} JOIN "${table}" t ON t.account = given.account AND t."${key}" = given."${key}" ${end}`,
    one: `${read} "${table}" t WHERE t.account = $1 AND t."${key}" = ANY ($2::${type}[]) ${end}`,
  });
};

interface Insertion {
  /** Columns that are equal in all rows, and SQL for them. */
  readonly equal?: Readonly<Record<string, string>>;
  /** ON CONFLICT and RETURNING. */
  readonly end?: string;
}

/** Inserts the sent rows. */
export const inserting = (
  table: string,
  columns: readonly Column[],
  { equal = {}, end = '' }: Insertion = {},
): ReturnType<typeof forAccounts> => {
  const quoted = (names: readonly string[]) => names.map((name) => `"${name}"`);
  const names = quoted(['account', ...columns.map(([name]) => name)]);
  const into = `INSERT INTO "${table}" (${[...names, ...quoted(Object.keys(equal))].join(', ')})`;
  const select = `SELECT ${[...names, ...Object.values(equal)].join(', ')} FROM`;
  const values = ['$1', ...columns.map(([, type], nth) => `($${nth + 2}::${type}[])[1]`), ...Object.values(equal)];
  return forAccounts({
    several: `${into} ${select} ${ofSeveral(...columns)} ${end}`,
    one: `${into} ${select} ${ofOne(...columns)} ${end}`,
    single: `${into} VALUES (${values.join(', ')}) ${end}`,
  });
};
