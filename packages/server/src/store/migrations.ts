/** The numbered files of SQL that bring a database from one schema to the next. */
import { readdirSync, readFileSync } from 'node:fs';

export interface Migration {
  readonly number: number;
  readonly sql: string;
}

/** Those of a driver's folder, in order. Once landed, a file is never edited. */
export const readMigrations = (folder: URL): Migration[] =>
  readdirSync(folder)
    .filter((file) => /^\d{4}-.*\.sql$/.test(file))
    .sort()
    .map((file) => ({ number: Number(file.slice(0, 4)), sql: readFileSync(new URL(file, folder), 'utf8') }));

/** The schema that this program knows. */
export const newestOf = (folder: URL): number => (readMigrations(folder).at(-1) as Migration).number;
