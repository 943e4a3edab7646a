/** Checks whether a file's disk has space. */
import { open, rm } from 'node:fs/promises';
import { createDiskSpaceCheck, type DiskSpaceCheck } from '../../disk-space.ts';
import { codeOf } from './connection.ts';

/** Larger than a typical commit, because a smaller file might fit into the space that a failed commit has freed. */
const probeBytes = Buffer.alloc(256 * 1024, 1);

/** Throws ENOSPC or EDQUOT if the disk is full, and any other error from writing a file there. */
const probe = async (path: string): Promise<void> => {
  const name = `${path}-room-${process.pid}`;
  try {
    const file = await open(name, 'w');
    try {
      await file.writeFile(probeBytes);
      await file.sync();
    } finally {
      await file.close();
    }
  } finally {
    await rm(name, { force: true });
  }
};

export const createFileSpaceCheck = (path: string): DiskSpaceCheck =>
  createDiskSpaceCheck(
    (cause) => path !== ':memory:' && codeOf(cause).startsWith('SQLITE_FULL'),
    () => probe(path),
    { isUnknown: path !== ':memory:' },
  );
