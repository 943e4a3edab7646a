/**
 * What was erased, told beside the database as well: a backup that is put in the database's place is older than some
 * erasures, and a server that starts on it carries these out again. Keyed hashes and times only.
 */
import { createHmac } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { StoreUnusable } from '../unusable.ts';
import type { Connection } from './connection.ts';
import { syncDirectory } from './file.ts';

/** An identifier that was erased. */
export interface Erased {
  readonly account: number;
  readonly erasedTime: number;
  readonly hash: Buffer;
  /** 1: what was the contact's by claims only was left. */
  readonly verifiedOnly: 0 | 1;
}

export interface ErasureRecord {
  /** All that was recorded. Throws StoreUnusable when that is of another database. */
  read(): Erased[];
  /** Synced when it returns. */
  append(erased: readonly Erased[]): void;
}

const line = /^(\d+) (\d+) ([\da-f]{64})( verified)?$/;

const toLine = ({ account, erasedTime, hash, verifiedOnly }: Erased) =>
  `${account} ${erasedTime} ${hash.toString('hex')}${verifiedOnly ? ' verified' : ''}\n`;

/** The record of the database that `db` has open; one in memory has none. */
export const createErasureRecord = (db: Connection): ErasureRecord => {
  if (db.memory) return { read: () => [], append: () => {} };
  const path = `${db.name}-erased`;
  const secret = db.prepare<[], Buffer>('SELECT secret FROM position').pluck().get() as Buffer;
  // A backup has the secret of its database: their hashes are the same.
  const head = `erased from ${createHmac('sha256', secret).update('record').digest('hex')}\n`;

  return {
    read() {
      if (!existsSync(path)) return [];
      const text = readFileSync(path, 'utf8');
      // Nothing of it was kept when its beginning was not.
      if (head.startsWith(text)) return [];
      if (!text.startsWith(head)) {
        throw new StoreUnusable(
          `${path} tells of erasures in another database: move it away, or put the one back that belongs to ${db.name}`,
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
    },

    append(erased) {
      // Longer than its beginning, it was read and compared at the start.
      const isNew = !existsSync(path) || statSync(path).size <= head.length;
      const file = openSync(path, isNew ? 'w' : 'a');
      try {
        // A line that a crash has cut short ends here.
        writeSync(file, `${isNew ? head : '\n'}${erased.map(toLine).join('')}`);
        fsyncSync(file);
      } finally {
        closeSync(file);
      }
      if (isNew) syncDirectory(dirname(path));
    },
  };
};
