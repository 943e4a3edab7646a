// Tests workers with settings that would let a crash undo acknowledged commits.
import { createClient, type FirsthandError } from '@firsthand/client';
import { expect, onTestFinished, test } from 'vitest';
import { openStore } from '../../../src/store/open.ts';
import { runOnConnection } from '../../../src/store/postgres/database/connection.ts';
import { firsthand } from '../../fixtures/command.ts';
import { querySQL } from '../../fixtures/postgres/sql.ts';
import { createSite } from '../../fixtures/site.ts';
import { freePort } from '../../tools/ports.ts';
import { startServerProcess, stopServerProcess } from '../../tools/server-process.ts';
import { getNodeURL, type Node } from '../cluster.ts';
import { type Account, useOwnCluster } from '../tools/own-cluster.ts';

const cluster = useOwnCluster();

/** Turns off a setting on a worker until the returned function is called or the test ends. */
const turnOff = async (node: Node, setting: 'fsync' | 'synchronous_commit'): Promise<() => Promise<void>> => {
  const url = getNodeURL(cluster.cluster(), node, 'postgres');
  const alter = async (change: string) => {
    await querySQL(url, `ALTER SYSTEM ${change}`);
    await querySQL(url, 'SELECT pg_reload_conf()');
  };
  const turnOn = () => alter(`RESET ${setting}`);
  onTestFinished(turnOn);
  await alter(`SET ${setting} = off`);
  return turnOn;
};

const examineDurability = async (databaseURL: string) => {
  const { stdout } = await firsthand(['doctor', '--json'], { DATABASE_URL: databaseURL });
  const { finding } = JSON.parse(stdout) as { finding: { name: string; ok: boolean; detail: string }[] };
  return finding.find(({ name }) => name === 'durability');
};

test('refuses writes on a worker with fsync off, and accepts writes on the other worker', async () => {
  const { databaseURL, accounts } = await cluster.newDatabase();
  const [unsafe, safe] = accounts as [Account, Account];
  const server = await startServerProcess('', await freePort(), { env: { DATABASE_URL: databaseURL } });
  const log = ({ token }: Account): Promise<number> =>
    createClient({ url: server.url, token, retries: 0 })
      .logEvent({ userUUID: 'a-browser-of-somebody', eventID: 1 })
      .then(
        () => 200,
        (error: FirsthandError) => error.status,
      );
  for (const account of accounts) expect(await log(account)).toBe(200);
  const turnOn = await turnOff(unsafe.node, 'fsync');
  // Polls, because each process reloads its settings only before its next command.
  await expect.poll(() => log(unsafe)).toBe(503);
  expect(await log(safe)).toBe(200);
  expect(await examineDurability(databaseURL)).toMatchObject({
    ok: false,
    detail: expect.stringMatching(new RegExp(`${unsafe.node}:\\d+: fsync off`)),
  });
  const store = await openStore({ databaseURL, role: 'command', onFatal: expect.unreachable as never });
  onTestFinished(() => store.close());
  const created = new Set<string>();
  for (let nth = 0; nth < 64 && created.size < 2; nth += 1)
    created.add(
      await createSite(store).then(
        () => 'created',
        ({ code }) => code,
      ),
    );
  expect(created).toEqual(new Set(['created', 'unavailable']));
  await turnOn();
  await expect.poll(() => log(unsafe)).toBe(200);
  expect(await examineDurability(databaseURL)).toMatchObject({ ok: true });
  expect(await stopServerProcess(server)).toBe(0);
});

test('commits synchronously even if a worker has synchronous_commit off, and ends transactions idle for a minute', async () => {
  const { databaseURL, accounts } = await cluster.newDatabase();
  const [{ node }] = accounts as [Account];
  await turnOff(node, 'synchronous_commit');
  const numbers = await querySQL<{ account: number }>(databaseURL, 'SELECT account FROM account WHERE account > 0');
  const settings = new Set<string>();
  await runOnConnection(databaseURL, async (db) => {
    for (const { account } of numbers) {
      // A statement that Citus runs on the account's worker.
      const sql = `SELECT current_setting('synchronous_commit') || ' ' || current_setting('idle_in_transaction_session_timeout') AS value FROM account_position WHERE account = ${account}`;
      const before = await db.one<{ value: string }>(sql);
      await db.script('BEGIN');
      await db.all('SELECT * FROM begin_writing($1, false, NULL)', [account]);
      const during = await db.one<{ value: string }>(sql);
      await db.script('ROLLBACK');
      settings.add(`${before.value}, then ${during.value}`);
    }
  });
  expect(settings).toEqual(new Set(['off 0, then on 1min', 'on 0, then on 1min']));
});
