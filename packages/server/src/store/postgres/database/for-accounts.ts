/**
 * Statements about rows that are sent as arrays, of one account or of several. Each statement has two texts. That for one account reads
 * the account's row of `account_position` along: by its number, a Citus cluster finds the machine that runs the whole statement.
 */
import { integers } from './arrays.ts';

type Columns = readonly (readonly [name: string, type: string])[];
/** Returns SQL for the sent rows, a FROM item named `given`: `columns` are names and types of $2, $3, …; `account` is one more. */
type Given = (...columns: Columns) => string;

const arrayOf = (columns: Columns) => columns.map(([, type], nth) => `$${nth + 2}::${type}[]`).join(', ');
const namesOf = (columns: Columns) => columns.map(([name]) => `"${name}"`).join(', ');

const ofOne: Given = (...columns) =>
  `(SELECT p.account, sent.* FROM account_position p, unnest(${arrayOf(columns)}) AS sent (${namesOf(columns)})
    WHERE p.account = $1) AS given`;
const ofSeveral: Given = (...columns) =>
  `unnest($1::integer[], ${arrayOf(columns)}) AS given (account, ${namesOf(columns)})`;

/** Returns a function that takes the account of each row, and returns the text of the statement and the value of its $1. */
export const forAccounts = (write: (given: Given) => string) => {
  const [one, several] = [write(ofOne), write(ofSeveral)];
  return (accounts: readonly number[]): readonly [sql: string, account: unknown] =>
    accounts.every((account) => account === accounts[0])
      ? [one, accounts[0]]
      : [several, integers(accounts, (account) => account)];
};
