/** Migrations: numbered SQL files, each of which brings a database from one schema to the next. */
import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';

/**
 * Reads the migrations of a driver's folder, in order: those of each release are in a folder of its name, and those since the last one in
 * `next`, whose folders are for large subjects. Once landed, a file is never edited.
 */
export const readMigrations = (folder: URL): { number: number; sql: string }[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => /^\d{4}-.*\.sql$/.test(basename(file)))
    .map((file) => ({
      number: Number(basename(file).slice(0, 4)),
      sql: readFileSync(new URL(file, folder), 'utf8'),
    }))
    .sort((one, other) => one.number - other.number);

/** Returns the number of the newest migration: the schema that this program knows. */
export const newestOf = (folder: URL): number => readMigrations(folder).at(-1)?.number ?? 0;
