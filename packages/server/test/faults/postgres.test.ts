// Tests two servers that share a PostgreSQL database: a server is killed, or the database stops and restarts.
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { times } from '../tools/counts.ts';
import { freePort } from '../tools/ports.ts';
import { report } from '../tools/report.ts';
import { type ServerProcess, startServerProcess, stopServerProcess } from '../tools/server-process.ts';
import { changeServer } from '../tools/weakened-server.ts';
import { acknowledgingEarlyOnPostgres, withoutSyncOnPostgres } from '../weaknesses/store.ts';
import { createLedger, judge, readEverything } from './tools/ledger.ts';
import { useOwnPostgres } from './tools/own-postgres.ts';

const kills = times({ quick: 4, full: 100 });
const stops = times({ quick: 2, full: 30 });
/** The maximum number of kills: several, because nothing might have been acknowledged just before a kill. */
const weakenedKills = 8;
const clients = 8;

const postgres = useOwnPostgres();

/** Creates a database with an account. Returns the token and a function that starts servers on it. */
const setUp = async (name: string, main?: string) => {
  const { databaseURL, token } = await postgres.createDatabase(name);
  const start = (port: number): Promise<ServerProcess> =>
    startServerProcess('', port, { main, env: { DATABASE_URL: databaseURL, LOG_LEVEL: 'silent' } });
  return { token, start };
};

const compareAndSettle = async (ledger: ReturnType<typeof createLedger>, url: string, token: string) => {
  const { lost } = judge(ledger, await readEverything(url, token));
  // Retries unacknowledged events, which must not store an event twice.
  await ledger.settle(url, token);
  const { twice } = judge(ledger, await readEverything(url, token));
  return { lost, twice, acknowledged: ledger.acknowledged.size };
};

/**
 * Repeatedly kills one of two servers under load, while the other server keeps serving. A weakened server is killed
 * only until it has lost an event.
 */
const killRepeatedly = async (name: string, count: number, main?: string) => {
  const { token, start } = await setUp(name, main);
  const [port, otherPort] = [await freePort(), await freePort()];
  const other = await start(otherPort);
  const ledger = createLedger(clients);
  let kills = 0;
  for (let kill = 1; kill <= count; kill += 1) {
    const served = await start(port);
    const loads = [served, other].map(({ url }) => ledger.send(url, token));
    await wait(100 + Math.random() * 300);
    served.process.kill('SIGKILL');
    await served.ended;
    await Promise.all(loads.map((load) => load.stop()));
    kills = kill;
    if (main !== undefined && judge(ledger, await readEverything(other.url, token)).lost > 0) break;
  }
  const result = await compareAndSettle(ledger, other.url, token);
  await stopServerProcess(other);
  return { ...result, kills };
};

test(`neither loses nor duplicates events when one of two servers is killed ${kills} times`, async (context) => {
  const result = await killRepeatedly('ours_killed', kills);
  expect(result).toMatchObject({ lost: 0, twice: 0 });
  expect(result.acknowledged).toBeGreaterThan(kills * 20);
  const main = changeServer(postgres.folder(), 'early', acknowledgingEarlyOnPostgres);
  const weakened = await killRepeatedly('weakened_killed', weakenedKills, main);
  expect(weakened.lost).toBeGreaterThan(0);
  report(context, {
    fault: 'one of two servers on PostgreSQL killed',
    count: `${kills} × kill -9, ${result.acknowledged} events`,
    result: '0 lost, 0 twice, the other server kept serving',
    weakened: `responds before the commit: ${weakened.lost} lost in ${weakened.kills} kills`,
  });
});

/** Stops PostgreSQL under load as if its machine lost power, and restarts it, while the servers keep running. */
const stopRepeatedly = async (name: string, count: number, main?: string) => {
  const { token, start } = await setUp(name, main);
  const servers = [await start(await freePort()), await start(await freePort())] as const;
  const ledger = createLedger(clients);
  for (let stop = 0; stop < count; stop += 1) {
    const loads = servers.map(({ url }) => ledger.send(url, token));
    await wait(300 + Math.random() * 300);
    await postgres.stop();
    await wait(300);
    await postgres.start();
    for (const { url } of servers) while (!(await ledger.sendOne(url, token))) await wait(20);
    await Promise.all(loads.map((load) => load.stop()));
  }
  const result = await compareAndSettle(ledger, servers[1].url, token);
  const { endings, withoutRetryAfter } = ledger;
  for (const server of servers) expect(await stopServerProcess(server)).toBe(0);
  return { ...result, endings, withoutRetryAfter };
};

test(`neither loses nor duplicates events when PostgreSQL stops ${stops} times, and responds with 503 in the meantime`, async (context) => {
  const result = await stopRepeatedly('ours_stopped', stops);
  expect(result).toMatchObject({ lost: 0, twice: 0, withoutRetryAfter: 0 });
  expect([...result.endings.keys()].sort()).toEqual(['200', '503']);
  const main = changeServer(postgres.folder(), 'unsynced', withoutSyncOnPostgres);
  const weakened = await stopRepeatedly('weakened_stopped', 3, main);
  expect(weakened.lost).toBeGreaterThan(0);
  report(context, {
    fault: 'PostgreSQL stops as if power were cut',
    count: `${stops} × immediate, ${result.acknowledged} events through two servers`,
    result: `0 lost, 0 twice, ${result.endings.get('503')} × 503 with Retry-After, no server restarted`,
    weakened: `commits without a sync: ${weakened.lost} lost in 3 stops`,
  });
});
