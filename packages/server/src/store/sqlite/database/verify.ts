/** Checks that a file is an intact Firsthand database before it counts as a backup. */

import { formatCount } from '../../../shared/format-count.ts';
import { StoreUnusable } from '../../unusable.ts';
import { recordHeaderOf } from '../erasure/erasure-record.ts';
import { countDamagedBlocks } from '../event-log/event-log.ts';
import { type Connection, openConnection } from './connection.ts';
import { refuseForeign } from './file.ts';
import { getNewestMigration } from './migrate.ts';

const maxReported = 5;

const examine = (db: Connection): string[] => {
  const check = db.prepare<[], string>(`PRAGMA integrity_check(${maxReported})`).pluck().all();
  if (check.join() !== 'ok') return check;
  if (db.prepare('PRAGMA foreign_key_check').all().length > 0) return ['dangling references'];
  // Skipped for an older schema, which lacks blocks or checksums.
  if (db.pragma('user_version', { simple: true }) !== getNewestMigration()) return [];
  const damaged = countDamagedBlocks(db);
  return damaged > 0 ? [`${formatCount(damaged, 'damaged block')} of events`] : [];
};

/**
 * Verifies the whole file at `path`, read-only. Returns the first line of its erasure record, which identifies the
 * database. Throws StoreUnusable if it is not a Firsthand database, has a newer schema or is damaged.
 *
 * `name` is the file's name in messages.
 */
export const verifyBackup = (path: string, name = path): string => {
  refuseForeign(path, name);
  const db = openConnection(path, 'read');
  try {
    const problems = examine(db);
    if (problems.length > 0) throw new StoreUnusable(`${name} is damaged: ${problems.join('; ')}`);
    return recordHeaderOf(db);
  } catch (cause) {
    if (cause instanceof StoreUnusable) throw cause;
    throw new StoreUnusable(`${name} is damaged: ${(cause as Error).message}`, { cause });
  } finally {
    db.close();
  }
};
