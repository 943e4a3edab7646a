import { afterAll, describe, expect, it, vi } from 'vitest';
import { newDatabase, querySQL } from '../../../../test/fixtures/postgres/databases.ts';
import { createSite, type Site } from '../../../../test/fixtures/site.ts';
import { dayMilliseconds } from '../../../shared/time.ts';
import { openStore } from '../../open.ts';
import { dedupDays } from '../../rules/received-day.ts';
import type { Store } from '../../store.ts';
import { runOnConnection } from '../database/connection.ts';
import { nextDayFinding } from '../doctor/doctor.ts';
import { failureText, maintainPartitions, maxDays, startPartitionJob } from './partitions.ts';

/** The last day of a month. */
const start = Date.UTC(2030, 0, 31, 12);
const today = Math.floor(start / dayMilliseconds);
const later = (days: number): number => start + days * dayMilliseconds;

const stores: Store[] = [];
afterAll(() => Promise.all(stores.map((store) => store.close())));

/** Creates a site with its own database. */
const open = async () => {
  const databaseURL = await newDatabase();
  const store = await openStore({ databaseURL, role: 'server', onFatal: expect.unreachable as never });
  stores.push(store);
  return {
    store,
    databaseURL,
    site: await createSite(store, { time: start }),
    maintain: (time: number) => runOnConnection(databaseURL, (db) => maintainPartitions(db, time)),
    /** The OID of each partition of events and repeats: a partition that is recreated gets another OID. */
    async partitions(): Promise<Record<string, number>> {
      const rows = await querySQL<{ name: string; oid: number }>(
        databaseURL,
        `SELECT inhrelid::regclass::text AS name, inhrelid::integer AS oid FROM pg_inherits
         WHERE inhparent IN ('event'::regclass, 'event_repeat'::regclass) ORDER BY 1`,
      );
      return Object.fromEntries(rows.map(({ name, oid }) => [name, oid]));
    },
    async listDays(): Promise<number[]> {
      return (await querySQL<{ day: number }>(databaseURL, 'SELECT day FROM kept_day ORDER BY day')).map(
        ({ day }) => day,
      );
    },
  };
};
const repeats = (days: readonly number[]) => days.map((day) => `event_repeat_${day}`);
const ofRepeats = (created: Readonly<Record<string, number>>) =>
  Object.keys(created).filter((name) => name.startsWith('event_repeat_'));
const log = (site: Site, days: number, eventUUID: string) => site.server.logAt(later(days), { eventUUID });

