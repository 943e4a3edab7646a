/**
 * Rollups: event counts by eventID and by day. Each connection adds to the rows of its slot, so that no connection
 * waits for another's commit. Reads sum over all slots.
 */
import {
  type CountedEvent,
  createSums,
  type DaySum,
  quarterHourMilliseconds,
  type TotalSum,
} from '../../rules/rollups.ts';
import { bigints } from '../database/arrays.ts';
import { createInsert, type RowBatch, writeRows } from '../database/row-statements.ts';
import type { Transaction } from '../transactions/transaction.ts';

/** The slot of deleted events, whose counts are negative. */
const slotOfDeleted = 0;

const bigintColumns = (...names: readonly string[]) => names.map((name) => [name, 'bigint'] as const);

const totalColumns = ['eventID', 'quarter', 'count', 'firstTime', 'lastTime'] as const;
const addTotals = createInsert('event_total', bigintColumns(...totalColumns, 'slot'), {
  end: `
  ON CONFLICT (account, "eventID", quarter, slot) DO UPDATE SET count = event_total.count + excluded.count,
    "firstTime" = least(event_total."firstTime", excluded."firstTime"),
    "lastTime" = greatest(event_total."lastTime", excluded."lastTime")`,
});

const dayColumns = ['day', 'count', 'bytes', 'firstSequence', 'lastSequence', 'firstTime', 'lastTime'] as const;
const addDays = createInsert('account_day', bigintColumns(...dayColumns, 'slot'), {
  end: `
  ON CONFLICT (account, day, slot) DO UPDATE SET count = account_day.count + excluded.count,
    bytes = account_day.bytes + excluded.bytes,
    "firstSequence" = least(account_day."firstSequence", excluded."firstSequence"),
    "lastSequence" = greatest(account_day."lastSequence", excluded."lastSequence"),
    "firstTime" = least(account_day."firstTime", excluded."firstTime"),
    "lastTime" = greatest(account_day."lastTime", excluded."lastTime")`,
});

const columnsOf = <Name extends string>(
  rows: readonly { readonly [Each in Name]: number | null }[],
  ...names: readonly Name[]
): Buffer[] => names.map((name) => bigints(rows, (row) => row[name]));

type Row<Sum> = { readonly [Name in keyof Sum]: number | null };

const toRows = (
  slot: number,
  { totals, days }: { totals: readonly Row<TotalSum>[]; days: readonly Row<DaySum>[] },
): [RowBatch, RowBatch] => {
  const accountsOf = (rows: readonly { readonly account: number | null }[]) =>
    rows.map(({ account }) => account as number);
  const slots = (rows: readonly unknown[]) => bigints(rows, () => slot);
  return [
    {
      statement: addTotals,
      accounts: accountsOf(totals),
      columns: [...columnsOf(totals, ...totalColumns), slots(totals)],
    },
    { statement: addDays, accounts: accountsOf(days), columns: [...columnsOf(days, ...dayColumns), slots(days)] },
  ];
};

const sumsOf = (events: readonly CountedEvent[]) => {
  const sums = createSums();
  for (const event of events) sums.add(event);
  return sums.take();
};

/** Returns the statements that add events to the rollups. The events must be in ascending order of sequence. */
export const rollupsOf = ({ slot }: Pick<Transaction, 'slot'>, events: readonly CountedEvent[]): [RowBatch, RowBatch] =>
  toRows(slot, sumsOf(events));

/**
 * Subtracts the events that this transaction deleted. Stores times outside of the quarter hour, which make reads look
 * up the first and last events. Does not change a day's bytes, because reads assume that deleted events had the day's
 * average size (usage.ts).
 */
export const subtractFromRollups = async (db: Transaction, events: readonly CountedEvent[]): Promise<void> => {
  if (events.length === 0) return;
  const { totals, days } = sumsOf(events);
  const unchanged = { bytes: 0, firstSequence: null, lastSequence: null, firstTime: null, lastTime: null };
  const rows = toRows(slotOfDeleted, {
    totals: totals.map((sum) => ({
      ...sum,
      count: -sum.count,
      firstTime: sum.quarter * quarterHourMilliseconds - 1,
      lastTime: (sum.quarter + 1) * quarterHourMilliseconds,
    })),
    days: days.map((sum) => ({ ...sum, ...unchanged, count: -sum.count })),
  });
  await Promise.all(rows.map((each) => writeRows(db, each)));
};
