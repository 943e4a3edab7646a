import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { newDatabase, newMigratedDatabase, querySQL } from '../../../../test/fixtures/postgres/databases.ts';
import { simulateCitus, simulateCluster } from '../../../../test/fixtures/postgres/simulated-citus.ts';
import { day } from '../../../../test/fixtures/store.ts';
import type { DatabaseExport, ExportedRow, ExportedTable } from '../../database-export.ts';
import { migrateStore, openStore } from '../../open.ts';
import type { EventRow } from '../../rules/event-row.ts';
import { isTransient } from '../database/connection.ts';
import { copyInto } from './copy.ts';

const time = Date.UTC(2028, 0, 10);
const today = time / day;
const count = 60_000;

const eventOf = (sequence: number): EventRow => ({
  sequence,
  day: today,
  account: 1,
  user: 1,
  contact: null,
  eventID: 1,
  eventUUID: `event-${sequence}`,
  eventTime: time + sequence,
  receivedTime: time,
  timeReplaced: 0,
  server: 0,
  attributes: [['note', `of ${sequence}`]],
});

const rows: Partial<Record<ExportedTable, ExportedRow[]>> = {
  account: [
    {
      account: 1,
      accountUUID: 'account-one',
      accountName: 'A shop',
      accountOrigin: '[]',
      accountTimezone: 'UTC',
      accountCurrency: 'EUR',
      createdTime: time,
      strict: 0,
      browserCatalogue: 0,
      enrich: 1,
      defaultProfileID: 'customer',
      userIDIsEmailaddress: 1,
      nextEventID: 1_000_007,
    },
  ],
  user: [{ user: 1, account: 1, userUUID: 'visitor-one', firstDay: today, lastDay: today, days: 0, createdTime: time }],
  account_day: [
    {
      account: 1,
      day: today,
      count,
      bytes: 0,
      firstSequence: 1,
      lastSequence: count,
      firstTime: time,
      lastTime: time + count,
    },
  ],
};

/** Creates a database with many events. `starts` records the sequence after which each read of events starts. */
const createExport = (changes: Partial<DatabaseExport> = {}) => {
  const starts: number[] = [];
  const exported: DatabaseExport = {
    position: { sequence: count, day: today, clockDay: today, secret: Buffer.alloc(32, 1) },
    numbers: { contact: 0, claim: 0, refused_request: 0 },
    rows: (table) => [rows[table] ?? []],
    *eventsAfter(sequence) {
      starts.push(sequence);
      for (let after = sequence; after < count; after += 1_000) {
        yield Array.from({ length: 1_000 }, (_, nth) => eventOf(after + 1 + nth));
      }
    },
    close: () => {},
    ...changes,
  };
  return { exported, starts };
};

const countCopied = async (databaseURL: string) => {
  const rows = await querySQL<{ events: string; different: string; last: string }>(
    databaseURL,
    'SELECT count(*) AS events, count(DISTINCT sequence) AS different, max(sequence) AS last FROM event',
  );
  const [{ events, different, last } = { events: '', different: '', last: '' }] = rows;
  return { events: Number(events), different: Number(different), last: Number(last) };
};
const ignoreProgress = () => {};

/** Ends all connections to a database, and waits until they are gone. Blocks this process in the meantime. */
const endOtherConnections = (databaseURL: string) => {
  const script = `import pg from 'pg';
    const client = new pg.Client(process.argv[1]);
    await client.connect();
    await client.query(\`SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'\`);
    await client.end();`;
  execFileSync(process.execPath, ['--input-type=module', '-e', script, databaseURL], { cwd: import.meta.dirname });
};

