/**
 * A server that is weakened on purpose: a copy of its source with a few lines changed. A check that such a server passes
 * as well proves nothing. The changes are in `weaknesses/`.
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';
import { bundleOptions, keepPlace, threads } from '../../build/bundle.ts';

/** In `file`, below src/, the text `from` is made `to`. */
export interface Change {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

const server = fileURLToPath(new URL('../..', import.meta.url));
const modules = fileURLToPath(new URL('../../../../node_modules', import.meta.url));

/** Builds the server in `folder`, which then starts as quickly as the one that `npm run build` makes. */
const buildIn = (folder: string): void => {
  const dist = join(folder, 'dist');
  for (const file of readdirSync(join(folder, 'src'), { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.ts')) continue;
    const path = join(folder, 'src', file);
    const text = readFileSync(path, 'utf8');
    if (text.includes('import.meta.url')) writeFileSync(path, keepPlace(text, path, dist));
  }
  buildSync(bundleOptions(folder, ['src/main.ts', ...threads], dist));
  // The list of files that must be older than what was built (bin/built.js).
  writeFileSync(join(dist, 'inputs.json'), '[]');
};

/**
 * Copies the server into a new folder below `folder`, changed, and builds it there; returns the path of its `firsthand` command,
 * beside whose folder lies src/. Throws when there is nothing to change.
 */
export const changeServer = (folder: string, name: string, changes: readonly Change[]): string => {
  const copy = join(folder, name);
  const copied = join(copy, 'packages/server');
  mkdirSync(copied, { recursive: true });
  symlinkSync(modules, join(copy, 'node_modules'));
  writeFileSync(join(copy, 'package.json'), '{ "type": "module" }');
  for (const part of ['src', 'bin', 'package.json']) {
    const filter = (path: string) => !path.endsWith('.test.ts');
    cpSync(join(server, part), join(copied, part), { recursive: true, filter });
  }
  for (const { file, from, to } of changes) {
    const path = join(copied, 'src', file);
    const text = readFileSync(path, 'utf8');
    if (!text.includes(from)) throw new Error(`${file} has changed: it no longer holds ${from}`);
    writeFileSync(path, text.replaceAll(from, to));
  }
  buildIn(copied);
  return join(copied, 'bin/firsthand.js');
};
