/** Whether the last build is newer than everything that it was made of, so that a start needs no other. */
import { readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const repository = fileURLToPath(new URL('../../../', import.meta.url));

/** Folders with all files in them, and files. The last changes when npm installs other packages. */
const sources = [
  'packages/docs/build',
  'packages/docs/src',
  'packages/contract/src',
  ...readdirSync(join(repository, 'packages/docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `packages/docs/${name}`),
];
const installed = 'node_modules/.package-lock.json';

const newest = (path: string): number => {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat?.isDirectory()) return stat?.mtimeMs ?? 0;
  // A folder changes when a file in it is removed.
  return Math.max(stat.mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name))));
};

/** Written after all other files. */
const markIn = (folder: string): string => join(folder, 'built');

/** `manuals` are further files of the repository that became pages. */
export const isFresh = (folder: string, manuals: readonly string[]): boolean => {
  const builtMs = statSync(markIn(folder), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return [...sources, ...manuals, installed].every((path) => newest(join(repository, path)) < builtMs);
};

/** Sources that changed during the build must be newer than it. */
export const markBuilt = (folder: string, began: Date): void => {
  writeFileSync(markIn(folder), '');
  utimesSync(markIn(folder), began, began);
};
