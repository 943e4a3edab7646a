/** The tarballs that `npm run tarballs` has made in dist/, and what installing them elsewhere takes. */
import { cpSync, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../../../', import.meta.url));

/** By the name in their package.json. */
export const tarballs = {
  '@firsthand/contract': /^firsthand-contract-\d.*\.tgz$/,
  '@firsthand/client': /^firsthand-client-\d.*\.tgz$/,
  '@firsthand/tracker': /^firsthand-tracker-\d.*\.tgz$/,
  firsthand: /^firsthand-\d.*\.tgz$/,
};
export type PackageName = keyof typeof tarballs;
export const packageNames = Object.keys(tarballs) as PackageName[];

/** Throws unless there is exactly one. */
export const tarballOf = (name: PackageName): string => {
  const found = readdirSync(join(root, 'dist')).filter((file) => tarballs[name].test(file));
  if (found.length !== 1) throw new Error(`dist/ holds ${found.length} tarballs of ${name}: run npm run tarballs`);
  return join(root, 'dist', found[0] as string);
};

/** Copies the SQLite that is compiled here into a folder in which npm has installed without scripts: compiling takes a minute. */
export const takeCompiled = (folder: string): void => {
  for (const name of ['better-sqlite3', 'better-sqlite3-13']) {
    const compiled = join(root, 'node_modules', name);
    if (existsSync(compiled)) cpSync(compiled, join(folder, 'node_modules', name), { recursive: true });
  }
};
