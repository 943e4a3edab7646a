/** Migrations: numbered SQL files, each of which upgrades a database by one schema version. */
import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';

/**
 * Reads a driver's migrations, in order. Each release has a folder; unreleased migrations are in `next`, which may have
 * subfolders. Migrations are never edited once they are merged.
 */
export const readMigrations = (folder: URL): { number: number; sql: string }[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => /^\d{4}-.*\.sql$/.test(basename(file)))
    .map((file) => ({
      number: Number(basename(file).slice(0, 4)),
      sql: readFileSync(new URL(file, folder), 'utf8'),
    }))
    .sort((a, b) => a.number - b.number);

/** Returns the newest migration's number, which is this program's schema version. */
export const findNewestMigration = (folder: URL): number => readMigrations(folder).at(-1)?.number ?? 0;
