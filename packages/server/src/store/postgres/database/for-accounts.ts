/**
 * Statements about rows that are sent as arrays. Each statement has two texts. On one PostgreSQL, its rows may be of several accounts. On a
 * Citus cluster they are of one, and the statement reads the account's row of `account_position` along: by its number, Citus finds
 * the machine that runs the whole statement.
 */
import { integers } from './arrays.ts';
import type { TakenConnection } from './connection.ts';

type Columns = readonly (readonly [name: string, type: string])[];
/** Returns SQL for the sent rows, a FROM item named `given`: `columns` are names and types of $2, $3, …; `account` is one more. */
type Given = (...columns: Columns) => string;

const ofOne: Given = (...columns) =>
  `(SELECT p.account, sent.* FROM account_position p,
      unnest(${columns.map(([, type], nth) => `$${nth + 2}::${type}[]`).join(', ')})
        AS sent (${columns.map(([name]) => `"${name}"`).join(', ')})
    WHERE p.account = $1) AS given`;
/** In the list of a SELECT: in FROM, PostgreSQL stores the elements of each array before it reads them. */
const ofSeveral: Given = (...columns) =>
  `(SELECT unnest($1::integer[]) AS account,
      ${columns.map(([name, type], nth) => `unnest($${nth + 2}::${type}[]) AS "${name}"`).join(', ')}) AS given`;

/**
 * Returns a function that takes the account of each row, and returns the text of the statement and the value of its $1. `write` gets
 * whether the text is for a cluster.
 */
export const forAccounts = (write: (given: Given, isSpread: boolean) => string) => {
  const [one, several] = [write(ofOne, true), write(ofSeveral, false)];
  return ({ isSpread }: Pick<TakenConnection, 'isSpread'>, accounts: readonly number[]) =>
    isSpread ? ([one, accounts[0]] as const) : ([several, integers(accounts, (account) => account)] as const);
};
