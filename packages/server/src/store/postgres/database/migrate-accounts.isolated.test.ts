// Tests that migration 0031, which adds the account to the keys of all tables, does not change what reads return.
import { readFileSync } from 'node:fs';
import pg from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import { newDatabase, querySQL } from '../../../../test/fixtures/postgres/databases.ts';
import { day, laptop, newEvent } from '../../../../test/fixtures/store.ts';
import { migrateStore, openStore } from '../../open.ts';
import type { AccountDetail, EventOutcome, NewEvent, StoredEvent } from '../../store.ts';
import { monthSQL } from '../days/partitions.ts';

const lastMigration = vi.hoisted(() => ({ number: Infinity }));
vi.mock('../../migrations.ts', async (importOriginal) => {
  const original = await importOriginal<typeof import('../../migrations.ts')>();
  const readMigrations = (folder: URL) =>
    original.readMigrations(folder).filter(({ number }) => number <= lastMigration.number);
  return { readMigrations, findNewestMigration: (folder: URL) => readMigrations(folder).at(-1)?.number };
});

/** The rows that the previous version stored, and what it returned for each account. */
interface Before {
  readonly tables: Readonly<Record<string, readonly Record<string, unknown>[]>>;
  readonly sequences: Readonly<Record<string, number>>;
  readonly read: readonly (Record<string, unknown> & {
    readonly account: number;
    readonly server: number;
    readonly time: number;
    readonly events: readonly StoredEvent[];
    readonly contacts: readonly (readonly [contactUUID: string, detail: unknown])[];
    readonly detail: AccountDetail;
  })[];
}
const lines = readFileSync(
  new URL('../../../../test/fixtures/postgres/before-accounts.jsonl', import.meta.url),
  'utf8',
);
const before: Before = Object.assign(
  {},
  ...lines
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line)),
);

/** Creates the database as the previous version would have left it. */
const createBefore = async (databaseURL: string): Promise<void> => {
  lastMigration.number = 27;
  await migrateStore(databaseURL, { citus: false });
  lastMigration.number = Infinity;
  const { kept_day: days = [] } = before.tables;
  const partitions = days.map(
    ({ day }) => `${monthSQL(day as number)};
      CREATE TABLE event_repeat_${day} PARTITION OF event_repeat (PRIMARY KEY (holder, key)) FOR VALUES IN (${day});`,
  );
  await querySQL(databaseURL, partitions.join('\n'));
  const client = new pg.Client(databaseURL);
  await client.connect();
  // Disables triggers, because the rows that they created are copied too.
  await client.query('SET session_replication_role = replica; TRUNCATE position');
  for (const [table, rows] of Object.entries(before.tables)) {
    await client.query(
      `INSERT INTO "${table}" OVERRIDING SYSTEM VALUE SELECT * FROM jsonb_populate_recordset(NULL::"${table}", $1)`,
      [JSON.stringify(rows)],
    );
  }
  for (const [sequence, last] of Object.entries(before.sequences)) {
    await client.query('SELECT setval($1, $2)', [`"${sequence}"`, last]);
  }
  await client.end();
};

test('migrates a database so that it reads the same, recognizes repeats and stores new events', async () => {
  const databaseURL = await newDatabase();
  await createBefore(databaseURL);
  const store = await openStore({ databaseURL, role: 'server', onFatal: expect.unreachable as never });
  onTestFinished(() => store.close());
  for (const { account, browser, server, time, contacts, ...read } of before.read) {
    const get = async (contactUUID: string) =>
      store.getContact({ account, token: server, browser: false, contactUUID, include: ['claim', 'link', 'merge'] });
    const now = {
      events: (await store.getEvents({ account, order: 'desc', limit: 1_000 })).events,
      ofLaptop: (await store.getEvents({ account, order: 'desc', limit: 1_000, userUUID: laptop })).events,
      detail: await store.getAccount(account),
      found: (await store.searchContact({ account, limit: 50 })).contacts,
      counted: await store.countRefused({ account }),
      refused: (await store.listRefused({ account, beyond: 0, limit: 10 })).requests,
      audit: (await store.listAudit({ account, limit: 100 })).entries,
      segments: await store.listSegments({ account }),
    };
    // Later versions return more fields.
    expect(JSON.parse(JSON.stringify(now))).toMatchObject(read);
    for (const [contactUUID, detail] of contacts) {
      expect(JSON.parse(JSON.stringify(await get(contactUUID)))).toMatchObject(detail as object);
    }

    const log = (...events: NewEvent[]): Promise<EventOutcome[]> =>
      store.logEvents({ account, token: server, browser: false, receivedTime: time + day, events });
    const eventOf = (eventUUID: string) => newEvent({ userUUID: laptop, eventUUID, eventTime: time + day });
    expect(await log(eventOf('event-of-laptop'), eventOf('event-of-next-day'), eventOf('event-after-it'))).toEqual([
      { kept: false, duplicate: true },
      { kept: false, duplicate: true },
      { kept: true },
    ]);
    const after = await store.getAccount(account);
    expect(after.usage).toEqual({ ...read.detail.usage, events: read.detail.usage.events + 1 });
  }
  // The migration's temporary tables no longer exist.
  expect(await querySQL(databaseURL, "SELECT 1 FROM pg_class WHERE relname IN ('before', 'day_before')")).toEqual([]);
});
