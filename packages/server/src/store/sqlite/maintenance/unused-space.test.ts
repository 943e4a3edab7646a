import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createRandom } from '../../../../test/tools/counts.ts';
import { backupDatabase } from '../database/backup.ts';
import { type Connection, emptyLog, openConnection } from '../database/connection.ts';
import { ensureFile } from '../database/file.ts';
import { createUnusedSpace } from './unused-space.ts';

let folder: string;
let path: string;
let db: Connection;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'firsthand-'));
  path = join(folder, 'firsthand.db');
  ensureFile(path);
  db = openConnection(path, 'serve');
  // Indexes names that grow in length, so that SQLite keeps repacking pages.
  db.exec('CREATE TABLE person (person INTEGER PRIMARY KEY, name TEXT UNIQUE, value TEXT)');
});
afterEach(() => {
  db.close();
  rmSync(folder, { recursive: true });
});

/** Inserts and changes people, then deletes every tenth person. Returns the names of the deleted people. */
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
  const deletedNames = names.filter((_, index) => index % 10 === 0);
  const remove = db.prepare('DELETE FROM person WHERE name = ?');
  for (const name of deletedNames) remove.run(name.repeat(3));
  emptyLog(db);
  return deletedNames;
};

/** Counts the names that occur in the file. */
const countInFile = (names: readonly string[], file = path): number => {
  // Searches for all names in one pass, because each name ends with a unique number.
  const text = readFileSync(file, 'latin1');
  const byNumber = new Map(names.map((name) => [name.split('-')[1], name]));
  const matches = new Set<string>();
  for (const { 1: number, index } of text.matchAll(/-(?=(\d+)-)/g)) {
    const name = byNumber.get(number);
    if (name !== undefined && text.startsWith(name, index - name.indexOf('-'))) matches.add(name);
  }
  return matches.size;
};

const finish = (unused: ReturnType<typeof createUnusedSpace>) => {
  for (let steps = 0; steps < 1_000; steps += 1) if (unused.step() === null) return;
  throw new Error('clearing does not end');
};
const clearAll = (unused: ReturnType<typeof createUnusedSpace>) => {
  unused.begin();
  finish(unused);
};

test('clears only those copies of deleted rows that repacking leaves behind', () => {
  const deletedNames = fill();
  const before = db.prepare('SELECT * FROM person').all();
  // Checks that there is something to clear.
  expect(countInFile(deletedNames)).toBeGreaterThan(0);
  clearAll(createUnusedSpace(db));
  expect(countInFile(deletedNames)).toBe(0);
  expect(db.pragma('integrity_check', { simple: true })).toBe('ok');
  expect(db.prepare('SELECT * FROM person').all()).toEqual(before);
});

test('leaves no cached page that would write the copies back', () => {
  const deletedNames = fill();
  clearAll(createUnusedSpace(db));
  db.exec("UPDATE person SET value = 'x' || value");
  emptyLog(db);
  expect(countInFile(deletedNames)).toBe(0);
});

test('waits while another connection reads, and finishes afterwards', async () => {
  const deletedNames = fill();
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
  expect(countInFile(deletedNames)).toBe(0);
});

test('clears all rows deleted from a restored backup, which VACUUM has repacked', () => {
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
  const deletedNames = names.filter((_, person) => person % 10 === 0);
  restored.exec('DELETE FROM detail WHERE person % 10 = 0');
  emptyLog(restored);
  clearAll(createUnusedSpace(restored));
  expect(countInFile(deletedNames, backup)).toBe(0);
  expect(restored.pragma('integrity_check', { simple: true })).toBe('ok');
  restored.close();
});

/** Wraps the database to call `hook` before each lock. */
const withHook = (hook: () => void): Connection =>
  new Proxy(db, {
    get: (target, name) => {
      const value = Reflect.get(target, name);
      if (name !== 'prepare') return typeof value === 'function' ? value.bind(target) : value;
      return (sql: string) => {
        const statement = target.prepare(sql);
        if (sql !== 'BEGIN IMMEDIATE') return statement;
        const run = () => {
          hook();
          return statement.run();
        };
        return { run };
      };
    },
  });

