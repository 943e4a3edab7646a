import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { temporaryFolder } from '../../../../test/fixtures/command.ts';
import { newAccount, newContact, newEvent, newToken } from '../../../../test/fixtures/store.ts';
import { createReadEngine, createWriteEngine, type WriteEngine } from '../engine.ts';
import { backupDatabase } from './backup.ts';
import Database from './better-sqlite3.ts';
import { type Connection, openConnection } from './connection.ts';
import { ensureFile } from './file.ts';
import { takeLock } from './lock.ts';
import { restoreDatabase } from './restore.ts';

vi.mock('node:fs', async (load) => {
  const fs = await load<typeof import('node:fs')>();
  const steps = { linkSync: fs.linkSync, renameSync: fs.renameSync, rmSync: fs.rmSync, chmodSync: fs.chmodSync };
  return {
    ...fs,
    ...Object.fromEntries(Object.entries(steps).map(([name, step]) => [name, vi.fn(step as () => void)])),
  };
});
/** The functions that change the database's folder after the backup is copied. */
const steps = [linkSync, renameSync, rmSync, chmodSync] as unknown as ReturnType<typeof vi.fn>[];

const caller = { account: 1, token: 1, browser: false };

/** Opens a database in this process, as a server does. */
const openHere = (path: string) => {
  ensureFile(path);
  const db = openConnection(path, 'serve');
  const engine: WriteEngine = createWriteEngine(db);
  engine.eraseAgain();
  const write = (name: string, request: object) => {
    const [outcome] = engine.write([{ name, request }]);
    if (outcome && 'value' in outcome) return outcome.value;
    throw outcome?.error;
  };
  const read = (name: string, request: unknown) => createReadEngine(db)({ name, request });
  return {
    db,
    create: (name: string) => {
      const contact = newContact({ userUUID: `browser-of-${name}`, address: `${name}@example.com` });
      return (write('createContact', { ...contact, ...caller, verified: true }) as { contactUUID: string }).contactUUID;
    },
    log: () =>
      write('logEvents', { ...caller, receivedTime: 0, events: [newEvent({ userUUID: 'browser-of-nobody' })] }),
    erase: (contactUUID: string) => write('eraseContact', { account: 1, contactUUID, time: 5 }),
    createAccount: () => write('createAccount', newAccount({ tokens: [newToken('server')] })),
    events: async () =>
      ((await read('getEvents', { account: 1, order: 'asc', limit: 100 })) as { events: unknown[] }).events.length,
    isErased: (contactUUID: string) =>
      read('getContact', { ...caller, contactUUID, include: [] }).then(
        () => false,
        (error: { code: string }) => error.code === 'erased_contact',
      ),
  };
};

/**
 * Creates a backup with two events and two contacts, and a database in which a third event was then logged and Ann was
 * erased. The erasure is still in the write-ahead log.
 */
const createTemplate = () => {
  const folder = temporaryFolder(afterAll);
  const source = join(folder, 'source', 'firsthand.db');
  const here = openHere(source);
  here.createAccount();
  const ann = here.create('ann');
  const ben = here.create('ben');
  here.log();
  here.log();
  const backup = join(folder, 'backup.db');
  backupDatabase(source, backup);
  here.log();
  here.erase(ann);
  // Simulates a kill: the write-ahead log is not checkpointed.
  const data = join(folder, 'data');
  mkdirSync(data);
  const path = join(data, 'firsthand.db');
  for (const suffix of ['', '-wal', '-erased']) copyFileSync(source + suffix, path + suffix);
  here.db.close();
  return { folder, ann, ben };
};
let template: ReturnType<typeof createTemplate> | undefined;

/** Copies the template, which is 40 times as fast as creating another. */
const createScene = () => {
  template ??= createTemplate();
  const folder = temporaryFolder();
  cpSync(template.folder, folder, { recursive: true });
  const data = join(folder, 'data');
  const path = join(data, 'firsthand.db');
  expect(statSync(`${path}-wal`).size).toBeGreaterThan(0);
  return { ...template, folder, data, path, backup: join(folder, 'backup.db') };
};

const opened: Connection[] = [];
afterEach(() => {
  for (const db of opened.splice(0)) db.close();
});

