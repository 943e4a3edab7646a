/**
 * The record of erasures, a file beside the database. A restored backup is older than some erasures; a server that starts on it
 * carries them out again. Identifiers are recorded as keyed hashes only.
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
import type { Connection } from '../database/connection.ts';
import { syncDirectory } from '../database/file.ts';

/** An erased identifier. */
export interface Erased {
  readonly account: number;
  readonly erasedTime: number;
  readonly hash: Buffer;
  /** 1: only the verified part of the contact's history was erased; what was the contact's by claims only was left. */
  readonly verifiedOnly: 0 | 1;
}

/** An erasure in this database. */
export interface Erasure extends Omit<Erased, 'hash'> {
  readonly erasure: number;
}

const line = /^(\d+) (\d+) ([\da-f]{64})( verified)?$/;

const toLine = ({ account, erasedTime, hash, verifiedOnly }: Erased) =>
  `${account} ${erasedTime} ${hash.toString('hex')}${verifiedOnly ? ' verified' : ''}\n`;

/** The path of the record of the database at `path`. */
export const recordPathOf = (path: string): string => `${path}-erased`;

/** The first line of the record of a database and of its backups, which have the same secret. */
export const recordHeadOf = (db: Connection): string => {
  const secret = db.prepare<[], Buffer>('SELECT secret FROM position').pluck().get() as Buffer;
  return `erased from ${createHmac('sha256', secret).update('record').digest('hex')}\n`;
};

/** Returns all that the record at `path` holds; nothing when there is none. Throws StoreUnusable when it has another first line. */
export const readRecord = (path: string, head: string): Erased[] => {
  if (!existsSync(path)) return [];
  const text = readFileSync(path, 'utf8');
  // The head was cut short, so nothing was recorded after it.
  if (head.startsWith(text)) return [];
  if (!text.startsWith(head)) {
    throw new StoreUnusable(
      `${path} is the record of erasures of another database: move it away, or restore the record that belongs to ${path.replace(/-erased$/, '')}`,
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

const beginsWith = (path: string, head: string): boolean => {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(head.length);
    return readSync(file, bytes, 0, head.length, 0) === head.length && bytes.toString('latin1') === head;
  } finally {
    closeSync(file);
  }
};

/** The paths of all records in a folder that have this first line: they belong to one database, whatever their names. */
export const findRecords = (folder: string, head: string): string[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('-erased'))
    .map((name) => join(folder, name))
    .filter((path) => lstatSync(path).isFile() && beginsWith(path, head));

/** Returns all identifiers that were erased in a database. */
export const listErased = (db: Connection): Erased[] =>
  db
    .prepare<[], Erased>(
      'SELECT x.account, x.erasedTime, x.verifiedOnly, e.hash FROM erased_identifier e JOIN erasure x ON x.erasure = e.erasure',
    )
    .all();

/** The text of a record of these erasures. Erasures of one identifier become one, of all of its history if one of them was. */
export const toRecord = (head: string, erased: Iterable<Erased>): string => {
  const byHash = new Map<string, Erased>();
  for (const each of erased) {
    const name = each.hash.toString('hex');
    if ((byHash.get(name)?.verifiedOnly ?? 1) >= each.verifiedOnly) byHash.set(name, each);
  }
  return head + [...byHash.values()].map(toLine).join('');
};

/** The record of the database that `db` has open. A database in memory has none. */
export const createErasureRecord = (db: Connection) => {
  if (db.memory) return { read: (): Erased[] => [], append: () => {} };
  const path = recordPathOf(db.name);
  const head = recordHeadOf(db);

  return {
    read: (): Erased[] => readRecord(path, head),

    /** The record is synced when this returns. */
    append(erased: readonly Erased[]): void {
      // A longer file was read and compared at the start.
      const isNew = !existsSync(path) || statSync(path).size <= head.length;
      const file = openSync(path, isNew ? 'w' : 'a');
      try {
        // The line break ends a line that a crash has cut short.
        writeSync(file, `${isNew ? head : '\n'}${erased.map(toLine).join('')}`);
        fsyncSync(file);
      } finally {
        closeSync(file);
      }
      if (isNew) syncDirectory(dirname(path));
    },
  };
};