test('waits while another connection writes, and does not change what it has written', () => {
  const deletedNames = fill();
  const other = openConnection(path, 'write');
  const hooks = [
    () => other.exec("UPDATE person SET value = 'written meanwhile' WHERE person = 2"),
    () => {
      db.pragma('busy_timeout = 0');
      other.exec('BEGIN IMMEDIATE');
    },
  ];
  const unused = createUnusedSpace(withHook(() => hooks.shift()?.()));
  unused.begin();
  expect(unused.step()).toBeGreaterThan(0);
  expect(unused.step()).toBeGreaterThan(0);
  other.exec('ROLLBACK');
  expect(unused.step()).toBeNull();
  other.close();
  expect(countInFile(deletedNames)).toBe(0);
  expect(db.prepare('SELECT value FROM person WHERE person = 2').pluck().get()).toBe('written meanwhile');
  expect(db.pragma('integrity_check', { simple: true })).toBe('ok');
});

test('retries on a full disk, and throws on a failing disk', () => {
  const deletedNames = fill();
  const codes = ['ENOSPC', 'SQLITE_FULL', 'EIO'];
  const unused = createUnusedSpace(
    withHook(() => {
      const code = codes.shift();
      if (code) throw Object.assign(new Error(code), { code });
    }),
  );
  unused.begin();
  expect(unused.step()).toBeGreaterThan(0);
  expect(unused.step()).toBeGreaterThan(0);
  expect(() => unused.step()).toThrow('EIO');
  expect(unused.step()).toBeNull();
  expect(countInFile(deletedNames)).toBe(0);
});

/** Creates `count` pages with one row and one deleted row each. Returns the names of the deleted rows. */
const fillPages = (count: number): string[] => {
  db.pragma('secure_delete = OFF');
  db.exec('CREATE TABLE thing (thing INTEGER PRIMARY KEY, name TEXT)');
  const names = Array.from({ length: 2 * count }, (_, nth) => `thing-${nth}-`);
  const insert = db.prepare('INSERT INTO thing (name) VALUES (?)');
  db.transaction(() => {
    for (const name of names) insert.run(name.padEnd(1_900, 'x'));
  })();
  // Deletes the row next to the unused middle of each page.
  db.exec('DELETE FROM thing WHERE thing % 2 = 0');
  emptyLog(db);
  return names.filter((_, index) => index % 2 === 1);
};

test('clears any number of pages in steps', () => {
  const deletedNames = fillPages(4_500).filter((_, index) => index % 100 === 0);
  const things = () => db.prepare('SELECT count(*), sum(length(name)) FROM thing').raw().get();
  const before = things();
  expect(countInFile(deletedNames)).toBe(45);
  const reader = openConnection(path, 'read');
  reader.exec('BEGIN');
  reader.prepare('SELECT count(*) FROM thing').get();
  db.exec("INSERT INTO thing (name) VALUES ('')");
  const unused = createUnusedSpace(db);
  unused.begin();
  // Runs writes between steps. The last step must wait for the reader.
  let steps = 0;
  while (unused.step() === 0 && steps < 100) steps += 1;
  expect(steps).toBeGreaterThan(1);
  expect(steps).toBeLessThan(100);
  reader.close();
  finish(unused);
  expect(countInFile(deletedNames)).toBe(0);
  db.exec("DELETE FROM thing WHERE name = ''");
  expect(things()).toEqual(before);
  expect(db.pragma('integrity_check', { simple: true })).toBe('ok');
});

test('does not extend a file that was truncated between two steps', () => {
  fillPages(1_500);
  const unused = createUnusedSpace(db);
  unused.begin();
  expect(unused.step()).toBe(0);
  // Makes sure that the last page has to be cleared.
  db.exec('DELETE FROM thing WHERE thing > 7; VACUUM; DELETE FROM thing WHERE thing IN (3, 7)');
  emptyLog(db);
  const { size } = statSync(path);
  finish(unused);
  expect(statSync(path).size).toBe(size);
  expect(db.pragma('integrity_check', { simple: true })).toBe('ok');
});

test('does not change full pages and overflow pages', () => {
  fillPages(1);
  db.exec('CREATE TABLE long (bytes BLOB)');
  const insert = db.prepare('INSERT INTO long VALUES (randomblob(?))');
  // Inserts two rows of 2,036 bytes, which leave no unused space on a page of 4,096.
  for (const bytes of [2_036, 2_036, 100_000]) insert.run(bytes);
  emptyLog(db);
  const before = db.prepare('SELECT * FROM long').all();
  clearAll(createUnusedSpace(db));
  expect(db.prepare('SELECT * FROM long').all()).toEqual(before);
  expect(db.pragma('integrity_check', { simple: true })).toBe('ok');
});
