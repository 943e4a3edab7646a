/** Days of an account: begins the current one, and lists those with events. */
import type { DayRange, DaySpan } from '../../rules/event-pages.ts';
import { type DayUnderWay, dayAt } from '../../rules/received-day.ts';
import type { AccountConnection } from '../database/connection.ts';

/** No account has begun the day yet: `prepareDay` (partitions.ts) comes first. */
export class DayMissing extends Error {
  readonly day: number;
  readonly receivedTime: number;

  constructor(day: number, receivedTime: number) {
    super('a day is not prepared');
    this.day = day;
    this.receivedTime = receivedTime;
  }
}

type OnDay = AccountConnection & { readonly currentDay: DayUnderWay };

/**
 * Makes the day of something received at a time the current day of the transaction's accounts. No other transaction writes rows of these
 * meanwhile, so everything stored under a day is committed before anything is stored under the next, and a repeat around midnight is
 * recognized. Throws DayMissing.
 */
export const beginDay = async (accounts: readonly OnDay[], receivedTime: number): Promise<void> => {
  const days = accounts.map(({ currentDay }) => dayAt(currentDay, receivedTime));
  for (const day of new Set(days.map((each) => each.day)))
    if ((await accounts[0]?.get('SELECT 1 FROM kept_day WHERE day = $1', [day])) === undefined)
      throw new DayMissing(day, receivedTime);
  const sql = 'UPDATE account_position SET day = $2, "clockDay" = $3 WHERE account = $1';
  const changed = await Promise.all(
    accounts.map((db, nth) => db.run(sql, [db.account, days[nth]?.day, days[nth]?.clockDay])),
  );
  if (changed.includes(0)) throw new Error('an account is gone');
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
