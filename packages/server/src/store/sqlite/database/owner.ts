/** The owner of files that root makes beside those of another user: a server that runs as that user must be able to open them. */
import { chownSync, existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** The owner of the first of these paths that is there and isn't root's. Undefined unless this process is root's: it keeps its files. */
export const ownerAmong = (...paths: readonly string[]): Owner | undefined => {
  if (process.getuid?.() !== 0) return undefined;
  return paths
    .filter((path) => existsSync(path))
    .map((path) => statSync(path))
    .find(({ uid }) => uid !== 0);
};

/** Gives a file to the owner, if there is one. */
export const give = (path: string, owner: Owner | undefined): void => {
  if (owner) chownSync(path, owner.uid, owner.gid);
};

/** Makes a folder and those above it. They belong to the owner of the one in which the first of them is made. */
export const makeFolder = (folder: string): void => {
  const first = mkdirSync(folder, { recursive: true });
  if (first === undefined) return;
  const owner = ownerAmong(dirname(first));
  for (let made = folder; made.length >= first.length; made = dirname(made)) give(made, owner);
};
