// Tests `firsthand export --since last`, killed at random moments and run again.
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { DuckDBInstance } from '@duckdb/node-api';
import { expect, onTestFinished, test } from 'vitest';
import { lockFile } from '../../src/reports/engine/database.ts';
import { openStore } from '../../src/store/open.ts';
import { firsthandJSON, spawnFirsthand, temporaryDatabase, temporaryFolder } from '../fixtures/command.ts';
import { queryExport, queryFiles } from '../fixtures/exports.ts';
import { createSite } from '../fixtures/site.ts';
import { day } from '../fixtures/store.ts';
import { times } from '../tools/counts.ts';
import { report } from '../tools/report.ts';

const kills = times({ quick: 4, full: 60 });
const eventsPerKill = 4_000;
const users = 50;
const columns = 'sequence, eventUUID, eventName, eventTime, userUUID, contactUUID, attributes';

test('has each event once, and no erased event, although its runs were killed at random moments', async (context) => {
  const { env } = temporaryDatabase();
  const store = await openStore({
    databaseURL: env.DATABASE_URL,
    role: 'server',
    onFatal: expect.unreachable as never,
  });
  onTestFinished(() => store.close());
  const site = await createSite(store);
  const folder = join(temporaryFolder(), 'export');
  const args = ['export', folder, '--account', site.accountUUID, '--since', 'last'];
  let duringRun = 0;
  let before: string | undefined;
  let milliseconds = 0;
  for (let kill = 0; kill < kills; kill += 1) {
    for (let from = 0; from < eventsPerKill; from += 1_000)
      await site.server.log(
        ...Array.from({ length: 1_000 }, (_, nth) => ({
          userUUID: `visitor-number-${(from + nth) % users}`,
          eventTime: site.time - (nth % 20) * day,
        })),
      );
    if (before !== undefined) await site.erase(before);
    const userUUID = `visitor-number-${kill % users}`;
    before = (await site.server.createContact({ userUUID, address: `${kill}@example.com` })).contactUUID;
    const running = spawnFirsthand([...args, '--json'], env);
    // Lets the first run end. Kills each further run at a random moment within the duration of the last run that ended.
    if (kill > 0) await Promise.race([running.ended, wait(milliseconds * (0.2 + 0.8 * Math.random()))]);
    if (kill > 0) running.child.kill('SIGKILL');
    const { code, milliseconds: taken, stderr } = await running.ended;
    if (code === 0) milliseconds = taken;
    expect(code === null || code === 0, stderr).toBe(true);
    if (code === null) duringRun += 1;
  }
  const { restarted } = await firsthandJSON(args, env);
  expect(restarted).toBeNull();
  const all = temporaryFolder();
  await firsthandJSON(['export', all, '--account', site.accountUUID], env);
  const [counted] = await queryFiles(`SELECT count(*)::INTEGER AS events FROM '*.parquet'`, all);
  const read = await queryExport(folder, `SELECT ${columns} FROM events ORDER BY sequence`);
  expect(read.length).toBe(counted?.events);
  expect(read).toEqual(await queryFiles(`SELECT ${columns} FROM '*.parquet' ORDER BY sequence`, all));
  expect(duringRun).toBeGreaterThan(kills / 3);
  report(context, {
    fault: 'export killed while it writes',
    count: `${kills} × kill -9, ${duringRun} of them during a run`,
    result: `${read.length} events, each once; no erased one`,
    weakened: '—',
  });
});

test('waits for another export to the same folder, and reports that it waits', async () => {
  const { env } = temporaryDatabase();
  const { accountUUID } = await firsthandJSON(['account', 'create', '--name', 'Shop'], env);
  const folder = temporaryFolder();
  const args = ['export', folder, '--account', accountUUID, '--since', 'last'];
  await firsthandJSON(args, env);
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  await lockFile(connection, join(folder, '.lock'), '');
  expect(await spawnFirsthand(args, env).ended).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`another export writes to ${folder}: wait until it ends`),
  });
  connection.closeSync();
  instance.closeSync();
  expect(await spawnFirsthand(args, env).ended).toMatchObject({ code: 0 });
});
