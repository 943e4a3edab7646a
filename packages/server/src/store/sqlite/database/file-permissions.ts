/** Checks who may read the files of a database, for `firsthand doctor`. */
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Finding } from '../../doctor-findings.ts';

/** The suffixes of the database's name for all files that a server writes. */
const suffixes = ['', '-wal', '-shm', '-lock', '-lock-journal', '-erased', '-backup'];

const forOthers = 0o077;

const isAccessible = (path: string): boolean => {
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
    return true;
  } catch {
    return false;
  }
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
