/** Checks whether the disk of a file has room. */
import { open, rm } from 'node:fs/promises';
import { createRoom, type Room } from '../../disk-space.ts';
import { codeOf } from './connection.ts';

/** More than a usual commit writes. A smaller commit may succeed meanwhile, in the space that a failed one has left. */
const probe = Buffer.alloc(256 * 1024, 1);

/** Throws ENOSPC or EDQUOT when there is no room, and any other error of writing a file there. */
const findRoom = async (path: string): Promise<void> => {
  const name = `${path}-room-${process.pid}`;
  try {
    const file = await open(name, 'w');
    try {
      await file.writeFile(probe);
      await file.sync();
    } finally {
      await file.close();
    }
  } finally {
    await rm(name, { force: true });
  }
};

export const createFileRoom = (path: string): Room =>
  createRoom(
    (cause) => path !== ':memory:' && codeOf(cause).startsWith('SQLITE_FULL'),
    () => findRoom(path),
    { isUnknown: path !== ':memory:' },
  );
