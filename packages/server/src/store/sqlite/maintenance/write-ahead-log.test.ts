import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Connection, openConnection } from '../database/connection.ts';
import { ensureFile } from '../database/file.ts';
import { createWriteAheadLog } from './write-ahead-log.ts';

const mebibyte = 1024 * 1024;

let folder: string;
let path: string;
let db: Connection;
let others: Connection[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'firsthand-'));
  path = join(folder, 'firsthand.db');
  ensureFile(path);
  db = openConnection(path, 'serve');
  db.exec('CREATE TABLE filling (bytes BLOB)');
  others = [];
});
afterEach(() => {
  for (const connection of [...others, db]) connection.close();
  rmSync(folder, { recursive: true });
});

const write = () => db.prepare('INSERT INTO filling VALUES (zeroblob(?))').run(2 * mebibyte);
const logBytes = () => statSync(`${path}-wal`).size;
/** Holds a snapshot, as a read step does. Returns a function that releases it. */
const beginReading = () => {
  const reader = openConnection(path, 'read');
  others.push(reader);
  reader.exec('BEGIN');
  reader.prepare('SELECT count(*) FROM filling').get();
  return () => reader.exec('COMMIT');
};

test('checkpoints in a step between commits, never in a commit', () => {
  const log = createWriteAheadLog(db);
  log.maintain();
  const before = statSync(path).size;
  for (let written = 0; written < 10; written += 1) write();
  expect(statSync(path).size).toBe(before);
  log.maintain();
  expect(statSync(path).size).toBeGreaterThan(before + 16 * mebibyte);
});

test('limits the log’s size while reads run during every commit', () => {
  const log = createWriteAheadLog(db);
  let highest = 0;
  for (let written = 0; written < 40; written += 1) {
    const endReading = beginReading();
    write();
    endReading();
    log.maintain();
    highest = Math.max(highest, logBytes());
  }
  expect(highest).toBeLessThan(24 * mebibyte);
});

test('retries soon, without blocking commits, if a read prevented the log from restarting', () => {
  const log = createWriteAheadLog(db);
  log.maintain();
  while (logBytes() < 16 * mebibyte) write();
  const endReading = beginReading();
  log.maintain();
  write();
  endReading();
  const pragmas = vi.spyOn(db, 'pragma');
  for (let written = 0; written < 20; written += 1) {
    log.maintain();
    write();
  }
  expect(pragmas.mock.calls.flat()).toContain('wal_checkpoint(PASSIVE)');
  expect(pragmas.mock.calls.flat()).not.toContain('wal_checkpoint(TRUNCATE)');
  expect(logBytes()).toBeLessThan(22 * mebibyte);
});

test('restarts the log after a long read that made it grow', async () => {
  const log = createWriteAheadLog(db);
  log.maintain();
  const endReading = beginReading();
  for (let written = 0; written < 30; written += 1) write();
  expect(logBytes()).toBeGreaterThan(48 * mebibyte);
  const pause = log.maintain() as number;
  expect(pause).toBeGreaterThan(0);
  // Does not retry before the pause ends.
  const rest = log.maintain() as number;
  expect(rest).toBeGreaterThan(0);
  expect(rest).toBeLessThanOrEqual(pause);
  endReading();
  await wait(pause + 10);
  expect(log.maintain()).toBeNull();
  expect(logBytes()).toBe(0);
});

test.each(['PASSIVE', 'TRUNCATE'])('throws on a failing disk, and retries on a full disk: %s', (mode) => {
  const failing = (code: string) =>
    new Proxy(db, {
      get: (target, name) => {
        if (name !== 'pragma') return Reflect.get(target, name).bind(target);
        return (text: string, options?: object) => {
          if (text.includes(mode)) throw Object.assign(new Error('disk'), { code });
          return target.pragma(text, options);
        };
      },
    });
  const broken = createWriteAheadLog(failing('SQLITE_IOERR_WRITE'));
  const full = createWriteAheadLog(failing('SQLITE_FULL'));
  if (mode === 'PASSIVE') for (const log of [broken, full]) log.maintain();
  for (let written = 0; written < 10; written += 1) write();
  expect(full.maintain()).toBeGreaterThan(0);
  expect(() => broken.maintain()).toThrow('disk');
});
