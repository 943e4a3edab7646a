/** Checks whether the last build is newer than all its sources, so that it can be reused. */
import { readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const repository = fileURLToPath(new URL('../', import.meta.url));

/** Changes when npm installs packages. */
const lockfile = 'node_modules/.package-lock.json';

const newestMtimeMs = (path: string): number => {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat?.isDirectory()) return stat?.mtimeMs ?? 0;
  // Removing a file changes only its folder.
  return Math.max(stat.mtimeMs, ...readdirSync(path).map((name) => newestMtimeMs(join(path, name))));
};

/** The stamp file, written after all other files. */
const stampPath = (folder: string): string => join(folder, 'built');

/** `sources` are files and folders, relative to the root of the repository. Folders count with all their contents. */
export const isFresh = (folder: string, sources: readonly string[]): boolean => {
  const builtMs = statSync(stampPath(folder), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return [...sources, lockfile].every((path) => newestMtimeMs(join(repository, path)) < builtMs);
};

/** Dates the stamp to the start of the build, so that sources changed during the build are newer. */
export const markBuilt = (folder: string, startTime: Date): void => {
  writeFileSync(stampPath(folder), '');
  utimesSync(stampPath(folder), startTime, startTime);
};
