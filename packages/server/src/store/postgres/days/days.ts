/** Days of an account: begins the current one, and lists those with events. */
import type { DayRange, DaySpan } from '../../rules/event-pages.ts';
import { type DayUnderWay, dayAt, hasDayToBegin } from '../../rules/received-day.ts';
import { integers } from '../database/arrays.ts';
import type { AccountConnection } from '../database/connection.ts';
import { aboutRows, type SpreadConnection, writeRows } from '../database/row-statements.ts';

/** No account has begun these days yet: `prepareDay` (partitions.ts) comes first. */
export class DaysMissing extends Error {
  readonly days: readonly number[];
  readonly receivedTime: number;

  constructor(days: readonly number[], receivedTime: number) {
    super('a day is not prepared');
    this.days = days;
    this.receivedTime = receivedTime;
  }
}

/** An account of a transaction. */
interface OnDay extends SpreadConnection {
  readonly begun: DayUnderWay & { readonly version: number };
}

const beginning = aboutRows(
  [
    ['day', 'integer'],
    ['clockDay', 'integer'],
  ],
  ({ given, ofAccount }) => `
    UPDATE account_position p SET day = given.day, "clockDay" = given."clockDay" FROM ${given} WHERE ${ofAccount('p')}`,
);

/**
 * Makes the day of something received at a time the current day of the transaction's accounts. No other transaction writes rows of these
 * meanwhile, so everything stored under a day is committed before anything is stored under the next, and a repeat around midnight is
 * recognized. Another server may have begun it. Throws DaysMissing.
 */
export const beginDay = async (accounts: readonly OnDay[], receivedTime: number): Promise<void> => {
  const gone = accounts.find(({ begun }) => begun.version < 0);
  if (gone) throw new Error(`account ${gone.account} is gone`);
  const changes = accounts
    .filter(({ begun }) => hasDayToBegin(begun, receivedTime))
    .map(({ account, begun }) => ({ account, ...dayAt(begun, receivedTime) }));
  const [first] = accounts;
  if (!first || changes.length === 0) return;
  const days = [...new Set(changes.map(({ day }) => day))];
  const prepared = await first.all<{ day: number }>('SELECT day FROM kept_day WHERE day = ANY ($1::integer[])', [days]);
  const missing = days.filter((day) => !prepared.some((row) => row.day === day));
  if (missing.length > 0) throw new DaysMissing(missing, receivedTime);
  await writeRows(first, {
    statement: beginning,
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
