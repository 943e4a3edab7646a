import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { soon } from '../../../../test/fixtures/timeouts.ts';
import { StoreUnusable } from '../../unusable.ts';
import { packageName } from './better-sqlite3.ts';
import { lockTimeoutMilliseconds, takeLock } from './lock.ts';

const newPath = () => {
  const folder = mkdtempSync(join(tmpdir(), 'firsthand-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, 'firsthand.db');
};

/**
 * Holds the lock in another process for the given time. `released` resolves with the time at which the lock was
 * released.
 */
const holdElsewhere = async (path: string, milliseconds: number) => {
  const script = `
    const Database = require(${JSON.stringify(createRequire(import.meta.url).resolve(packageName))});
    const lock = new Database(${JSON.stringify(`${path}-lock`)});
    lock.exec('BEGIN EXCLUSIVE');
    console.log('held');
    setTimeout(() => {
      console.log(Date.now());
      lock.close();
    }, ${milliseconds});`;
  const child = execFile(process.execPath, ['-e', script]);
  onTestFinished(() => void child.kill());
  const lines = createInterface({ input: child.stdout as Readable })[Symbol.asyncIterator]();
  await lines.next();
  return { released: async () => Number((await lines.next()).value) };
};

// Retries, because on a busy machine the message that the lock is held may arrive too late.
test('waits for a lock that is held briefly', { retry: 9 }, async () => {
  const path = newPath();
  const { released } = await holdElsewhere(path, 100);
  const began = Date.now();
  takeLock(path, soon.timeout)();
  const ended = Date.now();
  const between = await released();
  expect(began).toBeLessThan(between);
  expect(ended).toBeGreaterThanOrEqual(between);
});

test('gives up quickly if a server holds the lock, but waits as long as a command can hold it', async () => {
  const path = newPath();
  await holdElsewhere(path, 300_000);
  const before = performance.now();
  expect(() => takeLock(path)).toThrow(StoreUnusable);
  const waited = performance.now() - before;
  expect(lockTimeoutMilliseconds).toBeGreaterThan(200);
  expect(waited).toBeGreaterThan(200);
  expect(waited).toBeLessThan(soon.timeout);
});

test.each([
  ['a folder', (file: string) => mkdirSync(file)],
  ['not a database', (file: string) => writeFileSync(file, 'text\n'.repeat(1_000))],
])('reports the lock file by name if it is %s', (_, create) => {
  const path = newPath();
  create(`${path}-lock`);
  expect(() => takeLock(path)).toThrow(StoreUnusable);
  expect(() => takeLock(path)).toThrow(`${path}-lock cannot be locked`);
});
