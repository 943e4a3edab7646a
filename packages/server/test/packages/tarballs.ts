/** The tarballs that `npm run tarballs` creates in dist/, and helpers to install them elsewhere. */
import { cpSync, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../../../', import.meta.url));

/** The patterns of the tarballs' file names, by package name. */
export const tarballs = {
  '@firsthand/contract': /^firsthand-contract-\d.*\.tgz$/,
  '@firsthand/client': /^firsthand-client-\d.*\.tgz$/,
  '@firsthand/tracker': /^firsthand-tracker-\d.*\.tgz$/,
  firsthand: /^firsthand-\d.*\.tgz$/,
};
export type PackageName = keyof typeof tarballs;
export const packageNames = Object.keys(tarballs) as PackageName[];

/** Returns the path to a package's tarball. Throws an error unless there is exactly one. */
export const findTarball = (name: PackageName): string => {
  const files = readdirSync(join(root, 'dist')).filter((file) => tarballs[name].test(file));
  if (files.length !== 1) throw new Error(`dist/ has ${files.length} tarballs of ${name}: run npm run tarballs`);
  return join(root, 'dist', files[0] as string);
};

/**
 * Copies the compiled SQLite to a folder where npm installed packages without scripts, because compiling takes a
 * minute.
 */
export const copyCompiledSQLite = (folder: string): void => {
  for (const name of ['better-sqlite3', 'better-sqlite3-13']) {
    const compiled = join(root, 'node_modules', name);
    if (existsSync(compiled)) cpSync(compiled, join(folder, 'node_modules', name), { recursive: true });
  }
};
