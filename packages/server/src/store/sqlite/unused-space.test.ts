import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createRandom } from '../../../test/faults/counts.ts';
import { backupDatabase } from './backup.ts';
import { type Connection, emptyLog, openConnection } from './connection.ts';
import { ensureFile } from './file.ts';
import { createUnusedSpace } from './unused-space.ts';

let folder: string;
let path: string;
let db: Connection;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'firsthand-'));
  path = join(folder, 'firsthand.db');
  ensureFile(path);
  db = openConnection(path, 'serve');
  // Names that stand in an index of their own, and grow, so that pages are packed anew all the time.
  db.exec('CREATE TABLE person (person INTEGER PRIMARY KEY, name TEXT UNIQUE, value TEXT)');
});
afterEach(() => {
  db.close();
  rmSync(folder, { recursive: true });
});

/** Makes people, changes them, and deletes every tenth; answers the names of those. */
const fill = (): string[] => {
  const random = createRandom(7);
  const insert = db.prepare('INSERT INTO person (name, value) VALUES (?, ?)');
  const change = db.prepare('UPDATE person SET value = ? WHERE person = ?');
  const names = Array.from({ length: 4_000 }, (_, nth) => `${random().toString(36).slice(2, 10)}-${nth}-`);
  db.pragma('synchronous = OFF');
  for (const name of names) insert.run(name.repeat(3), name.repeat(1 + random() * 9));
  names.forEach((name, index) => {
    change.run(name.repeat(1 + random() * 30), index + 1);
  });
  const gone = names.filter((_, index) => index % 10 === 0);
  const remove = db.prepare('DELETE FROM person WHERE name = ?');
  for (const name of gone) remove.run(name.repeat(3));
  emptyLog(db);
  return gone;
};

const found = (names: readonly string[], file = path): number => {
  const bytes = readFileSync(file);
  return names.filter((name) => bytes.includes(name)).length;
};

const clearAll = (unused: ReturnType<typeof createUnusedSpace>) => {
  unused.begin();
  for (let steps = 0; steps < 1_000; steps += 1) if (unused.step() === null) return;
  throw new Error('it comes to no end');
};

test('what packing leaves of deleted rows goes, and nothing else', () => {
  const gone = fill();
  const before = db.prepare('SELECT * FROM person').all();
  // Or there would be nothing to clear, and no need for it.
  expect(found(gone)).toBeGreaterThan(0);
  clearAll(createUnusedSpace(db));
  expect(found(gone)).toBe(0);
  expect(db.pragma('integrity_check', { simple: true })).toBe('ok');
  expect(db.prepare('SELECT * FROM person').all()).toEqual(before);
});

test('it does not come back with the next change of a page', () => {
  const gone = fill();
  clearAll(createUnusedSpace(db));
  db.exec("UPDATE person SET value = 'x' || value");
  emptyLog(db);
  expect(found(gone)).toBe(0);
});

test('while others read it waits, and is done when they have read', async () => {
  const gone = fill();
  db.exec("UPDATE person SET value = '' WHERE person = 2");
  const reader = openConnection(path, 'read');
  reader.exec('BEGIN');
  reader.prepare('SELECT count(*) FROM person').get();
  db.exec("UPDATE person SET value = '' WHERE person = 3");
  const unused = createUnusedSpace(db);
  unused.begin();
  const pause = unused.step() as number;
  expect(pause).toBeGreaterThan(0);
  reader.close();
  await wait(pause);
  expect(unused.step()).toBeNull();
  expect(found(gone)).toBe(0);
});

test('nothing stays of what is deleted from a backup, which was packed anew as a whole', () => {
  db.exec('CREATE TABLE detail (person, name, value, PRIMARY KEY (person, name)) WITHOUT ROWID');
  const random = createRandom(11);
  const insert = db.prepare('INSERT INTO detail VALUES (?, ?, ?)');
  const names = Array.from({ length: 3_000 }, (_, nth) => `${random().toString(36).slice(2, 10)}-${nth}-`);
  db.pragma('synchronous = OFF');
  names.forEach((name, person) => {
    for (let nth = 0; nth < 1 + random() * 3; nth += 1) insert.run(person, nth, name.repeat(1 + random() * 60));
  });
  const backup = join(folder, 'backup.db');
  backupDatabase(path, backup);
  const restored = openConnection(backup, 'serve');
  const gone = names.filter((_, person) => person % 10 === 0);
  restored.exec('DELETE FROM detail WHERE person % 10 = 0');
  emptyLog(restored);
  clearAll(createUnusedSpace(restored));
  expect(found(gone, backup)).toBe(0);
  expect(restored.pragma('integrity_check', { simple: true })).toBe('ok');
  restored.close();
});
