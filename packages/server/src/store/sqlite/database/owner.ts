/**
 * Sets the owner of files that root creates next to those of another user, so that a server that runs as that user can
 * open them.
 */
import { chownSync, existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** Returns the owner of the first path that exists and isn't root's. Undefined unless this process runs as root. */
export const findOwner = (...paths: readonly string[]): Owner | undefined => {
  if (process.getuid?.() !== 0) return undefined;
  return paths
    .filter((path) => existsSync(path))
    .map((path) => statSync(path))
    .find(({ uid }) => uid !== 0);
};

/** Changes a file's owner; does nothing if `owner` is undefined. */
export const changeOwner = (path: string, owner: Owner | undefined): void => {
  if (owner) chownSync(path, owner.uid, owner.gid);
};

/** Creates a folder and its missing parents. They get the owner of the existing parent. */
export const createFolder = (folder: string): void => {
  const first = mkdirSync(folder, { recursive: true });
  if (first === undefined) return;
  const owner = findOwner(dirname(first));
  for (let path = folder; path.length >= first.length; path = dirname(path)) changeOwner(path, owner);
};
