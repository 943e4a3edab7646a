/** Checks the permissions of a database's files. */
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Finding } from '../../doctor-findings.ts';
import { StoreUnusable } from '../../unusable.ts';

/** The suffixes of the files that a server must be able to open, if they exist. */
const requiredSuffixes = ['', '-wal', '-shm', '-lock', '-lock-journal', '-erased'];
/** The suffixes of all files that Firsthand writes. */
const suffixes = [...requiredSuffixes, '-backup'];

const groupAndOthers = 0o077;

const isAccessible = (path: string): boolean => {
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
    return true;
  } catch {
    return false;
  }
};

/**
 * Throws StoreUnusable if this process cannot read and write a database's folder, or a file in it that a server needs.
 */
export const refuseInaccessible = (path: string): void => {
  const files = requiredSuffixes.map((suffix) => path + suffix).filter((file) => existsSync(file));
  const inaccessible = [dirname(path), ...files].find((each) => !isAccessible(each));
  if (inaccessible === undefined) return;
  throw new StoreUnusable(
    `user ${process.getuid?.()} cannot read and write ${inaccessible}, which belongs to user ${statSync(inaccessible).uid}: ` +
      `run Firsthand as the owner of ${path}, or give the folder and all of its files to this user (chown)`,
  );
};

/**
 * All files should belong to one user, and only that user should have access. The folder must be closed to other users
 * only if that user owns it: a shared folder, such as /tmp, must stay open.
 */
export const examinePermissions = (path: string): Finding => {
  const finding = (ok: boolean, detail: string): Finding => ({ name: 'permissions', ok, detail });
  const owner = statSync(path).uid;
  const files = suffixes.map((suffix) => path + suffix).filter((file) => existsSync(file));
  const folder = dirname(path);
  // The server does not run as root, so a command that ran as root created these files.
  const user = owner === 0 ? files.map((file) => statSync(file).uid).find((uid) => uid !== 0) : undefined;
  if (user !== undefined) {
    const ownedByRoot = files.filter((file) => statSync(file).uid === 0);
    const belong = ownedByRoot.length === 1 ? 'belongs' : 'belong';
    const advice = `chown ${user} ${ownedByRoot.join(' ')}`;
    return finding(
      false,
      `${ownedByRoot.join(', ')} ${belong} to root, and the other files to user ${user}: ${advice}`,
    );
  }
  const otherOwners = files.filter((file) => statSync(file).uid !== owner);
  if (otherOwners.length > 0) {
    const advice = `a server that runs as the owner of ${path} cannot use them: chown ${owner} ${otherOwners.join(' ')}`;
    return finding(
      false,
      `${otherOwners.join(', ')} ${otherOwners.length === 1 ? 'has' : 'have'} another owner; ${advice}`,
    );
  }
  const inaccessible = [folder, ...files].filter((file) => !isAccessible(file));
  if (inaccessible.length > 0) {
    return finding(
      false,
      `this user cannot read and write ${inaccessible.join(', ')}; user ${owner} owns the database`,
    );
  }
  const isOpen = (file: string) => (statSync(file).mode & groupAndOthers) !== 0;
  const openFolder = statSync(folder).uid === owner && isOpen(folder) ? [folder] : [];
  const openFiles = files.filter(isOpen);
  const advice = [
    ...openFolder.map((each) => `chmod 700 ${each}`),
    ...(openFiles.length > 0 ? [`chmod 600 ${openFiles.join(' ')}`] : []),
  ];
  if (advice.length > 0) return finding(false, `other users can read the data: ${advice.join('; ')}`);
  return finding(true, `only user ${owner} can read the ${files.length === 1 ? 'file' : `${files.length} files`}`);
};
