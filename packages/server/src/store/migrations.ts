/** Migrations: numbered SQL files, each of which brings a database from one schema to the next. */
import { readdirSync, readFileSync } from 'node:fs';

/** Reads the migrations of a driver's folder, in order. Once landed, a file is never edited. */
export const readMigrations = (folder: URL): { number: number; sql: string }[] =>
  readdirSync(folder)
    .filter((file) => /^\d{4}-.*\.sql$/.test(file))
    .sort()
    .map((file) => ({ number: Number(file.slice(0, 4)), sql: readFileSync(new URL(file, folder), 'utf8') }));

/** Returns the number of the newest migration: the schema that this program knows. */
export const newestOf = (folder: URL): number => readMigrations(folder).at(-1)?.number ?? 0;
