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
/** Holds a snapshot, as the step of a read does. */
const beginReading = () => {
  const reader = openConnection(path, 'read');
  others.push(reader);
  reader.exec('BEGIN');
  reader.prepare('SELECT count(*) FROM filling').get();
  return () => reader.exec('COMMIT');
};

test('no commit writes the log back, and a step between two does', () => {
  const log = createWriteAheadLog(db);
  log.maintain();
  const before = statSync(path).size;
  for (let written = 0; written < 10; written += 1) write();
  expect(statSync(path).size).toBe(before);
  log.maintain();
  expect(statSync(path).size).toBeGreaterThan(before + 16 * mebibyte);
});

test('the log stays short while reads come and go at every commit', () => {
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

test('the log that could not begin anew, because somebody read just then, does so soon after, and no commit waits for it', () => {
  const log = createWriteAheadLog(db);
  log.maintain();
  while (logBytes() < 16 * mebibyte) write();
  const endReading = beginReading();
  log.maintain();
  write();
  endReading();
  const asked = vi.spyOn(db, 'pragma');
  for (let written = 0; written < 20; written += 1) {
    log.maintain();
    write();
  }
  expect(asked.mock.calls.flat()).toContain('wal_checkpoint(PASSIVE)');
  expect(asked.mock.calls.flat()).not.toContain('wal_checkpoint(TRUNCATE)');
  expect(logBytes()).toBeLessThan(22 * mebibyte);
});

test('the log begins anew once a long read has ended that made it grow', async () => {
  const log = createWriteAheadLog(db);
  log.maintain();
  const endReading = beginReading();
  for (let written = 0; written < 30; written += 1) write();
  expect(logBytes()).toBeGreaterThan(48 * mebibyte);
  const pause = log.maintain() as number;
  expect(pause).toBeGreaterThan(0);
  // Not tried again before that.
  const rest = log.maintain() as number;
  expect(rest).toBeGreaterThan(0);
  expect(rest).toBeLessThanOrEqual(pause);
  endReading();
  await wait(pause + 10);
  expect(log.maintain()).toBeNull();
  expect(logBytes()).toBe(0);
});

test.each(['PASSIVE', 'TRUNCATE'])(
  'a disk that fails is not passed over, and one that is full is tried again: %s',
  (mode) => {
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
  },
);
