/** Starts an account's current day, and lists the account's days with events. */
import type { DayRange, DaySpan } from '../../rules/event-pages.ts';
import { type CurrentDay, dayAt, startsNewDay } from '../../rules/received-day.ts';
import { integers } from '../database/arrays.ts';
import type { AccountConnection } from '../database/connection.ts';
import { type ClusterAwareConnection, createBatchStatement, writeRows } from '../database/row-statements.ts';

/** Thrown if days are not prepared yet: `prepareDay` (partitions.ts) must run first. */
export class DaysMissing extends Error {
  readonly days: readonly number[];
  readonly receivedTime: number;

  constructor(days: readonly number[], receivedTime: number) {
    super('a day is not prepared');
    this.days = days;
    this.receivedTime = receivedTime;
  }
}

/** A transaction for one account. */
interface DayTransaction extends ClusterAwareConnection {
  readonly initialState: CurrentDay & { readonly version: number };
}

const updateDays = createBatchStatement(
  [
    ['day', 'integer'],
    ['clockDay', 'integer'],
  ],
  ({ batch, ofAccount }) => `
    UPDATE account_position p SET day = batch.day, "clockDay" = batch."clockDay" FROM ${batch} WHERE ${ofAccount('p')}`,
);

/**
 * Starts the day of a received time for a transaction's accounts, unless another server has started it. Throws
 * DaysMissing if the day is not prepared. The transaction is exclusive, so a day's rows are committed before anything
 * is stored under the next day, and repeats are recognized.
 */
export const beginDay = async (accounts: readonly DayTransaction[], receivedTime: number): Promise<void> => {
  const deleted = accounts.find(({ initialState }) => initialState.version < 0);
  if (deleted) throw new Error(`account ${deleted.account} was deleted`);
  const changes = accounts
    .filter(({ initialState }) => startsNewDay(initialState, receivedTime))
    .map(({ account, initialState }) => ({ account, ...dayAt(initialState, receivedTime) }));
  const [first] = accounts;
  if (!first || changes.length === 0) return;
  const days = [...new Set(changes.map(({ day }) => day))];
  const prepared = await first.all<{ day: number }>('SELECT day FROM kept_day WHERE day = ANY ($1::integer[])', [days]);
  const missing = days.filter((day) => !prepared.some((row) => row.day === day));
  if (missing.length > 0) throw new DaysMissing(missing, receivedTime);
  await writeRows(first, {
    statement: updateDays,
    accounts: changes.map(({ account }) => account),
    columns: [integers(changes, ({ day }) => day), integers(changes, ({ clockDay }) => clockDay)],
  });
};

/** Returns the days on which an account has events, ascending. */
export const daysOf = (db: AccountConnection, { account, from, to, after, through }: DayRange): Promise<DaySpan[]> =>
  db.all<DaySpan>(
    `SELECT day, min("firstSequence") AS "firstSequence", max("lastSequence") AS "lastSequence"
     FROM account_day WHERE account = $1 GROUP BY day
     HAVING max("lastTime") >= $2 AND min("firstTime") < $3 AND max("lastSequence") > $4 AND min("firstSequence") <= $5
     ORDER BY day`,
    [account, from, to, after, through],
  );