describe('a copy', () => {
  test('resumes after the last committed events after an interruption', async () => {
    const databaseURL = await newDatabase();
    const { exported, starts } = createExport();
    const interrupted = new Error('interrupted');
    const reports: object[] = [];
    const first = copyInto(databaseURL, exported, (progress) => {
      reports.push(progress);
      throw interrupted;
    });
    await expect(first).rejects.toBe(interrupted);
    expect(await countCopied(databaseURL)).toEqual({ events: 50_000, different: 50_000, last: 50_000 });
    await copyInto(databaseURL, exported, (progress) => reports.push(progress));
    expect(starts).toEqual([0, 50_000]);
    expect(reports).toEqual([
      { sequence: 50_000, last: count, events: 50_000 },
      { sequence: count, last: count, events: 10_000 },
    ]);
    expect(await countCopied(databaseURL)).toEqual({ events: count, different: count, last: count });

    const store = await openStore({ databaseURL, role: 'server', onFatal: expect.unreachable as never });
    const { events } = await store.getEvents({ account: 1, order: 'desc', limit: 1 });
    expect(events).toMatchObject([{ eventUUID: `event-${count}`, attributes: [['note', `of ${count}`]] }]);
    await store.close();
  });

  test('commits fewer events at a time if they are large', async () => {
    const databaseURL = await newDatabase();
    const many = 1_000;
    const { exported } = createExport({
      *eventsAfter(sequence) {
        for (let next = sequence + 1; next <= many; next += 1) {
          yield [{ ...eventOf(next), attributes: [['note', 'x'.repeat(40_000)]] }];
        }
      },
    });
    const commits: number[] = [];
    await copyInto(databaseURL, exported, ({ sequence }) => commits.push(sequence));
    // 16 MiB has room for this many events of just over 40,000 bytes.
    expect(commits).toEqual([420, 840, many]);
    expect(await countCopied(databaseURL)).toEqual({ events: many, different: many, last: many });
  });

  test('skips repeats from days that are no longer searched', async () => {
    const databaseURL = await newDatabase();
    const request = { requestUUID: 'request-one', token: 1, user: 1, contact: 1, claim: null, existed: 0 };
    const days = Array.from({ length: 10 }, (_, nth) => today - nth);
    const repeats: Partial<Record<ExportedTable, ExportedRow[]>> = {
      request_repeat: [today - 9, today].map((day) => ({ ...request, day })),
      erased_repeat: days.map((day) => ({ day, hash: Buffer.alloc(16, day) })),
    };
    const { exported } = createExport({ rows: (table) => [repeats[table] ?? rows[table] ?? []] });
    await copyInto(databaseURL, exported, ignoreProgress);
    const daysOf = async (table: string) =>
      (await querySQL<{ day: number }>(databaseURL, `SELECT day FROM ${table} ORDER BY day DESC`)).map(
        ({ day }) => day,
      );
    expect(await daysOf('request_repeat')).toEqual([today]);
    expect(await daysOf('erased_repeat')).toEqual(days.slice(0, 9));
    expect(await daysOf('kept_day')).toEqual(days.slice(0, 9));
  });

  test('does not resume if the source has changed or is a different database', async () => {
    const databaseURL = await newDatabase();
    const { exported } = createExport();
    const interrupt = () => {
      throw new Error('interrupted');
    };
    await expect(copyInto(databaseURL, exported, interrupt)).rejects.toThrow('interrupted');
    const { position } = exported;
    for (const change of [{ sequence: count + 1 }, { day: today + 1 }, { secret: Buffer.alloc(32, 2) }]) {
      const other = createExport({ position: { ...position, ...change } });
      await expect(copyInto(databaseURL, other.exported, ignoreProgress)).rejects.toThrow(
        /incomplete copy of another database/,
      );
      expect(other.starts).toEqual([]);
    }
    await copyInto(databaseURL, exported, ignoreProgress);
    expect(await countCopied(databaseURL)).toMatchObject({ events: count, different: count });
  });

  test('rolls back and rethrows when the source cannot be read', async () => {
    const databaseURL = await newDatabase();
    const damaged = new Error('this database is damaged');
    const { exported } = createExport({
      *rows(table) {
        yield rows[table] ?? [];
        if (table === 'claim') throw damaged;
      },
    });
    await expect(copyInto(databaseURL, exported, ignoreProgress)).rejects.toBe(damaged);
    expect(await querySQL(databaseURL, 'SELECT 1 FROM account')).toEqual([]);
    await copyInto(databaseURL, createExport().exported, ignoreProgress);
    expect(await countCopied(databaseURL)).toMatchObject({ events: count });
  });

  test('rethrows PostgreSQL’s error when it rejects a row', async () => {
    const databaseURL = await newDatabase();
    const twice: ExportedRow[] = [...(rows.user ?? []), ...(rows.user ?? [])];
    const { exported } = createExport({ rows: (table) => [table === 'user' ? twice : (rows[table] ?? [])] });
    await expect(copyInto(databaseURL, exported, ignoreProgress)).rejects.toMatchObject({ code: '23505' });
    expect(await querySQL(databaseURL, 'SELECT 1 FROM account')).toEqual([]);
  });

  test('fails when its connection is lost, and resumes when it is run again', async () => {
    const databaseURL = await newDatabase();
    await migrateStore(databaseURL, { citus: false });
    await querySQL(
      databaseURL,
      `CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
         IF NEW.sequence = 55000 THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF;
         RETURN NEW;
       END $$;
       CREATE TRIGGER lose BEFORE INSERT ON event FOR EACH ROW EXECUTE FUNCTION lose()`,
    );
    const { exported, starts } = createExport();
    await expect(copyInto(databaseURL, exported, ignoreProgress)).rejects.toSatisfy(isTransient);
    await querySQL(databaseURL, 'DROP TRIGGER lose ON event');
    await copyInto(databaseURL, exported, ignoreProgress);
    expect(starts).toEqual([0, 50_000]);
    expect(await countCopied(databaseURL)).toMatchObject({ events: count, different: count });
  });

  test('fails when its idle connection is lost, and then resumes', async () => {
    const databaseURL = await newDatabase();
    const { exported, starts } = createExport();
    await expect(copyInto(databaseURL, exported, () => endOtherConnections(databaseURL))).rejects.toSatisfy(
      isTransient,
    );
    await copyInto(databaseURL, exported, ignoreProgress);
    expect(starts).toEqual([0, 50_000]);
    expect(await countCopied(databaseURL)).toMatchObject({ events: count, different: count });
  });

  test('prevents the distribution of tables, even before its first commit', async () => {
    const databaseURL = await newMigratedDatabase();
    await simulateCitus(databaseURL);
    const { exported } = createExport({
      async *rows(table) {
        if (table === 'account') {
          await expect(migrateStore(databaseURL, { citus: true, withoutWorkers: true })).rejects.toThrow(
            /is connected to the database/,
          );
        }
        yield rows[table] ?? [];
      },
    });
    await copyInto(databaseURL, exported, ignoreProgress);
    expect(await querySQL(databaseURL, 'SELECT FROM pg_dist_partition')).toEqual([]);
    expect(await countCopied(databaseURL)).toMatchObject({ events: count });
  });

  test('is refused on a cluster while a worker does not sync its commits', async () => {
    const databaseURL = await newMigratedDatabase();
    await simulateCluster(databaseURL);
    const [{ name } = { name: '' }] = await querySQL<{ name: string }>(
      databaseURL,
      'SELECT current_database() AS name',
    );
    await querySQL(databaseURL, `ALTER DATABASE ${name} SET pretended.answer = 'fsync on, synchronous_commit off'`);
    const { exported, starts } = createExport();
    await expect(copyInto(databaseURL, exported, ignoreProgress)).rejects.toThrow(
      /a-worker:5432: .*synchronous_commit off/,
    );
    expect(starts).toEqual([]);
  });
});
