import { accessSync, mkdirSync, type PathLike, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { temporaryFolder } from '../../../../test/fixtures/command.ts';
import { examineFolder } from './backup-age.ts';
import { examineDatabase } from './doctor.ts';
import { ensureFile } from './file.ts';
import { examinePermissions } from './file-permissions.ts';

// The tests may run as root, to whom everything is open, or as a user who cannot give files away.
vi.mock('node:fs', async (load) => {
  const fs = await load<typeof import('node:fs')>();
  return { ...fs, accessSync: vi.fn(fs.accessSync), statSync: vi.fn(fs.statSync) };
});
const real = await vi.importActual<typeof import('node:fs')>('node:fs');
afterEach(() => {
  vi.mocked(statSync).mockImplementation(real.statSync as typeof statSync);
  vi.mocked(accessSync).mockImplementation(real.accessSync);
});

const denied = (path: PathLike) => Object.assign(new Error(`EACCES: permission denied, '${path}'`), { code: 'EACCES' });

/** A database's files, for their owner only. */
const makeFiles = () => {
  const folder = join(temporaryFolder(), 'data');
  mkdirSync(folder, { mode: 0o700 });
  const path = join(folder, 'firsthand.db');
  for (const suffix of ['', '-wal', '-lock']) writeFileSync(path + suffix, '', { mode: 0o600 });
  return { folder, path, owner: real.statSync(path).uid };
};

/** Files with these names have the user `uid`, and all others `otherUID`. */
const setOwners = (names: readonly string[], uid: number, otherUID: number) =>
  vi
    .mocked(statSync)
    .mockImplementation(((path: string) =>
      Object.assign(real.statSync(path), { uid: names.includes(basename(path)) ? uid : otherUID })) as typeof statSync);

const close = (...names: string[]) =>
  vi.mocked(accessSync).mockImplementation((path, mode) => {
    if (names.includes(basename(String(path)))) throw denied(path);
    real.accessSync(path, mode);
  });

test('files of one owner, for nobody else, are as they should be', () => {
  const { path, owner } = makeFiles();
  const detail = `only user ${owner} may read the 3 files`;
  expect(examinePermissions(path)).toEqual({ name: 'permissions', ok: true, detail });
});

test('a file of another owner is named, with the command that gives it back', () => {
  const { path } = makeFiles();
  const advice = `a server that runs as the owner of ${path} cannot use them: chown 998`;
  setOwners(['firsthand.db-wal'], 0, 998);
  expect(examinePermissions(path)).toEqual({
    name: 'permissions',
    ok: false,
    detail: `${path}-wal has another owner; ${advice} ${path}-wal`,
  });
  setOwners(['firsthand.db-wal', 'firsthand.db-lock'], 0, 998);
  expect(examinePermissions(path).detail).toBe(
    `${path}-wal, ${path}-lock have another owner; ${advice} ${path}-wal ${path}-lock`,
  );
});

test('a database that root owns among files of another user is to be given to that user', () => {
  const { path } = makeFiles();
  setOwners(['firsthand.db', 'firsthand.db-lock'], 0, 998);
  expect(examinePermissions(path)).toEqual({
    name: 'permissions',
    ok: false,
    detail: `${path}, ${path}-lock belong to root, and the other files to user 998: chown 998 ${path} ${path}-lock`,
  });
});

test('a backup folder that this user may not read and write is named', () => {
  const { path } = makeFiles();
  const backupDir = temporaryFolder();
  close(basename(backupDir));
  expect(examineFolder(path, { backupDir, backupEvery: 86_400_000 })).toEqual([
    {
      name: 'scheduled backups',
      ok: false,
      detail: expect.stringMatching(
        `user ${process.getuid?.()} may not read and write ${backupDir} \\(BACKUP_DIR\\): EACCES`,
      ),
    },
  ]);
});

test.each([
  ['a file', 'firsthand.db', (path: string) => path],
  ['the folder', 'data', (path: string) => join(path, '..')],
])('%s that this user may not read and write is named', (_, name, named) => {
  const { path, owner } = makeFiles();
  close(name);
  expect(examinePermissions(path)).toEqual({
    name: 'permissions',
    ok: false,
    detail: `this user may not read and write ${named(path)}; user ${owner} owns the database`,
  });
});

test('a database in a folder that this user may not enter is not said to be missing', async () => {
  const { path } = makeFiles();
  vi.mocked(statSync).mockImplementation((path) => {
    throw denied(path);
  });
  const [finding, ...others] = await examineDatabase(path);
  expect(others).toEqual([]);
  expect(finding).toMatchObject({ name: 'file', ok: false });
  expect(finding?.detail).toMatch(/firsthand\.db: EACCES: permission denied, .*; run this as the user that serves$/);
});

test.each([
  ['the folder', 'data'],
  ['the database', 'firsthand.db'],
  ['the lock', 'firsthand.db-lock'],
])('a server that may not write to %s is told whose it is, and who it is itself', (_, name) => {
  const { path, folder, owner } = makeFiles();
  close(name);
  const closed = name === 'data' ? folder : join(folder, name);
  expect(() => ensureFile(path)).toThrow(
    `user ${process.getuid?.()} may not read and write ${closed}, which belongs to user ${owner}: run Firsthand as`,
  );
});

test('a server needs no mark of the last backup, which another user may have made', () => {
  const { path } = makeFiles();
  writeFileSync(`${path}-backup`, '');
  close('firsthand.db-backup');
  expect(() => ensureFile(path)).toThrow('firsthand.db is empty');
});

test('a folder that cannot be made is told with the database that it is for', () => {
  const { path } = makeFiles();
  expect(() => ensureFile(join(path, 'data', 'firsthand.db'))).toThrow(/firsthand\.db cannot be made: ENOTDIR/);
});
