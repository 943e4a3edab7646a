/** Checks who may read and write the files of a database. */
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Finding } from '../../doctor-findings.ts';
import { StoreUnusable } from '../../unusable.ts';

/** The suffixes of the database's name for the files that a server can't do without, once they are there. */
const needed = ['', '-wal', '-shm', '-lock', '-lock-journal', '-erased'];
/** Those of all files that a server writes. */
const suffixes = [...needed, '-backup'];

const forOthers = 0o077;

const isAccessible = (path: string): boolean => {
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
    return true;
  } catch {
    return false;
  }
};

/** Throws StoreUnusable if this process may not read and write the folder of a database, or a file there that a server needs. */
export const refuseClosed = (path: string): void => {
  const files = needed.map((suffix) => path + suffix).filter((file) => existsSync(file));
  const closed = [dirname(path), ...files].find((each) => !isAccessible(each));
  if (closed === undefined) return;
  throw new StoreUnusable(
    `user ${process.getuid?.()} may not read and write ${closed}, which belongs to user ${statSync(closed).uid}: ` +
      `run Firsthand as the owner of ${path}, or give the folder and all of its files to this user (chown)`,
  );
};

/**
 * The files should belong to one user, who may read and write them, and nobody else may. The folder is checked for other users only
 * when that user owns it: a shared folder, such as /tmp, must stay open.
 */
export const examinePermissions = (path: string): Finding => {
  const found = (ok: boolean, detail: string): Finding => ({ name: 'permissions', ok, detail });
  const owner = statSync(path).uid;
  const files = suffixes.map((suffix) => path + suffix).filter((file) => existsSync(file));
  const folder = dirname(path);
  // A command of root made these, because the server does not run as root.
  const user = owner === 0 ? files.map((file) => statSync(file).uid).find((uid) => uid !== 0) : undefined;
  if (user !== undefined) {
    const rooted = files.filter((file) => statSync(file).uid === 0);
    const belong = rooted.length === 1 ? 'belongs' : 'belong';
    const advice = `chown ${user} ${rooted.join(' ')}`;
    return found(false, `${rooted.join(', ')} ${belong} to root, and the other files to user ${user}: ${advice}`);
  }
  const strangers = files.filter((file) => statSync(file).uid !== owner);
  if (strangers.length > 0) {
    const advice = `a server that runs as the owner of ${path} cannot use them: chown ${owner} ${strangers.join(' ')}`;
    return found(false, `${strangers.join(', ')} ${strangers.length === 1 ? 'has' : 'have'} another owner; ${advice}`);
  }
  const closed = [folder, ...files].filter((file) => !isAccessible(file));
  if (closed.length > 0) {
    return found(false, `this user may not read and write ${closed.join(', ')}; user ${owner} owns the database`);
  }
  const isOpen = (file: string) => (statSync(file).mode & forOthers) !== 0;
  const openFolder = statSync(folder).uid === owner && isOpen(folder) ? [folder] : [];
  const openFiles = files.filter(isOpen);
  const advice = [
    ...openFolder.map((each) => `chmod 700 ${each}`),
    ...(openFiles.length > 0 ? [`chmod 600 ${openFiles.join(' ')}`] : []),
  ];
  if (advice.length > 0) return found(false, `others may read what is kept: ${advice.join('; ')}`);
  return found(true, `only user ${owner} may read the ${files.length} files`);
};
