/**
 * The record of erasures, a file beside the database. A restored backup is older than some erasures; a server that starts on it
 * carries them out again. Identifiers are recorded as keyed hashes only.
 */
import { createHmac } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
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

/** The record of the database that `db` has open. A database in memory has none. */
export const createErasureRecord = (db: Connection) => {
  if (db.memory) return { read: (): Erased[] => [], append: () => {} };
  const path = `${db.name}-erased`;
  const secret = db.prepare<[], Buffer>('SELECT secret FROM position').pluck().get() as Buffer;
  // A backup has the secret of its database, so the two have the same hashes.
  const head = `erased from ${createHmac('sha256', secret).update('record').digest('hex')}\n`;

  return {
    /** Returns all that was recorded. Throws StoreUnusable when the record belongs to another database. */
    read(): Erased[] {
      if (!existsSync(path)) return [];
      const text = readFileSync(path, 'utf8');
      // The head was cut short, so nothing was recorded after it.
      if (head.startsWith(text)) return [];
      if (!text.startsWith(head)) {
        throw new StoreUnusable(
          `${path} is the record of erasures of another database: move it away, or restore the record that belongs to ${db.name}`,
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
