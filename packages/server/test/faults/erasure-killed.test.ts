import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { backupStore } from '../../src/store/open.ts';
import { times } from '../tools/counts.ts';
import { freePort } from '../tools/ports.ts';
import { report } from '../tools/report.ts';
import {
  browserToken,
  createTestAccount,
  startServerProcess,
  stopServerProcess,
  withoutLimits,
} from '../tools/server-process.ts';
import { changeServer } from '../tools/weakened-server.ts';
import { acknowledgingErasuresEarly } from '../weaknesses/store.ts';

const users = times({ quick: 200, full: 3_000 });
const batchSize = 100;
const contactEmailaddress = 'ann@shop.example';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'firsthand-erasure-killed-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const env = { RATE_LIMIT: withoutLimits() };

/**
 * Kills a server as soon as it responds to an erasure, restores a backup that is older than the contact, and resends
 * every request that created the contact.
 */
const eraseAndKill = async (name: string, main?: string) => {
  const path = join(folder, `${name}.db`);
  const backup = join(folder, `${name}-backup.db`);
  const serverToken = await createTestAccount(path);
  await backupStore(`sqlite:${path}`, backup);
  const port = await freePort();
  const served = await startServerProcess(path, port, { main, env });
  const post = async (at: string, tokenUUID: string, fields: object) => {
    const response = await fetch(`${served.url}${at}`, {
      method: 'POST',
      body: JSON.stringify({ tokenUUID, ...fields }),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  /** Returns the number of responses by status. */
  const sendAll = async () => {
    const statuses: Record<number, number> = {};
    for (let at = 0; at < users; at += batchSize) {
      const sent = Array.from({ length: batchSize }, (_, nth) => {
        const sender = { userUUID: `visitor-number-${at + nth}`, requestUUID: `request-number-${at + nth}` };
        return post('/createContact', browserToken, { ...sender, contactEmailaddress, contactProfileID: 'customer' });
      });
      for (const { status } of await Promise.all(sent)) statuses[status] = (statuses[status] ?? 0) + 1;
    }
    return statuses;
  };
  expect(await sendAll()).toEqual({ 200: users });
  const { status } = await post('/contact/eraseContact', serverToken, { contactEmailaddress });
  served.process.kill('SIGKILL');
  await served.ended;
  expect(status).toBe(200);
  for (const end of ['-wal', '-shm']) rmSync(`${path}${end}`, { force: true });
  copyFileSync(backup, path);
  const restored = await startServerProcess(path, port, { main, env });
  const { 200: created = 0, 410: refused = 0 } = await sendAll();
  await stopServerProcess(restored);
  return { created, refused };
};

test('enforces an acknowledged erasure on an older backup, even if the server was killed at that moment', async (context) => {
  const ours = await eraseAndKill('ours');
  expect(ours).toEqual({ created: 0, refused: users });
  const weakened = await eraseAndKill('weakened', changeServer(folder, 'at-once', acknowledgingErasuresEarly));
  expect(weakened.created).toBeGreaterThan(0);
  report(context, {
    fault: 'killed while responding to an erasure',
    count: `${users} requests that created the contact, repeated on an older backup`,
    result: `${ours.refused} × 410, ${ours.created} created it again`,
    weakened: `responds before the record is complete: ${weakened.created} created it again`,
  });
});