describe('partitions', () => {
  it('are created for the next day before its first event', async () => {
    const { site, maintain, partitions, listDays } = await open();
    await log(site, 0, 'first');
    await maintain(later(0));
    const created = await partitions();
    expect(Object.keys(created)).toEqual(['event_2030_01', 'event_2030_02', ...repeats([today, today + 1])]);
    await maintain(later(0));
    expect(await listDays()).toEqual([today]);
    await site.server.logAt(later(1), { eventUUID: 'first' }, { eventUUID: 'second' });
    expect(await listDays()).toEqual([today, today + 1]);
    expect(await partitions()).toEqual(created);
    expect((await site.events()).map(({ eventUUID }) => eventUUID)).toEqual(['first', 'second']);
  });

  it('are not created if nothing was stored recently', async () => {
    const { site, maintain, partitions } = await open();
    await maintain(later(0));
    expect(await partitions()).toEqual({});
    await log(site, 0, 'first');
    const created = await partitions();
    await maintain(later(400));
    expect(await partitions()).toEqual(created);
  });

  it('are dropped for days that are no longer searched for repeats, and for a day that never started', async () => {
    const { site, maintain, partitions, listDays } = await open();
    // Gives events to only every second of the prepared days.
    const days = Array.from({ length: dedupDays + 2 }, (_, nth) => 2 * nth);
    for (const each of days) {
      if (each > 0) for (const ago of [2, 1]) await maintain(later(each - ago));
      await log(site, each, `after-${each}-days`);
    }
    const last = days.at(-1) as number;
    await maintain(later(last));
    const expectedDays = days.slice(2).map((each) => today + each);
    expect(await listDays()).toEqual(expectedDays);
    expect(ofRepeats(await partitions())).toEqual(repeats([...expectedDays, today + last + 1]));
    // Sends a repeat of an event from the oldest day that is still searched.
    await log(site, last, `after-${days[2]}-days`);
    expect(await site.events()).toHaveLength(days.length);
  });

  it('are dropped for a day that never started, while earlier days’ repeats are kept', async () => {
    const { site, databaseURL, maintain, partitions } = await open();
    const request = { userUUID: 'visitor-number-one', requestUUID: 'request-one', address: 'ann@example.com' };
    const { contactUUID } = await site.server.createContact(request);
    await maintain(later(0));
    await maintain(later(1));
    await log(site, 3, 'after a quiet day'.replaceAll(' ', '-'));
    await maintain(later(3));
    expect(ofRepeats(await partitions())).toEqual(repeats([today, today + 3, today + 4]));
    expect(await querySQL(databaseURL, 'SELECT day FROM request_repeat')).toEqual([{ day: today }]);
    const again = await site.server.createContact({
      ...request,
      time: later(3),
      newContactUUID: 'another-contact-uuid',
    });
    expect(again.contactUUID).toBe(contactUUID);
  });

  it('are kept for an account’s current day, no matter how many later days there are', async () => {
    const { store, site, maintain, listDays } = await open();
    const [ahead, farAhead] = [await createSite(store, { time: start }), await createSite(store, { time: start })];
    await log(site, 0, 'right');
    await log(ahead, 30, 'ahead');
    for (let nth = 0; nth < dedupDays + 2; nth += 1) await log(farAhead, 1_500 + nth, `far-ahead-${nth}`);
    await maintain(later(0));
    const expectedDays = [0, 30, ...Array.from({ length: dedupDays }, (_, nth) => 1_502 + nth)].map(
      (days) => today + days,
    );
    expect(await listDays()).toEqual(expectedDays);
    // Logs events that don't start a new day.
    await log(ahead, 0, 'still-ahead');
    await log(ahead, 0, 'ahead');
    expect(await ahead.events()).toHaveLength(2);
  });

  it('are created and kept both for accounts whose clock was ahead and for others', async () => {
    const { store, site, maintain, partitions, listDays } = await open();
    const other = await createSite(store, { time: start });
    for (let nth = 0; nth < 7; nth += 1) {
      await log(site, nth, `event-${nth}`);
      await log(other, 1_500 + nth, `event-${nth}`);
      await maintain(later(nth));
    }
    // Logs events with the correct clock again. Each later day adds one partition.
    for (let nth = 7; nth < 9; nth += 1) {
      await log(site, nth, `event-${nth}`);
      await log(other, nth, `event-${nth}`);
      await maintain(later(nth));
    }
    const right = Array.from({ length: 9 }, (_, nth) => today + nth);
    const ahead = Array.from({ length: 8 }, (_, nth) => today + 1_500 + nth);
    expect(await listDays()).toEqual([...right, ...ahead]);
    expect(ofRepeats(await partitions())).toEqual(
      expect.arrayContaining(repeats([...right, today + 9, ...ahead, today + 1_508])),
    );
    for (const each of [site, other]) {
      await log(each, 8, 'event-1');
      expect(await each.events()).toHaveLength(9);
    }
  });

  it('are limited in number, no matter how fast days pass', async () => {
    const { site, listDays, partitions } = await open();
    for (let nth = 0; nth <= maxDays; nth += 1) await log(site, nth, `event-${nth}`);
    const expectedDays = Array.from({ length: dedupDays }, (_, nth) => today + maxDays - dedupDays + 1 + nth);
    expect(await listDays()).toEqual(expectedDays);
    expect(ofRepeats(await partitions())).toEqual(repeats(expectedDays));
  });

  it('make events fail with 503 while a partition for the day is missing', async () => {
    const { site, databaseURL, maintain } = await open();
    await log(site, 0, 'before');
    const refused = { code: 'unavailable', retryAfterSeconds: 1 };
    await querySQL(databaseURL, `DROP TABLE event_repeat_${today}`);
    await expect(log(site, 0, 'refused')).rejects.toMatchObject(refused);
    await maintain(later(0));
    await log(site, 0, 'after');
    expect((await site.events()).map(({ eventUUID }) => eventUUID)).toEqual(['before', 'after']);
    await querySQL(databaseURL, 'DROP TABLE event_2030_01');
    await expect(log(site, 0, 'refused')).rejects.toMatchObject(refused);
  });

  it('are created and dropped only by the server that holds the lock', async () => {
    const { site, databaseURL, maintain, partitions } = await open();
    await log(site, 0, 'first');
    const created = await partitions();
    await runOnConnection(databaseURL, async (db) => {
      await db.script('BEGIN; SELECT pg_advisory_xact_lock(2305843009213693954)');
      await maintain(later(0));
      await db.commit();
    });
    expect(await partitions()).toEqual(created);
    await maintain(later(0));
    expect(Object.keys(await partitions())).toContain(`event_repeat_${today + 1}`);
  });
});

