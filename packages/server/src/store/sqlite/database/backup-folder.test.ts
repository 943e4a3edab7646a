import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { temporaryFolder } from '../../../../test/fixtures/command.ts';
import { backupDatabase, backupIntoFolder } from './backup.ts';
import { openBackupFolder } from './backup-folder.ts';
import Database from './better-sqlite3.ts';
import { examineDatabase } from './doctor.ts';
import { ensureFile } from './file.ts';

let folder: string;
let path: string;
let backups: string;
beforeEach(() => {
  folder = temporaryFolder();
  path = join(folder, 'firsthand.db');
  backups = join(folder, 'some', 'backups');
  ensureFile(path);
});

const wait = () => new Promise((resolve) => setTimeout(resolve, 2));
const createBackup = async (keep = 7, of = path) => {
  // Waits because names have millisecond resolution.
  await wait();
  return backupIntoFolder(of, backups, keep);
};

test('verifies a backup, names it by time, and copies the erasure record without an incomplete line', async () => {
  writeFileSync(`${path}-erased`, 'erased from x\n1 2 abc\n1 2 hal');
  const before = Date.now();
  const { file, bytes, removed } = await createBackup();
  expect(basename(file)).toMatch(/^firsthand-[\da-f]{12}-\d{8}T\d{9}Z\.db$/);
  expect({ bytes, removed }).toEqual({ bytes: statSync(file).size, removed: 0 });
  expect(readFileSync(`${file}-erased`, 'utf8')).toBe('erased from x\n1 2 abc\n');
  expect(statSync(`${file}-erased`).mode & 0o777).toBe(0o600);
  const [name = ''] = /^firsthand-[\da-f]{12}/.exec(basename(file)) ?? [];
  expect(readdirSync(backups).sort()).toEqual([basename(file), `${basename(file)}-erased`, `${name}-lock`]);
  const [listed] = openBackupFolder(path, backups).list();
  expect(listed?.file).toBe(file);
  expect(listed?.time).toBeGreaterThanOrEqual(before);
  expect(listed?.time).toBeLessThanOrEqual(Date.now());
});

test('removes only the oldest backups over the limit, with their erasure records', async () => {
  const first = await createBackup();
  writeFileSync(`${first.file}-erased`, '');
  await createBackup();
  const [name = ''] = /firsthand-[\da-f]{12}/.exec(first.file) ?? [];
  const others = [
    'firsthand.db',
    'notes.txt',
    `${name}.db`,
    `${name}-20261341T000000000Z.db`,
    `${name}-20200101T000000000Z.db.bak`,
    `x${name}-20200101T000000000Z.db`,
    'firsthand-0123456789ab-20200101T000000000Z.db',
  ];
  for (const other of others) writeFileSync(join(backups, other), 'not ours');
  mkdirSync(join(backups, `${name}-20200101T000000001Z.db`));
  symlinkSync(path, join(backups, `${name}-20200101T000000002Z.db`));
  const third = await createBackup(2);
  expect(third.removed).toBe(1);
  expect(existsSync(first.file) || existsSync(`${first.file}-erased`)).toBe(false);
  expect(openBackupFolder(path, backups).list()).toHaveLength(2);
  const left = readdirSync(backups);
  expect(left).toHaveLength(others.length + 5);
  expect(left).toEqual(expect.arrayContaining(others));
});

test('never removes the newest backup, even if the clock was ahead', async () => {
  const { file } = await createBackup();
  const ahead = file.replace(/-\d{8}T/, '-29991231T');
  writeFileSync(ahead, '');
  const { file: newest, removed } = await createBackup(1);
  expect(removed).toBe(2);
  expect(openBackupFolder(path, backups).list()).toEqual([{ file: newest, time: expect.any(Number) }]);
});

test('keeps other databases’ backups in the folder, even of a copy of this database', async () => {
  const copy = join(folder, 'copy.db');
  backupDatabase(path, copy);
  const { file } = await createBackup(1);
  const { file: ofCopy, removed } = await createBackup(1, copy);
  expect(removed).toBe(0);
  expect((await createBackup(1, copy)).removed).toBe(1);
  expect([existsSync(file), existsSync(ofCopy)]).toEqual([true, false]);
});

