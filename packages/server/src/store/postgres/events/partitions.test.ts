import { afterAll, beforeAll, expect, it } from 'vitest';
import { asking, newDatabase } from '../../../../test/fixtures/postgres/databases.ts';
import { createSite, type Site } from '../../../../test/fixtures/site.ts';
import { openStore } from '../../open.ts';
import { dayMilliseconds, daysKept } from '../../rules/received-day.ts';
import type { Store } from '../../store.ts';
import { onOneConnection } from '../database/connection.ts';
import { prepareNextDay } from './partitions.ts';

let databaseURL: string;
let store: Store;
let site: Site;
beforeAll(async () => {
  databaseURL = await newDatabase();
  store = await openStore({ databaseURL, role: 'server', onFatal: expect.unreachable as never });
  // The last day of a month.
  site = await createSite(store, { time: Date.UTC(2030, 0, 31, 12) });
});
afterAll(() => store.close());

const today = Date.UTC(2030, 0, 31) / dayMilliseconds;
const later = (days: number): number => site.time + days * dayMilliseconds;
const prepare = (time: number) => onOneConnection(databaseURL, (db) => prepareNextDay(db, time));

/** The number of each table of repeats and of events: another one if it is made anew. */
const partitions = async (): Promise<Record<string, number>> => {
  const rows = await asking<{ name: string; oid: number }>(
    databaseURL,
    `SELECT inhrelid::regclass::text AS name, inhrelid::integer AS oid FROM pg_inherits
     WHERE inhparent IN ('event'::regclass, 'event_repeat'::regclass) ORDER BY 1`,
  );
  return Object.fromEntries(rows.map(({ name, oid }) => [name, oid]));
};
const daysBegun = async () =>
  (await asking<{ day: number }>(databaseURL, 'SELECT day FROM kept_day ORDER BY day')).map(({ day }) => day);

it('makes those of the next day, which begins with its first event', async () => {
  await site.server.logAt(later(0), { eventUUID: 'first' });
  await prepare(later(0));
  const made = await partitions();
  expect(Object.keys(made)).toEqual([
    'event_2030_01',
    'event_2030_02',
    `event_repeat_${today}`,
    `event_repeat_${today + 1}`,
  ]);
  await prepare(later(0));
  expect(await daysBegun()).toEqual([today]);
  await site.server.logAt(later(1), { eventUUID: 'first' }, { eventUUID: 'second' });
  expect(await daysBegun()).toEqual([today, today + 1]);
  expect(await partitions()).toEqual(made);
  expect((await site.events()).map(({ eventUUID }) => eventUUID)).toEqual(['first', 'second']);
});

it('drops those of a day under which nothing was stored, and counts none of them among the days that are searched', async () => {
  // A day with events for every two that are prepared.
  const begun = Array.from({ length: daysKept }, (_, nth) => 3 + 2 * nth);
  for (const days of begun) {
    await prepare(later(days - 2));
    await prepare(later(days - 1));
    await site.server.logAt(later(days), { eventUUID: `after-${days}-days` });
  }
  await prepare(later(begun.at(-1) as number));
  const kept = begun.map((days) => today + days);
  expect(await daysBegun()).toEqual(kept);
  const names = Object.keys(await partitions()).filter((name) => name.startsWith('event_repeat'));
  expect(names).toEqual([...kept, (kept.at(-1) as number) + 1].map((day) => `event_repeat_${day}`));
  // A repeat of the oldest day that is searched.
  await site.server.logAt(later(begun.at(-1) as number), { eventUUID: `after-${begun[0]}-days` });
  expect(await site.events()).toHaveLength(2 + begun.length);
});

it('makes the day after the newest, too, where a clock was ahead', async () => {
  const ahead = 1_500;
  await site.server.logAt(later(ahead), { eventUUID: 'ahead' });
  await prepare(later(40));
  expect(Object.keys(await partitions())).toEqual(
    expect.arrayContaining([`event_repeat_${today + 41}`, `event_repeat_${today + ahead + 1}`]),
  );
});
