import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { newAccount, newEvent, newToken } from '../../../../test/fixtures/store.ts';
import { StoreUnusable } from '../../unusable.ts';
import { openConnection } from '../database/connection.ts';
import { ensureFile } from '../database/file.ts';
import { takeLock } from '../database/lock.ts';
import { createWriteEngine } from '../engine.ts';
import { openExport } from './export.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'firsthand-'));
  path = join(folder, 'firsthand.db');
});
afterEach(() => rmSync(folder, { recursive: true }));

const inDatabase = (work: (db: ReturnType<typeof openConnection>) => void) => {
  const db = openConnection(path, 'write');
  work(db);
  db.close();
};

test('refuses a file that is missing, being served, or newer', () => {
  expect(() => openExport(path)).toThrow(new StoreUnusable(`there is no database at ${path}`));
  ensureFile(path);
  const unlock = takeLock(path);
  expect(() => openExport(path)).toThrow('is being served already');
  unlock();
  inDatabase((db) => db.pragma('user_version = 9000'));
  expect(() => openExport(path)).toThrow('written by a newer Firsthand');
  // Checks that the lock is free again.
  takeLock(path)();
});

test('includes the latest rollups, and releases the lock on close', () => {
  ensureFile(path);
  inDatabase((db) =>
    createWriteEngine(db).write([
      { name: 'createAccount', request: newAccount({ tokens: [newToken('server')] }) },
      {
        name: 'logEvents',
        request: { account: 1, token: 1, browser: false, receivedTime: 0, events: [newEvent(), newEvent()] },
      },
    ]),
  );
  const exported = openExport(path);
  expect([...exported.rows('event_total')].flat()).toMatchObject([{ count: 2 }]);
  expect([...exported.eventsAfter(1)].flat()).toHaveLength(1);
  exported.close();
  takeLock(path)();
});

test('exports all of a large table’s rows', () => {
  ensureFile(path);
  inDatabase((db) => {
    createWriteEngine(db).write([{ name: 'createAccount', request: newAccount({ tokens: [] }) }]);
    db.exec(`
      WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 2500)
      INSERT INTO user SELECT n, 1, 'visitor-' || n, NULL, NULL, 0, 0 FROM number`);
  });
  const exported = openExport(path);
  expect([...exported.rows('user')].flat().map(({ user }) => user)).toEqual(
    Array.from({ length: 2_500 }, (_, n) => n + 1),
  );
  expect([...exported.rows('claim')].flat()).toEqual([]);
  exported.close();
});