test('leaves no files when verification fails', async () => {
  new Database(path).exec('PRAGMA application_id = 1').close();
  await expect(createBackup()).rejects.toThrow(/another program/);
  expect(readdirSync(backups)).toEqual([expect.stringMatching(/^firsthand-[\da-f]{12}-lock$/)]);
});

const createDrafts = (file: string) => {
  const drafts = [`${file}.17.new`, `${file}-erased.18.new`];
  const others = [`${join(backups, basename(file).replace(/firsthand-..../, 'firsthand-0000'))}.17.new`, `${file}.new`];
  for (const each of [...drafts, ...others]) writeFileSync(each, '');
  const folder = `${file}.19.new`;
  mkdirSync(folder);
  const left = () => drafts.filter((each) => existsSync(each)).length;
  return { left, untouched: () => [...others, folder].every((each) => existsSync(each)) };
};

test('removes only the drafts that killed processes left, when a server starts and before the next backup', async () => {
  const { file } = await createBackup();
  for (const remove of [() => openBackupFolder(path, backups).removeDrafts(), () => createBackup()]) {
    const { left, untouched } = createDrafts(file);
    expect(left()).toBe(2);
    await remove();
    expect([left(), untouched()]).toEqual([0, true]);
    rmSync(`${file}.19.new`, { recursive: true });
  }
});

test('refuses a second concurrent backup of a database, and removes nothing in the meantime', async () => {
  const { file } = await createBackup();
  const end = openBackupFolder(path, backups).begin();
  const { left } = createDrafts(file);
  openBackupFolder(path, backups).removeDrafts();
  expect(left()).toBe(2);
  await expect(createBackup()).rejects.toThrow(
    `another process is backing up this database to ${backups}: wait until it finishes`,
  );
  expect(left()).toBe(2);
  const copy = join(folder, 'copy.db');
  backupDatabase(path, copy);
  await createBackup(1, copy);
  end();
  await createBackup();
  expect(left()).toBe(0);
});

test('lists no backups in a missing folder, and throws if the folder cannot be read', () => {
  expect(openBackupFolder(path, backups).list()).toEqual([]);
  expect(() => openBackupFolder(path, path).list()).toThrow('ENOTDIR');
});

test('makes doctor warn if the newest backup is older than two periods or missing', async () => {
  const examine = async (backupEvery: number) =>
    (await examineDatabase(path, { backupDir: backups, backupEvery })).find(({ name }) => name === 'scheduled backups');
  expect(await examine(60_000)).toMatchObject({ ok: false, detail: expect.stringContaining('there is no backup') });
  const { file } = await createBackup();
  const ahead = file.replace(/-\d{8}T/, '-29991231T');
  renameSync(file, ahead);
  expect(await examine(60_000)).toMatchObject({ ok: false, detail: expect.stringContaining('there is no backup') });
  renameSync(ahead, file);
  utimesSync(path, 0, 0);
  expect(await examine(60_000)).toEqual({
    name: 'scheduled backups',
    ok: true,
    detail: expect.stringMatching(`the newest, ${file}, is \\d+ \\w+ old; the limit is twice BACKUP_EVERY, 2 minutes`),
  });
  await wait();
  expect(await examine(0)).toMatchObject({
    ok: false,
    detail: expect.stringMatching(/\d+ \w+ old; the limit .*, 0 seconds$/),
  });
});

test('makes doctor report one finding, and a hint if the folder has other databases’ backups', async () => {
  const examine = async (backupDir?: string) => {
    const options = { backupDir, backupEvery: 60_000 };
    return (await examineDatabase(path, options)).filter(({ name }) => name.includes('backup'));
  };
  const { file } = await createBackup();
  // Simulates a restore on another machine.
  rmSync(`${path}-backup`);
  expect(await examine(backups)).toMatchObject([{ name: 'scheduled backups', ok: true }]);
  expect(await examine()).toMatchObject([{ name: 'backup', detail: expect.stringContaining('set BACKUP_DIR') }]);
  renameSync(file, file.replace(/firsthand-[\da-f]{12}/, 'firsthand-0123456789ab'));
  const detail = expect.stringMatching(
    /there is no backup of this database in .*; the folder has backups of other databases \(1\): is the file in DATABASE_URL the right one\?/,
  );
  expect(await examine(backups)).toEqual([{ name: 'scheduled backups', ok: false, detail }]);
});
