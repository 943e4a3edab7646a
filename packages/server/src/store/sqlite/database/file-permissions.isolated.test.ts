import { accessSync, mkdirSync, type PathLike, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { temporaryFolder } from '../../../../test/fixtures/command.ts';
import { examineFolder } from './backup-age.ts';
import { examineDatabase } from './doctor.ts';
import { ensureFile } from './file.ts';
import { examinePermissions } from './file-permissions.ts';

// Mocks permissions, because the tests might run as root, who can access everything, or as a user who cannot change
// owners.
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

/** Creates a database's files with owner-only permissions. */
const createFiles = () => {
  const folder = join(temporaryFolder(), 'data');
  mkdirSync(folder, { mode: 0o700 });
  const path = join(folder, 'firsthand.db');
  for (const suffix of ['', '-wal', '-lock']) writeFileSync(path + suffix, '', { mode: 0o600 });
  return { folder, path, owner: real.statSync(path).uid };
};

/** Makes `uid` the owner of files with these names, and `otherUID` the owner of all others. */
const setOwners = (names: readonly string[], uid: number, otherUID: number) =>
  vi
    .mocked(statSync)
    .mockImplementation(((path: string) =>
      Object.assign(real.statSync(path), { uid: names.includes(basename(path)) ? uid : otherUID })) as typeof statSync);

const denyAccess = (...names: string[]) =>
  vi.mocked(accessSync).mockImplementation((path, mode) => {
    if (names.includes(basename(String(path)))) throw denied(path);
    real.accessSync(path, mode);
  });

test('accepts files that only their owner can access', () => {
  const { path, owner } = createFiles();
  const detail = `only user ${owner} can read the 3 files`;
  expect(examinePermissions(path)).toEqual({ name: 'permissions', ok: true, detail });
});

test('names a file of another owner, and the chown command', () => {
  const { path } = createFiles();
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

test('suggests chown for a root-owned database among another user’s files', () => {
  const { path } = createFiles();
  setOwners(['firsthand.db', 'firsthand.db-lock'], 0, 998);
  expect(examinePermissions(path)).toEqual({
    name: 'permissions',
    ok: false,
    detail: `${path}, ${path}-lock belong to root, and the other files to user 998: chown 998 ${path} ${path}-lock`,
  });
});

test('names a backup folder that this user cannot read and write', () => {
  const { path } = createFiles();
  const backupDir = temporaryFolder();
  denyAccess(basename(backupDir));
  expect(examineFolder(path, { backupDir, backupEvery: 86_400_000 })).toEqual([
    {
      name: 'scheduled backups',
      ok: false,
      detail: expect.stringMatching(
        `user ${process.getuid?.()} cannot read and write ${backupDir} \\(BACKUP_DIR\\): EACCES`,
      ),
    },
  ]);
});

test.each([
  ['a file', 'firsthand.db', (path: string) => path],
  ['the folder', 'data', (path: string) => join(path, '..')],
])('names %s if this user cannot read and write it', (_, name, pathOf) => {
  const { path, owner } = createFiles();
  denyAccess(name);
  expect(examinePermissions(path)).toEqual({
    name: 'permissions',
    ok: false,
    detail: `this user cannot read and write ${pathOf(path)}; user ${owner} owns the database`,
  });
});

test('does not report a database as missing if this user cannot enter its folder', async () => {
  const { path } = createFiles();
  vi.mocked(statSync).mockImplementation((path) => {
    throw denied(path);
  });
  const [finding, ...others] = await examineDatabase(path);
  expect(others).toEqual([]);
  expect(finding).toMatchObject({ name: 'file', ok: false });
  expect(finding?.detail).toMatch(/firsthand\.db: EACCES: permission denied, .*; run this as the server’s user$/);
});

test.each([
  ['the folder', 'data'],
  ['the database', 'firsthand.db'],
  ['the lock', 'firsthand.db-lock'],
])('reports the owner and the current user if a server cannot write to %s', (_, name) => {
  const { path, folder, owner } = createFiles();
  denyAccess(name);
  const closed = name === 'data' ? folder : join(folder, name);
  expect(() => ensureFile(path)).toThrow(
    `user ${process.getuid?.()} cannot read and write ${closed}, which belongs to user ${owner}: run Firsthand as`,
  );
});

test('lets a server start without access to the backup mark, which another user might have written', () => {
  const { path } = createFiles();
  writeFileSync(`${path}-backup`, '');
  denyAccess('firsthand.db-backup');
  expect(() => ensureFile(path)).toThrow('firsthand.db is empty');
});

test('names the database if its folder cannot be created', () => {
  const { path } = createFiles();
  expect(() => ensureFile(join(path, 'data', 'firsthand.db'))).toThrow(/firsthand\.db cannot be created: ENOTDIR/);
});
