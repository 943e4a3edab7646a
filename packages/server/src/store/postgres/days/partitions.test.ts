import { afterAll, describe, expect, it, vi } from 'vitest';
import { asking, newDatabase } from '../../../../test/fixtures/postgres/databases.ts';
import { createSite, type Site } from '../../../../test/fixtures/site.ts';
import { dayMilliseconds } from '../../../shared/time.ts';
import { openStore } from '../../open.ts';
import { daysKept } from '../../rules/received-day.ts';
import type { Store } from '../../store.ts';
import { onOneConnection } from '../database/connection.ts';
import { nextDayFinding } from '../doctor/doctor.ts';
import { keepTending, maxDays, notMade, tendDays } from './partitions.ts';

/** The last day of a month. */
const start = Date.UTC(2030, 0, 31, 12);
const today = Math.floor(start / dayMilliseconds);
const later = (days: number): number => start + days * dayMilliseconds;

const stores: Store[] = [];
afterAll(() => Promise.all(stores.map((store) => store.close())));

/** A site with a database of its own. */
const open = async () => {
  const databaseURL = await newDatabase();
  const store = await openStore({ databaseURL, role: 'server', onFatal: expect.unreachable as never });
  stores.push(store);
  return {
    store,
    databaseURL,
    site: await createSite(store, { time: start }),
    tend: (time: number) => onOneConnection(databaseURL, (db) => tendDays(db, time)),
    /** The number of each table of events and of repeats: another one if it is made anew. */
    async partitions(): Promise<Record<string, number>> {
      const rows = await asking<{ name: string; oid: number }>(
        databaseURL,
        `SELECT inhrelid::regclass::text AS name, inhrelid::integer AS oid FROM pg_inherits
         WHERE inhparent IN ('event'::regclass, 'event_repeat'::regclass) ORDER BY 1`,
      );
      return Object.fromEntries(rows.map(({ name, oid }) => [name, oid]));
    },
    async daysBegun(): Promise<number[]> {
      return (await asking<{ day: number }>(databaseURL, 'SELECT day FROM kept_day ORDER BY day')).map(
        ({ day }) => day,
      );
    },
  };
};
const repeats = (days: readonly number[]) => days.map((day) => `event_repeat_${day}`);
const ofRepeats = (made: Readonly<Record<string, number>>) =>
  Object.keys(made).filter((name) => name.startsWith('event_repeat_'));
const log = (site: Site, days: number, eventUUID: string) => site.server.logAt(later(days), { eventUUID });