const readState = async (path: string, { ann, ben }: { ann: string; ben: string }) => {
  const { db, events, isErased } = openHere(path);
  const found = { events: await events(), annIsErased: await isErased(ann), benIsErased: await isErased(ben) };
  db.close();
  return found;
};
const before = { events: 3, annIsErased: true, benIsErased: false };
const after = { events: 2, annIsErased: true, benIsErased: false };

test('replaces the database with the backup, keeps the old one, and repeats later erasures', async () => {
  const { data, path, backup, ...contacts } = createScene();
  chmodSync(backup, 0o644);
  const sent = readFileSync(backup);
  const restored = await restoreDatabase(path, backup);
  expect(restored).toEqual({
    file: path,
    bytes: sent.length,
    previous: expect.stringMatching(/firsthand\.db-before-restore-\d{8}T\d{9}Z$/),
    erasedIdentifiers: 1,
    owner: null,
  });
  expect(readFileSync(path)).toEqual(sent);
  const previous = restored.previous as string;
  for (const file of [path, previous, `${path}-erased`]) expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(data).sort()).toEqual(
    ['', '-erased', '-lock', previous.slice(path.length)].map((suffix) => `firsthand.db${suffix}`).sort(),
  );
  expect(await readState(path, contacts)).toEqual(after);
  expect(await readState(previous, contacts)).toEqual(before);
  expect(readFileSync(backup)).toEqual(sent);
});

test('leaves either the old database or the backup after a crash at any point, and does not revive an erased contact', async () => {
  const { folder, data, path, backup, ...contacts } = createScene();
  const crashes: string[] = [];
  const real = steps.map((step) => step.getMockImplementation() as (...args: unknown[]) => unknown);
  steps.forEach((step, nth) => {
    step.mockImplementation((...args: unknown[]) => {
      const crash = join(folder, `crash-${crashes.length}`);
      cpSync(data, crash, { recursive: true });
      crashes.push(crash);
      return real[nth]?.(...args);
    });
  });
  await restoreDatabase(path, backup);
  steps.forEach((step, nth) => void step.mockImplementation(real[nth] as () => void));
  const found = [];
  for (const crash of [...crashes, data]) {
    // Repeats the restore after the crash, which has the same result.
    cpSync(crash, `${crash}-again`, { recursive: true });
    found.push(await readState(join(crash, 'firsthand.db'), contacts));
    await restoreDatabase(join(`${crash}-again`, 'firsthand.db'), backup);
    expect(await readState(join(`${crash}-again`, 'firsthand.db'), contacts)).toEqual(after);
  }
  expect(crashes.length).toBeGreaterThan(6);
  const turn = found.findIndex(({ events }) => events === after.events);
  expect(found.slice(0, turn)).toEqual(found.slice(0, turn).map(() => before));
  expect(found.slice(turn)).toEqual(found.slice(turn).map(() => after));
  expect(turn).toBeGreaterThan(3);
});

test('causes no damage if a step fails', async () => {
  const { path, backup, ...contacts } = createScene();
  for (let nth = 0; nth < 2; nth += 1) {
    vi.mocked(renameSync).mockImplementationOnce((from, to) => {
      if (nth === 1) {
        vi.mocked(renameSync).mockImplementationOnce(() => {
          throw new Error('EIO');
        });
        copyFileSync(from, to);
        return;
      }
      throw new Error('EIO');
    });
    await expect(restoreDatabase(path, backup)).rejects.toThrow('EIO');
    expect(await readState(path, contacts)).toEqual(before);
  }
  await restoreDatabase(path, backup);
  expect(await readState(path, contacts)).toEqual(after);
});

test('uses the erasure record next to the backup on another machine, and the database itself if records are lost', async () => {
  const { folder, path, backup, ...contacts } = createScene();
  const elsewhere = join(folder, 'new', 'machine', 'firsthand.db');
  copyFileSync(`${path}-erased`, `${backup}-erased`);
  expect(await restoreDatabase(elsewhere, backup)).toMatchObject({ previous: null, erasedIdentifiers: 1 });
  expect(await readState(elsewhere, contacts)).toEqual(after);

  // Removes the record: the database itself contains its erasures.
  rmSync(`${path}-erased`);
  rmSync(`${backup}-erased`);
  expect(await restoreDatabase(path, backup)).toMatchObject({ erasedIdentifiers: 1 });
  expect(await readState(path, contacts)).toEqual(after);
});

