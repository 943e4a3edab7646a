/** Whether there is room on the disk, asked after a write has found none. */
import { open, rm } from 'node:fs/promises';
import { codeOf } from './connection.ts';

/** More than a usual commit takes; a smaller one may then be kept in what a failed one has left. */
const probe = Buffer.alloc(256 * 1024, 1);

/** Throws ENOSPC or EDQUOT while there is none, and whatever else keeps a file from being written there. */
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

export interface Room {
  /** What a write has failed with. */
  noteFailure(error: unknown): void;
  /** Throws while the last write that failed for want of room would fail again. Looks at the disk only after such a failure. */
  check(): Promise<void>;
}

export const createRoom = (path: string): Room => {
  let isFull = false;
  return {
    noteFailure(error) {
      if (path !== ':memory:' && codeOf((error as Error).cause).startsWith('SQLITE_FULL')) isFull = true;
    },
    async check() {
      if (!isFull) return;
      await findRoom(path);
      isFull = false;
    },
  };
};