describe('the partitions', () => {
  it('of the next day are made, which begins with its first event', async () => {
    const { site, tend, partitions, daysBegun } = await open();
    await log(site, 0, 'first');
    await tend(later(0));
    const made = await partitions();
    expect(Object.keys(made)).toEqual(['event_2030_01', 'event_2030_02', ...repeats([today, today + 1])]);
    await tend(later(0));
    expect(await daysBegun()).toEqual([today]);
    await site.server.logAt(later(1), { eventUUID: 'first' }, { eventUUID: 'second' });
    expect(await daysBegun()).toEqual([today, today + 1]);
    expect(await partitions()).toEqual(made);
    expect((await site.events()).map(({ eventUUID }) => eventUUID)).toEqual(['first', 'second']);
  });

  it('are not made where nothing was stored, or not for long', async () => {
    const { site, tend, partitions } = await open();
    await tend(later(0));
    expect(await partitions()).toEqual({});
    await log(site, 0, 'first');
    const made = await partitions();
    await tend(later(400));
    expect(await partitions()).toEqual(made);
  });

  it('are dropped of days that are no longer searched, and of a day that was not begun', async () => {
    const { site, tend, partitions, daysBegun } = await open();
    // A day with events for every two that are prepared.
    const days = Array.from({ length: daysKept + 2 }, (_, nth) => 2 * nth);
    for (const each of days) {
      if (each > 0) for (const ago of [2, 1]) await tend(later(each - ago));
      await log(site, each, `after-${each}-days`);
    }
    const last = days.at(-1) as number;
    await tend(later(last));
    const kept = days.slice(2).map((each) => today + each);
    expect(await daysBegun()).toEqual(kept);
    expect(ofRepeats(await partitions())).toEqual(repeats([...kept, today + last + 1]));
    // A repeat of the oldest day that is searched.
    await log(site, last, `after-${days[2]}-days`);
    expect(await site.events()).toHaveLength(days.length);
  });

  it('of a day that was not begun are dropped without what is known of earlier days', async () => {
    const { site, databaseURL, tend, partitions } = await open();
    const request = { userUUID: 'visitor-number-one', requestUUID: 'request-one', address: 'ann@example.com' };
    const { contactUUID } = await site.server.createContact(request);
    await tend(later(0));
    await tend(later(1));
    await log(site, 3, 'after a quiet day'.replaceAll(' ', '-'));
    await tend(later(3));
    expect(ofRepeats(await partitions())).toEqual(repeats([today, today + 3, today + 4]));
    expect(await asking(databaseURL, 'SELECT day FROM request_repeat')).toEqual([{ day: today }]);
    const again = await site.server.createContact({
      ...request,
      time: later(3),
      newContactUUID: 'another-contact-uuid',
    });
    expect(again.contactUUID).toBe(contactUUID);
  });

  it('of the day that an account is on stay, however many are on later days', async () => {
    const { store, site, tend, daysBegun } = await open();
    const [ahead, further] = [await createSite(store, { time: start }), await createSite(store, { time: start })];
    await log(site, 0, 'right');
    await log(ahead, 30, 'ahead');
    for (let nth = 0; nth < daysKept + 2; nth += 1) await log(further, 1_500 + nth, `further-${nth}`);
    await tend(later(0));
    const kept = [0, 30, ...Array.from({ length: daysKept }, (_, nth) => 1_502 + nth)].map((days) => today + days);
    expect(await daysBegun()).toEqual(kept);
    // Without a new day for any of them.
    await log(ahead, 0, 'still-ahead');
    await log(ahead, 0, 'ahead');
    expect(await ahead.events()).toHaveLength(2);
  });

  it('are made and kept for those whose clock was ahead, and for all others', async () => {
    const { store, site, tend, partitions, daysBegun } = await open();
    const other = await createSite(store, { time: start });
    for (let nth = 0; nth < 7; nth += 1) {
      await log(site, nth, `event-${nth}`);
      await log(other, 1_500 + nth, `event-${nth}`);
      await tend(later(nth));
    }
    // The clock is right again: the days after that one add one each.
    for (let nth = 7; nth < 9; nth += 1) {
      await log(site, nth, `event-${nth}`);
      await log(other, nth, `event-${nth}`);
      await tend(later(nth));
    }
    const right = Array.from({ length: 9 }, (_, nth) => today + nth);
    const ahead = Array.from({ length: 8 }, (_, nth) => today + 1_500 + nth);
    expect(await daysBegun()).toEqual([...right, ...ahead]);
    expect(ofRepeats(await partitions())).toEqual(
      expect.arrayContaining(repeats([...right, today + 9, ...ahead, today + 1_508])),
    );
    for (const each of [site, other]) {
      await log(each, 8, 'event-1');
      expect(await each.events()).toHaveLength(9);
    }
  });

  it('are bounded, however fast days pass', async () => {
    const { site, daysBegun, partitions } = await open();
    for (let nth = 0; nth <= maxDays; nth += 1) await log(site, nth, `event-${nth}`);
    const kept = Array.from({ length: daysKept }, (_, nth) => today + maxDays - daysKept + 1 + nth);
    expect(await daysBegun()).toEqual(kept);
    expect(ofRepeats(await partitions())).toEqual(repeats(kept));
  });

  it('refuse events with 503 while one of the day is missing', async () => {
    const { site, databaseURL, tend } = await open();
    await log(site, 0, 'before');
    const refused = { code: 'unavailable', retryAfterSeconds: 1 };
    await asking(databaseURL, `DROP TABLE event_repeat_${today}`);
    await expect(log(site, 0, 'refused')).rejects.toMatchObject(refused);
    await tend(later(0));
    await log(site, 0, 'after');
    expect((await site.events()).map(({ eventUUID }) => eventUUID)).toEqual(['before', 'after']);
    await asking(databaseURL, 'DROP TABLE event_2030_01');
    await expect(log(site, 0, 'refused')).rejects.toMatchObject(refused);
  });

  it('are left to the server that makes them', async () => {
    const { site, databaseURL, tend, partitions } = await open();
    await log(site, 0, 'first');
    const made = await partitions();
    await onOneConnection(databaseURL, async (db) => {
      await db.script('BEGIN; SELECT pg_advisory_xact_lock(2305843009213693954)');
      await tend(later(0));
      await db.commit();
    });
    expect(await partitions()).toEqual(made);
    await tend(later(0));
    expect(Object.keys(await partitions())).toContain(`event_repeat_${today + 1}`);
  });
});

