/** Whether the last build is newer than everything that it was made of, so that a start or a test needs no other. */
import { readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const repository = fileURLToPath(new URL('../', import.meta.url));

/** Changes when npm installs other packages. */
const installed = 'node_modules/.package-lock.json';

const newest = (path: string): number => {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat?.isDirectory()) return stat?.mtimeMs ?? 0;
  // A folder changes when a file in it is removed.
  return Math.max(stat.mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name))));
};

/** Written after all other files. */
const markIn = (folder: string): string => join(folder, 'built');

/** `sources` are paths from the root of the repository: files, and folders with all files in them. */
export const isFresh = (folder: string, sources: readonly string[]): boolean => {
  const builtMs = statSync(markIn(folder), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return [...sources, installed].every((path) => newest(join(repository, path)) < builtMs);
};

/** Sources that changed during the build must be newer than it. */
export const markBuilt = (folder: string, began: Date): void => {
  writeFileSync(markIn(folder), '');
  utimesSync(markIn(folder), began, began);
};
