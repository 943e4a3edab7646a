import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { BadConfiguration } from '../config/config.ts';
import { requireWritable } from './writable-folder.ts';

const temporaryFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'firsthand-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
};

it('creates a missing folder with mode 700, and leaves it empty', () => {
  const folder = join(temporaryFolder(), 'a', 'b');
  requireWritable('BACKUP_DIR', folder);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(readdirSync(folder)).toEqual([]);
});

it('accepts an existing folder', () => {
  const folder = temporaryFolder();
  expect(() => requireWritable('BACKUP_DIR', folder)).not.toThrow();
});

it.each([
  ['a file', (file: string) => file],
  ['a path below a file', (file: string) => join(file, 'backups')],
])('rejects %s, and names the setting and the path', (_, toFolder) => {
  const file = join(temporaryFolder(), 'file');
  writeFileSync(file, '');
  const folder = toFolder(file);
  expect(() => requireWritable('BACKUP_DIR', folder)).toThrow(BadConfiguration);
  expect(() => requireWritable('BACKUP_DIR', folder)).toThrow(
    `BACKUP_DIR is ${folder}, where the server can't write: `,
  );
  expect(() => requireWritable('BACKUP_DIR', folder)).toThrow(/and list it in ReadWritePaths of the systemd unit$/);
});
