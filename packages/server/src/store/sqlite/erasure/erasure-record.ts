/**
 * The erasure record, a file next to the database. A server that starts on a restored backup repeats the erasures that
 * are newer than it. Identifiers are recorded as keyed hashes only.
 */
import { createHmac } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { StoreUnusable } from '../../unusable.ts';
import { type Connection, falseIfTransient } from '../database/connection.ts';
import { syncDirectory } from '../database/file.ts';
import type { Transactions } from '../transactions/transaction.ts';

export interface ErasedIdentifier {
  readonly account: number;
  readonly erasedTime: number;
  readonly hash: Buffer;
  /**
   * 1 if only the verified part of the contact's history was erased, not the events that it owned only through claims.
   */
  readonly verifiedOnly: 0 | 1;
}

/** An erasure in this database. */
export interface Erasure extends Omit<ErasedIdentifier, 'hash'> {
  readonly erasure: number;
}

const line = /^(\d+) (\d+) ([\da-f]{64})( verified)?$/;

const toLine = ({ account, erasedTime, hash, verifiedOnly }: ErasedIdentifier) =>
  `${account} ${erasedTime} ${hash.toString('hex')}${verifiedOnly ? ' verified' : ''}\n`;

/** Returns the path of the erasure record for the database at `path`. */
export const recordPathOf = (path: string): string => `${path}-erased`;

/**
 * Returns the first line of a database's record. All backups of the database have the same first line, because they
 * share its secret.
 */
export const recordHeaderOf = (db: Connection): string => {
  const secret = db.prepare<[], Buffer>('SELECT secret FROM position').pluck().get() as Buffer;
  return `erased from ${createHmac('sha256', secret).update('record').digest('hex')}\n`;
};

/**
 * Reads the record at `path`; empty if there is none. Throws StoreUnusable if the record has a different first line.
 */
export const readRecord = (path: string, head: string): ErasedIdentifier[] => {
  if (!existsSync(path)) return [];
  const text = readFileSync(path, 'utf8');
  // An incomplete first line means that nothing was recorded after it.
  if (head.startsWith(text)) return [];
  if (!text.startsWith(head)) {
    throw new StoreUnusable(
      `${path} is the record of erasures of another database: move it away, or restore the record of ${path.replace(/-erased$/, '')}`,
    );
  }
  return text.split('\n').flatMap((each) => {
    const [, account, erasedTime, hash, verified] = line.exec(each) ?? [];
    if (hash === undefined) return [];
    return {
      account: Number(account),
      erasedTime: Number(erasedTime),
      hash: Buffer.from(hash, 'hex'),
      verifiedOnly: verified ? 1 : 0,
    };
  });
};

const startsWith = (path: string, head: string): boolean => {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(head.length);
    return readSync(file, bytes, 0, head.length, 0) === head.length && bytes.toString('latin1') === head;
  } finally {
    closeSync(file);
  }
};

/**
 * Returns the paths of all records in a folder that have this first line: one database's records, regardless of their
 * names.
 */
export const findRecords = (folder: string, head: string): string[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('-erased'))
    .map((name) => join(folder, name))
    .filter((path) => lstatSync(path).isFile() && startsWith(path, head));

/** Returns all of a database's erased identifiers. */
export const listErased = (db: Connection): ErasedIdentifier[] =>
  db
    .prepare<[], ErasedIdentifier>(
      'SELECT x.account, x.erasedTime, x.verifiedOnly, e.hash FROM erased_identifier e JOIN erasure x ON x.erasure = e.erasure',
    )
    .all();

/** Formats a record. Merges erasures of the same identifier; the result is `verifiedOnly` if all of them are. */
export const toRecord = (head: string, erased: Iterable<ErasedIdentifier>): string => {
  const byHash = new Map<string, ErasedIdentifier>();
  for (const each of erased) {
    const name = each.hash.toString('hex');
    if ((byHash.get(name)?.verifiedOnly ?? 1) >= each.verifiedOnly) byHash.set(name, each);
  }
  return head + [...byHash.values()].map(toLine).join('');
};

/** Opens a database's record. An in-memory database has none. */
const createErasureRecord = (db: Connection) => {
  if (db.memory) return { read: (): ErasedIdentifier[] => [], append: () => {} };
  const path = recordPathOf(db.name);
  const head = recordHeaderOf(db);

  return {
    read: (): ErasedIdentifier[] => readRecord(path, head),

    /** Appends to the record and syncs the file. */
    append(erased: readonly ErasedIdentifier[]): void {
      // Does not check the first line again: a file that has more than this line was validated at start.
      const isNew = !existsSync(path) || statSync(path).size <= head.length;
      const file = openSync(path, isNew ? 'w' : 'a');
      try {
        // Starts with a line break, which ends a line that a crash may have truncated.
        writeSync(file, `${isNew ? head : '\n'}${erased.map(toLine).join('')}`);
        fsyncSync(file);
      } finally {
        closeSync(file);
      }
      if (isNew) syncDirectory(dirname(path));
    },
  };
};

interface ErasureLogParts {
  readonly erasures: {
    takeUnrecorded(): ErasedIdentifier[];
    listErased(): ErasedIdentifier[];
    eraseAgain(erased: readonly ErasedIdentifier[]): void;
  };
  readonly transactions: Pick<Transactions, 'runAlone'>;
  /** Schedules the removal of newly erased data from the files. */
  noteErasure(): void;
}

/** Records erased contacts' identifiers in a file that a restored backup does not replace. */
export const createErasureLog = (db: Connection, { erasures, transactions, noteErasure }: ErasureLogParts) => {
  const file = createErasureRecord(db);
  let unrecorded: ErasedIdentifier[] = [];

  /**
   * Schedules the removal of newly erased data from the files, and records the erased identifiers. Returns false if
   * they could not be recorded now, for example because the disk is full.
   */
  const record = (): boolean => {
    const newErasures = erasures.takeUnrecorded();
    // Schedules only for new erasures: a progress request must not restart the removal.
    if (newErasures.length > 0) noteErasure();
    unrecorded.push(...newErasures);
    if (unrecorded.length === 0) return true;
    return falseIfTransient(() => {
      file.append(unrecorded);
      unrecorded = [];
      return true;
    });
  };

  return {
    record,

    /** Repeats the recorded erasures, in case this database is a restored backup. Call it before serving. */
    eraseAgain(): void {
      const nameOf = ({ hash }: ErasedIdentifier) => hash.toString('hex');
      const recorded = file.read();
      const appliedNames = new Set(erasures.listErased().map(nameOf));
      const missing = recorded.filter((erased) => !appliedNames.has(nameOf(erased)));
      if (missing.length > 0) transactions.runAlone(() => erasures.eraseAgain(missing));
      // Records erasures that a previous server could not record, or whose record was lost.
      const recordedNames = new Set(recorded.map(nameOf));
      if (erasures.takeUnrecorded().length > 0) noteErasure();
      unrecorded = erasures.listErased().filter((erased) => !recordedNames.has(nameOf(erased)));
      record();
    },
  };
};
