/**
 * The unused middle of the database's pages. `secure_delete` overwrites what is deleted where it stands, but not what
 * SQLite leaves behind when it packs a page anew (btree.c, rebuildPage): of a row that has moved to another page, the
 * first may keep a copy between the list of its cells and the cells, which no later delete reaches.
 */
import { fsyncSync, openSync, readSync, statSync, writeSync } from 'node:fs';
import { type Connection, emptyLog, isNotNow } from './connection.ts';

/** Looked at between two commits: a few milliseconds. */
const bytesPerStep = 2 * 1024 * 1024;

/** Pages that are cleared under one lock, or some more: each takes about 10 microseconds. */
const mostPages = 500;

const pauseMilliseconds = 100;

/**
 * From here on an overflow or freelist page, which begins with the number of another page, could be taken for a page of
 * a tree, whose first byte is its kind. That is a database of 128 GiB.
 */
const tooManyPages = 0x02000000;

/** Of a page, where its unused middle begins and ends (https://www.sqlite.org/fileformat2.html#b_tree_pages); null: it has none. */
const unusedOf = (page: Buffer, isFirst: boolean): readonly [number, number] | null => {
  const header = isFirst ? 100 : 0;
  const kind = page[header] as number;
  const isLeaf = kind === 10 || kind === 13;
  if (!isLeaf && kind !== 2 && kind !== 5) return null;
  const from = header + (isLeaf ? 8 : 12) + 2 * page.readUInt16BE(header + 3);
  const to = page.readUInt16BE(header + 5);
  return from < to && to <= page.length ? [from, to] : null;
};

export interface UnusedSpace {
  /** All of it is to be cleared, from the first page on; to be called, or at least stepped on, when the log has been emptied. */
  begin(): void;
  /** One step. Answers after how many milliseconds to come again, or null when there is nothing left to clear. */
  step(): number | null;
}

export const createUnusedSpace = (db: Connection): UnusedSpace => {
  if (db.memory) return { begin: () => {}, step: () => null };
  const path = db.name;
  const pageBytes = db.pragma('page_size', { simple: true }) as number;
  const chunk = Buffer.allocUnsafe(bytesPerStep);
  const zeros = Buffer.alloc(pageBytes);
  const lock = db.prepare('BEGIN IMMEDIATE');
  const unlock = db.prepare('ROLLBACK');
  let opened: number | undefined;
  // Never closed: that would take away the locks that SQLite holds on the file in this process (fcntl(2)).
  const file = () => (opened ??= openSync(path, 'r+'));
  /** Whether it is open: connections may have taken all the descriptors that the process may have. */
  const canOpen = (): boolean => {
    try {
      file();
      return true;
    } catch (error) {
      if (isNotNow(error)) return false;
      throw error;
    }
  };
  /** The next page to look at. */
  let next: number | null = null;
  let unclean: number[] = [];

  const isUnclean = (page: Buffer, number: number): boolean => {
    const unused = unusedOf(page, number === 0);
    return unused !== null && !page.subarray(...unused).equals(zeros.subarray(0, unused[1] - unused[0]));
  };

  const clearPages = () => {
    const page = Buffer.allocUnsafe(pageBytes);
    for (const number of unclean) {
      const read = readSync(file(), page, 0, pageBytes, number * pageBytes);
      // Less when the file has become shorter since.
      const unused = isUnclean(page.subarray(0, read), number) && unusedOf(page, number === 0);
      if (unused) writeSync(file(), zeros, 0, unused[1] - unused[0], number * pageBytes + unused[0]);
    }
    fsyncSync(file());
  };

  /**
   * While nobody can write, and all that was written is in the database. What SQLite remembers of the pages goes as well:
   * it would be written back with the next change of a page. Answers whether it could be done.
   */
  const clear = (): boolean => {
    if (!emptyLog(db)) return false;
    try {
      lock.run();
      try {
        // Another process has written since.
        if (statSync(`${path}-wal`).size > 0) return false;
        clearPages();
      } finally {
        unlock.run();
      }
      db.pragma('shrink_memory');
      unclean = [];
      return true;
    } catch (error) {
      if (isNotNow(error)) return false;
      throw error;
    }
  };

  return {
    begin() {
      next = 0;
      unclean = [];
    },
    step() {
      if (next === null) return null;
      if (!canOpen()) return pauseMilliseconds;
      if (unclean.length >= mostPages) return clear() ? 0 : pauseMilliseconds;
      const read = readSync(file(), chunk, 0, bytesPerStep, next * pageBytes);
      for (let at = 0; at + pageBytes <= read; at += pageBytes, next += 1) {
        if (isUnclean(chunk.subarray(at, at + pageBytes), next)) unclean.push(next);
      }
      if (read === bytesPerStep && next < tooManyPages) return 0;
      if (unclean.length > 0 && !clear()) return pauseMilliseconds;
      next = null;
      return null;
    },
  };
};
