/** Tests that installed packages have at least the versions in which known vulnerabilities were fixed. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import Database from '../../src/store/sqlite/database/better-sqlite3.ts';

const packages = fileURLToPath(new URL('../../../', import.meta.url));

/** Returns the version of a package that a workspace loads. Node looks in the nearest node_modules first. */
const installedVersion = (workspace: string, name: string): string => {
  for (let folder = join(packages, workspace); ; folder = dirname(folder)) {
    const manifest = join(folder, 'node_modules', name, 'package.json');
    if (existsSync(manifest)) return JSON.parse(readFileSync(manifest, 'utf8')).version;
    if (folder === dirname(folder)) throw new Error(`${name} is not installed for ${workspace}`);
  }
};

const parseVersion = (version: string): number[] => {
  const [, ...numbers] = /^(\d+)\.(\d+)\.(\d+)$/.exec(version) ?? [];
  // Rejects a prerelease: it precedes the release, so it might lack the fix.
  if (numbers.length === 0) throw new Error(`${version} is not a release version`);
  return numbers.map(Number);
};

const isAtLeast = (version: string, floor: string): boolean => {
  const [ours, minimum] = [parseVersion(version), parseVersion(floor)];
  const at = ours.findIndex((number, index) => number !== minimum[index]);
  return at < 0 || (ours[at] as number) > (minimum[at] as number);
};

describe('the installed packages', () => {
  test.each([
    ['server', 'hono', '4.12.34', undefined],
    ['server', '@hono/node-server', '2.0.10', undefined],
    ['server', 'better-sqlite3', '12.8.0', '13.0.0'],
    ['server', 'nanoid', '5.1.15', undefined],
    ['tracker', 'nanoid', '5.1.15', undefined],
    ['tracker', 'js-cookie', '3.0.7', undefined],
  ])('include, for the %s, %s %s or later', (workspace, name, floor, ceiling) => {
    const version = installedVersion(workspace, name);
    expect(isAtLeast(version, floor), `${name} ${version}`).toBe(true);
    if (ceiling !== undefined) expect(isAtLeast(version, ceiling), `${name} ${version}`).toBe(false);
  });

  test('include SQLite 3.51.3 or later', () => {
    const db = new Database(':memory:');
    const version = db.prepare<[], string>('SELECT sqlite_version()').pluck().get() as string;
    db.close();
    expect(isAtLeast(version, '3.51.3'), version).toBe(true);
  });
});