test('repeats the erasures in each of the database’s records next to the backup, and reads no other file', async () => {
  const { folder, path, backup, ...contacts } = createScene();
  const elsewhere = join(folder, 'new', 'machine', 'firsthand.db');
  const newer = join(folder, 'firsthand-0123456789ab-20261101T000000000Z.db-erased');
  const record = readFileSync(`${path}-erased`, 'utf8');
  const head = record.slice(0, record.indexOf('\n') + 1);
  writeFileSync(`${backup}-erased`, head);
  writeFileSync(join(folder, 'another-erased'), record.replace(/^erased from ./, 'erased from -'));
  writeFileSync(join(folder, 'short-erased'), 'erased');
  mkdirSync(join(folder, 'folder-erased'));
  symlinkSync(`${path}-erased`, join(folder, 'link-erased'));
  await restoreDatabase(elsewhere, backup);
  expect(await readState(elsewhere, contacts)).toEqual({ ...after, annIsErased: false });
  writeFileSync(newer, record);
  expect(await restoreDatabase(elsewhere, backup)).toMatchObject({ erasedIdentifiers: 1 });
  expect(await readState(elsewhere, contacts)).toEqual(after);
});

/** Whether another user's process could read and write a file, as a server must. Only root can start such a process. */
const canOpen = (path: string, uid: number) =>
  spawnSync('test', ['-r', path, '-a', '-w', path], { uid, gid: uid }).status === 0;

test.each([
  ['that exists', (_: string, own: (path: string) => void, path: string) => own(path)],
  [
    'or its folder',
    (data: string, own: (path: string) => void, path: string) => {
      rmSync(path);
      own(data);
    },
  ],
  [
    'or the parent of the folder to be created',
    (data: string, own: (path: string) => void, path: string) => {
      cpSync(`${path}-erased`, `${data}.db-erased`);
      rmSync(data, { recursive: true });
      own(dirname(data));
    },
  ],
])('gives its files to the owner of the file %s when root restores', async (_, prepare) => {
  const { folder, data, path, backup } = createScene();
  const isRoot = process.getuid?.() === 0;
  const uid = isRoot ? 54_321 : (process.getuid?.() as number);
  const own = (each: string) => chownSync(each, uid, isRoot ? uid : (process.getgid?.() as number));
  chmodSync(folder, 0o711);
  if (isRoot) prepare(data, own, path);
  if (existsSync(data)) chmodSync(data, 0o711);
  copyFileSync(join(folder, 'source', 'firsthand.db-erased'), `${backup}-erased`);
  expect(await restoreDatabase(path, backup)).toMatchObject({ owner: isRoot ? uid : null });
  for (const suffix of ['', '-erased', '-lock']) {
    const owned = path + suffix;
    expect(statSync(owned).uid).toBe(uid);
    if (isRoot) expect(canOpen(owned, uid)).toBe(true);
  }
});

test('erases the whole history if one of the records requires it', async () => {
  const { path, backup, ...contacts } = createScene();
  const record = readFileSync(`${path}-erased`, 'utf8');
  const claimsLeft = record.replaceAll(/([\da-f]{64})$/gm, '$1 verified').replace(/^(erased from .*) verified$/m, '$1');
  for (const [currentRecord, backupRecord] of [
    [record, claimsLeft],
    [claimsLeft, record],
  ] as const) {
    writeFileSync(`${path}-erased`, currentRecord);
    writeFileSync(`${backup}-erased`, backupRecord);
    await restoreDatabase(path, backup);
    expect(readFileSync(`${path}-erased`, 'utf8')).not.toContain('verified');
  }
  expect(await readState(path, contacts)).toEqual(after);
});

test('replaces a damaged or empty database, and keeps its remains', async () => {
  const { path, backup, ...contacts } = createScene();
  const damage = Buffer.from('no database, whatever its name says'.repeat(1_000));
  writeFileSync(path, damage);
  const { previous } = await restoreDatabase(path, backup);
  expect(readFileSync(previous as string)).toEqual(damage);
  expect(existsSync(`${previous}-wal`)).toBe(true);
  expect(existsSync(`${path}-wal`)).toBe(false);
  expect(await readState(path, contacts)).toEqual(after);

  truncateSync(path);
  await restoreDatabase(path, backup);
  expect(await readState(path, contacts)).toEqual(after);
});

test('replaces a database with a newer schema, so that Firsthand can be downgraded', async () => {
  const { path, backup, ...contacts } = createScene();
  const db = openConnection(path, 'write');
  db.pragma('user_version = 99999');
  db.close();
  await restoreDatabase(path, backup);
  expect(await readState(path, contacts)).toEqual(after);
});