describe('the finding about the next day', () => {
  const examine = (databaseURL: string, time: number, patience?: number) =>
    onOneConnection(databaseURL, (db) => nextDayFinding(db, time, patience));
  const early = { ok: true, detail: 'tomorrow’s (2030-02-02) are not made yet: a server makes them every hour' };
  const made = { ok: true, detail: 'tomorrow’s (2030-02-02) are made' };
  const late = {
    ok: false,
    detail: expect.stringMatching(/^tomorrow’s \(2030-02-02\) are missing, .*: search the servers’ logs/),
  };

  it('says what is missing, until it is made', async () => {
    const { site, databaseURL, tend } = await open();
    await log(site, 0, 'first');
    expect(await examine(databaseURL, later(1), 0)).toMatchObject(late);
    await tend(later(1));
    expect(await examine(databaseURL, later(1), 0)).toMatchObject(made);
  });

  it('does not expect them on the first day with events, after many without, after midnight, or of a server that has just started', async () => {
    const { site, databaseURL } = await open();
    expect(await examine(databaseURL, later(1), 0)).toMatchObject(early);
    await log(site, -daysKept, 'long-ago');
    expect(await examine(databaseURL, later(1), 0)).toMatchObject(early);
    await log(site, 1, 'first-of-today');
    expect(await examine(databaseURL, later(1), 0)).toMatchObject(early);
    const nextNoon = later(2);
    const nextMidnight = nextNoon - 12 * 3_600_000;
    expect(await examine(databaseURL, nextMidnight + 1, 2)).toMatchObject({ ok: true });
    expect(await examine(databaseURL, nextNoon)).toMatchObject({ ok: true });
    expect(await examine(databaseURL, nextNoon, 1)).toMatchObject({ ok: false });
  });

  it('does not expect them while no server runs', async () => {
    const { site, store, databaseURL } = await open();
    await log(site, 0, 'first');
    stores.splice(stores.indexOf(store), 1);
    await store.close();
    // PostgreSQL lists a closed connection until its process has ended.
    await expect.poll(() => examine(databaseURL, later(1), 1)).toMatchObject(early);
  });
});

it('tends after a pause, again after each, sooner after a failure, and ends with the present call', async () => {
  const tend = vi.fn(async () => {});
  const onFault = vi.fn();
  const end = keepTending(tend, onFault, { first: 1, usual: 60_000, failed: 1 });
  expect(tend).not.toHaveBeenCalled();
  await vi.waitUntil(() => tend.mock.calls.length === 1);
  await end();
  expect(onFault).not.toHaveBeenCalled();
  const away = new Error('a machine is away');
  tend.mockRejectedValue(away);
  const endFailing = keepTending(tend, onFault, { first: 1, usual: 1, failed: 1 });
  await vi.waitUntil(() => tend.mock.calls.length > 3);
  // Once until it succeeds.
  expect(onFault.mock.calls).toEqual([[away, expect.stringContaining(notMade)]]);
  tend.mockResolvedValueOnce();
  await vi.waitUntil(() => onFault.mock.calls.length === 2);
  await endFailing();
  const before = tend.mock.calls.length;
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(tend).toHaveBeenCalledTimes(before);
});
