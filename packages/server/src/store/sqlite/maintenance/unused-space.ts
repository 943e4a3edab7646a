/**
 * Clears the unused space in the middle of the database's pages.
 *
 * `secure_delete` overwrites deleted rows, but not the copies left by repacking (btree.c, rebuildPage): when a row
 * moves to another page, a copy may stay between the first page's cell pointers and cells, where no later delete
 * overwrites it.
 */
import { fsyncSync, openSync, readSync, statSync, writeSync } from 'node:fs';
import { type Connection, emptyLog, falseIfTransient } from '../database/connection.ts';

/** The number of bytes that are read between two commits, which takes a few milliseconds. */
const bytesPerStep = 2 * 1024 * 1024;

/** The approximate number of pages that are cleared under one lock, at 10 µs each. */
const maxPages = 500;

const pauseMilliseconds = 100;

/**
 * The first page number (at 128 GiB) whose bytes could be confused: overflow and freelist pages start with a page
 * number, b-tree pages with a type byte. Pages from this number on are not cleared.
 */
const firstAmbiguousPage = 0x02000000;

/**
 * Returns the bounds of a page's unused middle (https://www.sqlite.org/fileformat2.html#b_tree_pages); null if it has
 * none.
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
  // Never closed: closing it would release SQLite's locks on the file in this process (fcntl(2)).
  const file = () => (opened ??= openSync(path, 'r+'));
  /** Whether the file could be opened. It cannot if the process is out of file descriptors. */
  const canOpen = () => falseIfTransient(() => file() >= 0);
  /** The next page to examine; null: there is none. */
  let next: number | null = null;
  let dirtyPages: number[] = [];

  /** Returns the unused middle of a page unless it is all zeros. */
  const dirtyRange = (page: Buffer, number: number) => {
    const unused = unusedOf(page, number === 0);
    return unused && !page.subarray(...unused).equals(zeros.subarray(0, unused[1] - unused[0])) ? unused : null;
  };

  const clearPages = () => {
    const page = Buffer.allocUnsafe(pageBytes);
    for (const number of dirtyPages) {
      const read = readSync(file(), page, 0, pageBytes, number * pageBytes);
      // Reads a shorter page if the file has been truncated since.
      const unused = dirtyRange(page.subarray(0, read), number);
      if (unused) writeSync(file(), zeros, 0, unused[1] - unused[0], number * pageBytes + unused[0]);
    }
    fsyncSync(file());
  };

  /**
   * Clears the collected pages, under a write lock and with an empty log. Also drops SQLite's page cache, which would
   * write the old content back the next time a page changes. Returns whether it succeeded.
   */
  const clear = (): boolean => {
    if (!emptyLog(db)) return false;
    return falseIfTransient(() => {
      lock.run();
      try {
        // Gives up if another process has written since the log was truncated.
        if (statSync(`${path}-wal`).size > 0) return false;
        clearPages();
      } finally {
        unlock.run();
      }
      db.pragma('shrink_memory');
      dirtyPages = [];
      return true;
    });
  };

  return {
    /** Restarts from the first page. The log must be empty before the first `step`. */
    begin(): void {
      next = 0;
      dirtyPages = [];
    },
    /** Runs one step. Returns the milliseconds to wait before the next; null if nothing is left to clear. */
    step(): number | null {
      if (next === null) return null;
      if (!canOpen()) return pauseMilliseconds;
      if (dirtyPages.length >= maxPages) return clear() ? 0 : pauseMilliseconds;
      const read = readSync(file(), chunk, 0, bytesPerStep, next * pageBytes);
      for (let at = 0; at + pageBytes <= read; at += pageBytes, next += 1) {
        if (dirtyRange(chunk.subarray(at, at + pageBytes), next)) dirtyPages.push(next);
      }
      if (read === bytesPerStep && next < firstAmbiguousPage) return 0;
      if (dirtyPages.length > 0 && !clear()) return pauseMilliseconds;
      next = null;
      return null;
    },
  };
};
export type UnusedSpace = ReturnType<typeof createUnusedSpace>;
