import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createClient } from '@firsthand/client';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { restoreStore } from '../../src/store/open.ts';
import { soon } from '../fixtures/timeouts.ts';
import { times } from '../tools/counts.ts';
import { freePort } from '../tools/ports.ts';
import { report } from '../tools/report.ts';
import { createTestAccount, startServerProcess, stopServerProcess, withoutLimits } from '../tools/server-process.ts';
import { createLedger, judge, readEverything } from './tools/ledger.ts';

const drills = times({ quick: 1, full: 20 });
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'firsthand-backups-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const backupsIn = (backups: string): string[] => {
  try {
    return readdirSync(backups).filter((name) => name.endsWith('.db'));
  } catch {
    return [];
  }
};

/**
 * Makes a backup every ten seconds under load, erases a contact after the second backup, kills the server, and restores
 * the newest backup in another folder.
 */
const drill = async (nth: number) => {
  const path = join(folder, `${nth}.db`);
  const backups = join(folder, `backups-${nth}`);
  const token = await createTestAccount(path);
  const port = await freePort();
  const env = { BACKUP_DIR: backups, BACKUP_EVERY: '10s', BACKUP_KEEP: '2', RATE_LIMIT: withoutLimits() };
  const served = await startServerProcess(path, port, { env });
  const client = createClient({ url: served.url, token });
  const create = (name: string) =>
    client.createContact({
      userUUID: `browser-of-${name}-here`,
      contactEmailaddress: `${name}@shop.example`,
      contactProfileID: 'customer',
    });
  const { contactUUID: ann } = await create('ann');
  const { contactUUID: ben } = await create('ben');
  const ledger = createLedger(8);
  const load = ledger.send(served.url, token);
  // Waits until the second backup is due to begin: backups are ten seconds apart, so it contains all events that are
  // acknowledged by now.
  while (backupsIn(backups).length < 1) await wait(20);
  await wait(8_000);
  const acknowledged = new Set(ledger.acknowledged);
  while (backupsIn(backups).length < 2) await wait(20);
  // Erases a contact, which the restored backup still has.
  await client.eraseContact({ contactUUID: ann });
  served.process.kill('SIGKILL');
  await served.ended;
  await load.stop();

  const newest = join(backups, backupsIn(backups).sort().at(-1) as string);
  const elsewhere = join(folder, `restored-${nth}`, 'firsthand.db');
  // Copies the lost machine's erasure record, which alone contains this erasure.
  copyFileSync(`${path}-erased`, `${newest}-erased`);
  await restoreStore(`sqlite:${elsewhere}`, newest);
  const restored = await startServerProcess(elsewhere, port);
  const { lost, twice } = judge({ acknowledged }, await readEverything(restored.url, token));
  const again = createClient({ url: restored.url, token });
  const erased = await again.getContact({ contactUUID: ann }).then(
    () => 'there',
    (error: { code: string }) => error.code,
  );
  const { contact } = await again.getContact({ contactUUID: ben });
  expect(await stopServerProcess(restored)).toBe(0);
  return { lost, twice, erased, ben: contact.contactEmailaddress, acknowledged: acknowledged.size };
};

test(`restores a backup made under load on another machine without losing events or reviving erased contacts, ${drills} times`, async (context) => {
  let acknowledged = 0;
  for (let nth = 0; nth < drills; nth += 1) {
    const result = await drill(nth);
    expect(result).toMatchObject({ lost: 0, twice: 0, erased: 'erased_contact', ben: 'ben@shop.example' });
    acknowledged += result.acknowledged;
  }
  expect(acknowledged).toBeGreaterThan(0);
  report(context, {
    fault: 'machine lost, newest scheduled backup restored elsewhere',
    count: `${drills} drills under load`,
    result: `${acknowledged} events acknowledged before a backup began: 0 lost; 0 erased contacts revived`,
    weakened: '—',
  });
});

const bin = fileURLToPath(new URL('../../bin/firsthand.js', import.meta.url));

/** A module that kills its process when a finished file is about to be renamed with linkSync. */
const killAtLink = `data:text/javascript,${encodeURIComponent(`
  import fs from 'node:fs';
  import { syncBuiltinESMExports } from 'node:module';
  fs.linkSync = () => process.kill(process.pid, 'SIGKILL');
  syncBuiltinESMExports();
`)}`;

test('removes an interrupted backup’s draft at the next start, and makes a backup', async () => {
  const path = join(folder, 'killed.db');
  const backups = join(folder, 'backups-killed');
  mkdirSync(backups);
  await createTestAccount(path);
  const port = await freePort();
  const drafts = () => readdirSync(backups).filter((name) => name.endsWith('.new'));
  const env = {
    ...process.env,
    NODE_OPTIONS: `--import=${killAtLink}`,
    DATABASE_URL: `sqlite:${path}`,
    BACKUP_DIR: backups,
  };
  const killed = spawn(process.execPath, [bin, 'backup'], { env, stdio: 'ignore' });
  expect(await once(killed, 'close')).toEqual([null, 'SIGKILL']);
  expect(drafts()).toHaveLength(1);
  expect(backupsIn(backups)).toHaveLength(0);

  const served = await startServerProcess(path, port, { env: { BACKUP_DIR: backups } });
  await vi.waitFor(() => expect([drafts().length, backupsIn(backups).length]).toEqual([0, 1]), soon);
  expect(await stopServerProcess(served)).toBe(0);
});
