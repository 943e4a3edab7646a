import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createLedger, readEverything } from './ledger.ts';
import { freePort, makeAccount, startServed } from './served.ts';

const kills = 50;
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'firsthand-kill-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const wait = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

test(`loses no acknowledged event and keeps none twice through ${kills} kills under load`, {
  timeout: 300_000,
}, async () => {
  const path = join(folder, 'firsthand.db');
  const token = await makeAccount(path);
  const port = await freePort();
  const ledger = createLedger(16);

  for (let kill = 0; kill < kills; kill += 1) {
    const served = await startServed(path, port);
    const load = ledger.send(served.url, token);
    await wait(50 + Math.random() * 250);
    served.process.kill('SIGKILL');
    await once(served.process, 'exit');
    await load.stop();
  }

  const served = await startServed(path, port);
  try {
    const beforeRetries = new Set(await readEverything(served.url, token));
    expect([...ledger.acknowledged].filter((key) => !beforeRetries.has(key))).toEqual([]);
    // A client that got no answer sends again: exactly once all the same.
    await ledger.settle(served.url, token);
    const held = await readEverything(served.url, token);
    expect(new Set(held).size).toBe(held.length);
    expect(new Set(held)).toEqual(ledger.acknowledged);
    expect(ledger.acknowledged.size).toBeGreaterThan(kills * 20);
  } finally {
    served.process.kill('SIGTERM');
    await once(served.process, 'exit');
  }
  const db = new Database(path, { readonly: true });
  expect(db.pragma('integrity_check', { simple: true })).toBe('ok');
  db.close();
});
