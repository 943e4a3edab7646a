/**
 * Clears the unused middle of the database's pages. `secure_delete` overwrites deleted rows in place, but not the copies that
 * SQLite leaves when it repacks a page (btree.c, rebuildPage): when a row has moved to another page, the first page may keep a copy
 * between its cell pointers and its cells, which no later delete reaches.
 */
import { fsyncSync, openSync, readSync, statSync, writeSync } from 'node:fs';
import { type Connection, couldNow, emptyLog } from '../database/connection.ts';

/** Bytes that are read between two commits, in a few milliseconds. */
const bytesPerStep = 2 * 1024 * 1024;

/** Pages that are cleared under one lock, or slightly more: each takes about 10 microseconds. */
const maxPages = 500;

const pauseMilliseconds = 100;

/**
 * From this page on an overflow or freelist page, which begins with the number of another page, could be mistaken for a b-tree
 * page, whose first byte is its type. A database reaches it at 128 GiB; later pages are not cleared.
 */
const tooManyPages = 0x02000000;

/**
 * Returns where the unused middle of a page begins and ends (https://www.sqlite.org/fileformat2.html#b_tree_pages); null when the
 * page has none.
 */
const unusedOf = (page: Buffer, isFirst: boolean): readonly [number, number] | null => {
  const header = isFirst ? 100 : 0;
  const kind = page[header] as number;
  const isLeaf = kind === 10 || kind === 13;
  if (!isLeaf && kind !== 2 && kind !== 5) return null;
  const from = header + (isLeaf ? 8 : 12) + 2 * page.readUInt16BE(header + 3);
  const to = page.readUInt16BE(header + 5);
  return from < to && to <= page.length ? [from, to] : null;
};

export const createUnusedSpace = (db: Connection) => {
  if (db.memory) return { begin: () => {}, step: () => null };
  const path = db.name;
  const pageBytes = db.pragma('page_size', { simple: true }) as number;
  const chunk = Buffer.allocUnsafe(bytesPerStep);
  const zeros = Buffer.alloc(pageBytes);
  const lock = db.prepare('BEGIN IMMEDIATE');
  const unlock = db.prepare('ROLLBACK');
  let opened: number | undefined;
  // Never closed: closing it would release the locks that SQLite holds on the file in this process (fcntl(2)).
  const file = () => (opened ??= openSync(path, 'r+'));
  /** Whether the file is open: connections may have used up all descriptors of the process. */
  const canOpen = () => couldNow(() => file() >= 0);
  /** The next page to look at; null when nothing is left. */
  let next: number | null = null;
  let unclean: number[] = [];

  /** Returns the unused middle of a page unless it is all zeros. */
  const uncleanOf = (page: Buffer, number: number) => {
    const unused = unusedOf(page, number === 0);
    return unused && !page.subarray(...unused).equals(zeros.subarray(0, unused[1] - unused[0])) ? unused : null;
  };

  const clearPages = () => {
    const page = Buffer.allocUnsafe(pageBytes);
    for (const number of unclean) {
      const read = readSync(file(), page, 0, pageBytes, number * pageBytes);
      // Shorter when the file has been truncated since.
      const unused = uncleanOf(page.subarray(0, read), number);
      if (unused) writeSync(file(), zeros, 0, unused[1] - unused[0], number * pageBytes + unused[0]);
    }
    fsyncSync(file());
  };

  /**
   * Clears the collected pages while nobody can write and the whole log is in the database. SQLite's page cache is dropped too: the
   * next change of a page would write the cached copy back. Returns whether it could be done.
   */
  const clear = (): boolean => {
    if (!emptyLog(db)) return false;
    return couldNow(() => {
      lock.run();
      try {
        // Another process has written since the log was emptied.
        if (statSync(`${path}-wal`).size > 0) return false;
        clearPages();
      } finally {
        unlock.run();
      }
      db.pragma('shrink_memory');
      unclean = [];
      return true;
    });
  };

  return {
    /** Starts to clear all pages, from the first on. Call it, or at least the first `step`, when the log has been emptied. */
    begin(): void {
      next = 0;
      unclean = [];
    },
    /** Runs one step. Returns the milliseconds to wait before the next, or null when nothing is left to clear. */
    step(): number | null {
      if (next === null) return null;
      if (!canOpen()) return pauseMilliseconds;
      if (unclean.length >= maxPages) return clear() ? 0 : pauseMilliseconds;
      const read = readSync(file(), chunk, 0, bytesPerStep, next * pageBytes);
      for (let at = 0; at + pageBytes <= read; at += pageBytes, next += 1) {
        if (uncleanOf(chunk.subarray(at, at + pageBytes), next)) unclean.push(next);
      }
      if (read === bytesPerStep && next < tooManyPages) return 0;
      if (unclean.length > 0 && !clear()) return pauseMilliseconds;
      next = null;
      return null;
    },
  };
};
export type UnusedSpace = ReturnType<typeof createUnusedSpace>;
