/** Tests the memory of a server that receives hostile messages through Segment's API. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@firsthand/client';
import { expect, onTestFinished, test } from 'vitest';
import { times } from '../../tools/counts.ts';
import { freePort } from '../../tools/ports.ts';
import { report } from '../../tools/report.ts';
import {
  createTestAccount,
  readResidentMegabytes,
  startServerProcess,
  stopServerProcess,
} from '../../tools/server-process.ts';
import { createHostileMessages } from '../tools/hostile-messages.ts';

const count = times({ quick: 4_000, full: 100_000 });
const perBatch = 20;
/**
 * The number of different batches, which are sent repeatedly, because creating messages takes longer than responding.
 */
const seeds = 100;
const maxMegabytes = 100;

test(`responds to ${count} hostile messages with 200, with limited memory`, async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'firsthand-hostile-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'firsthand.db');
  const token = await createTestAccount(path);
  const served = await startServerProcess(path, await freePort());
  const bodies = Array.from({ length: seeds }, (_, seed) =>
    JSON.stringify({ batch: createHostileMessages(perBatch, seed) }),
  );
  const statuses = new Map<number, number>();
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const send = async (body: string | undefined) => {
    const { status } = await fetch(`${served.url}/v1/batch`, { method: 'POST', headers, body: body ?? '' });
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  };
  const pid = served.process.pid as number;
  let before = Number.NaN;
  for (let sent = 0; sent < count; sent += perBatch) {
    await send(bodies[(sent / perBatch) % seeds]);
    // By now, the server has received all kinds of messages once.
    if (sent / perBatch === seeds) before = readResidentMegabytes(pid);
  }
  const grown = readResidentMegabytes(pid) - before;
  expect(Object.fromEntries(statuses)).toEqual({ 200: count / perBatch });
  expect(grown).toBeLessThan(maxMegabytes);
  const { event } = await createClient({ url: served.url, token }).getEvent({ limit: 1 });
  expect(event).toHaveLength(1);
  expect(await stopServerProcess(served)).toBe(0);
  report(context, {
    fault: 'hostile messages to Segment’s API',
    count: `${count} messages`,
    result: `200 each; memory grew by ${Math.round(grown)} MB (limit ${maxMegabytes})`,
    weakened: '—',
  });
});