test.each<[string, RegExp, (scene: { path: string; backup: string; folder: string }) => string | undefined]>([
  ['that does not exist', /there is no file .*-nowhere$/, ({ backup }) => `${backup}-nowhere`],
  ['that is a folder', /there is no file/, ({ folder }) => folder],
  ['that is the database itself', /is the database itself/, ({ path }) => path],
  [
    'with a write-ahead log',
    /-wal exists, so .* is a database in use/,
    ({ backup }) => {
      writeFileSync(`${backup}-wal`, 'x');
      return undefined;
    },
  ],
  [
    'of another program',
    /backup\.db is another program's database/,
    ({ backup }) => {
      rmSync(backup);
      new Database(backup).exec('CREATE TABLE a (b)').close();
      return undefined;
    },
  ],
  [
    'with a newer schema',
    /backup\.db was written by a newer Firsthand \(schema 99999/,
    ({ backup }) => {
      new Database(backup).exec('PRAGMA user_version = 99999').close();
      return undefined;
    },
  ],
  [
    'that is truncated',
    /backup\.db (is damaged|cannot be read)/,
    ({ backup }) => {
      truncateSync(backup, statSync(backup).size / 2);
      return undefined;
    },
  ],
  [
    'with dangling references',
    /backup\.db is damaged: dangling references/,
    ({ backup }) => {
      new Database(backup).exec('PRAGMA foreign_keys = OFF; DELETE FROM account').close();
      return undefined;
    },
  ],
  [
    'with damaged blocks',
    /backup\.db is damaged: 2 damaged blocks of events/,
    ({ backup }) => {
      new Database(backup).exec('UPDATE event_block SET checksum = checksum + 1').close();
      return undefined;
    },
  ],
  [
    'that is empty',
    /backup\.db is empty/,
    ({ backup }) => {
      truncateSync(backup);
      return undefined;
    },
  ],
  [
    'with another database’s record',
    /backup\.db-erased is the record of erasures of another database/,
    ({ backup }) => {
      writeFileSync(`${backup}-erased`, `erased from ${'0'.repeat(64)}\n`);
      return undefined;
    },
  ],
  [
    'next to another database’s record',
    /firsthand\.db-erased is the record of erasures of another database/,
    ({ path }) => {
      writeFileSync(`${path}-erased`, `erased from ${'0'.repeat(64)}\n`);
      return undefined;
    },
  ],
  [
    'of another database',
    /backup\.db is a backup of another database than .*firsthand\.db: move the database and/,
    ({ backup, folder }) => {
      rmSync(backup);
      const other = join(folder, 'other.db');
      ensureFile(other);
      backupDatabase(other, backup);
      return undefined;
    },
  ],
  [
    'that would replace another program’s database',
    /firsthand\.db is another program's database/,
    ({ path }) => {
      for (const suffix of ['', '-wal', '-erased']) rmSync(path + suffix);
      new Database(path).exec('CREATE TABLE a (b)').close();
      return undefined;
    },
  ],
  [
    'while a server uses the file',
    /is being served already/,
    ({ path }) => {
      const unlock = takeLock(path);
      unlocks.push(unlock);
      return undefined;
    },
  ],
  [
    'while a program has the file open',
    /cannot be replaced: database is locked \(does another program have it open\?\)/,
    ({ path }) => {
      const db = openConnection(path, 'read');
      db.prepare('SELECT * FROM account').all();
      opened.push(db);
      return undefined;
    },
  ],
])('refuses a backup %s, and changes nothing', async (_, message, prepare) => {
  const { folder, data, path, backup } = createScene();
  const source = prepare({ path, backup, folder }) ?? backup;
  const record = readFileSync(`${path}-erased`, { flag: 'a+' });
  const events = () => {
    const db = new Database(path, { readonly: true });
    try {
      return db.prepare('SELECT count(*) FROM sqlite_schema').get();
    } finally {
      db.close();
    }
  };
  const old = events();
  await expect(restoreDatabase(path, source)).rejects.toThrow(message);
  for (const unlock of unlocks.splice(0)) unlock();
  expect(events()).toEqual(old);
  expect(readFileSync(`${path}-erased`)).toEqual(record);
  expect(readdirSync(data).filter((name) => /restor/.test(name))).toEqual([]);
});
const unlocks: (() => void)[] = [];