describe('nextDayFinding', () => {
  const examine = (databaseURL: string, time: number, gracePeriod?: number) =>
    runOnConnection(databaseURL, (db) => nextDayFinding(db, time, gracePeriod));
  const early = {
    ok: true,
    detail: 'tomorrow’s (2030-02-02) do not exist yet: a server creates them in its hourly run',
  };
  const existing = { ok: true, detail: 'tomorrow’s (2030-02-02) exist' };
  const late = {
    ok: false,
    detail: expect.stringMatching(/^tomorrow’s \(2030-02-02\) are missing, .*: search the servers’ logs/),
  };

  it('reports missing partitions until they are created', async () => {
    const { site, databaseURL, maintain } = await open();
    await log(site, 0, 'first');
    expect(await examine(databaseURL, later(1), 0)).toMatchObject(late);
    await maintain(later(1));
    expect(await examine(databaseURL, later(1), 0)).toMatchObject(existing);
  });

  it('expects no partitions on the first day with events, after many days without events, after midnight or after a start', async () => {
    const { site, databaseURL } = await open();
    expect(await examine(databaseURL, later(1), 0)).toMatchObject(early);
    await log(site, -dedupDays, 'long-ago');
    expect(await examine(databaseURL, later(1), 0)).toMatchObject(early);
    await log(site, 1, 'first-of-today');
    expect(await examine(databaseURL, later(1), 0)).toMatchObject(early);
    const nextNoon = later(2);
    const nextMidnight = nextNoon - 12 * 3_600_000;
    expect(await examine(databaseURL, nextMidnight + 1, 2)).toMatchObject({ ok: true });
    expect(await examine(databaseURL, nextNoon)).toMatchObject({ ok: true });
    expect(await examine(databaseURL, nextNoon, 1)).toMatchObject({ ok: false });
  });

  it('expects no partitions while no server runs', async () => {
    const { site, store, databaseURL } = await open();
    await log(site, 0, 'first');
    stores.splice(stores.indexOf(store), 1);
    await store.close();
    // Polls because PostgreSQL lists a closed connection until its process has exited.
    await expect.poll(() => examine(databaseURL, later(1), 1)).toMatchObject(early);
  });
});

it('runs maintenance periodically and sooner after a failure, and stops after the current run', async () => {
  const maintain = vi.fn(async () => {});
  const onFault = vi.fn();
  const stop = startPartitionJob(maintain, onFault, { first: 1, usual: 60_000, failed: 1 });
  expect(maintain).not.toHaveBeenCalled();
  await vi.waitUntil(() => maintain.mock.calls.length === 1);
  await stop();
  expect(onFault).not.toHaveBeenCalled();
  const error = new Error('a machine is unavailable');
  maintain.mockRejectedValue(error);
  const stopFailing = startPartitionJob(maintain, onFault, { first: 1, usual: 1, failed: 1 });
  await vi.waitUntil(() => maintain.mock.calls.length > 3);
  // Expects one report of the failure, because no run has succeeded since.
  expect(onFault.mock.calls).toEqual([[error, expect.stringContaining(failureText)]]);
  maintain.mockResolvedValueOnce();
  await vi.waitUntil(() => onFault.mock.calls.length === 2);
  await stopFailing();
  const before = maintain.mock.calls.length;
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(maintain).toHaveBeenCalledTimes(before);
});
