/**
 * Builds a server with a deliberate weakness: a copy of its source with a few lines changed (decision 18). A check that
 * also passes with this server proves nothing. The changes are in `weaknesses/`.
 */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync, transformSync } from 'esbuild';
import { createBundleOptions, replaceImportURL, threads } from '../../build/bundle.ts';

/**
 * Replaces the text `from` with `to` in `file`, a path relative to src/. The text must occur `times` times, by default
 * once.
 */
export interface Change {
  readonly file: string;
  readonly from: string;
  readonly to: string;
  readonly times?: number;
}

const server = fileURLToPath(new URL('../..', import.meta.url));
const modules = fileURLToPath(new URL('../../../../node_modules', import.meta.url));

/** Builds the server in `folder`, so that it starts as quickly as after `npm run build`. */
const buildServer = (folder: string): void => {
  const dist = join(folder, 'dist');
  for (const file of readdirSync(join(folder, 'src'), { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.ts')) continue;
    const path = join(folder, 'src', file);
    const text = readFileSync(path, 'utf8');
    if (text.includes('import.meta.url')) writeFileSync(path, replaceImportURL(text, path, dist));
  }
  buildSync(createBundleOptions(folder, ['src/main.ts', ...threads], dist));
  // Writes an empty list of inputs, so that the build counts as current (bin/built.js).
  writeFileSync(join(dist, 'inputs.json'), '[]');
};

/**
 * Makes the changes in order, and returns the new text of each file. Throws an error that begins with `name` if a file
 * is missing, if `from` does not occur exactly `times` times, or if a new text cannot be parsed.
 */
export const applyChanges = (name: string, changes: readonly Change[]): Map<string, string> => {
  const texts = new Map<string, string>();
  for (const { file, from, to, times = 1 } of changes) {
    const path = join(server, 'src', file);
    if (!existsSync(path)) throw new Error(`${name}: there is no src/${file} to change ${JSON.stringify(from)} in`);
    const text = texts.get(file) ?? readFileSync(path, 'utf8');
    const occurrences = text.split(from).length - 1;
    if (occurrences !== times) {
      throw new Error(`${name}: src/${file} contains ${JSON.stringify(from)} ${occurrences} times, expected ${times}`);
    }
    const changed = text.replaceAll(from, () => to);
    texts.set(file, changed);
  }
  for (const [file, text] of texts) {
    try {
      transformSync(text, { loader: 'ts', sourcefile: `src/${file}`, logLevel: 'silent' });
    } catch (error) {
      const replacements = changes.filter((change) => change.file === file).map(({ to }) => JSON.stringify(to));
      const reason = (error as Error).message;
      throw new Error(`${name}: src/${file} cannot be parsed with ${replacements.join(' and ')}: ${reason}`, {
        cause: error,
      });
    }
  }
  return texts;
};

/**
 * Copies the server into a new folder in `folder`, makes the changes, and builds the server. Returns the path of its
 * `firsthand` command; the sources are in src/ next to the command's folder. Throws the same errors as `applyChanges`.
 */
export const changeServer = (folder: string, name: string, changes: readonly Change[]): string => {
  const texts = applyChanges(name, changes);
  const copy = join(folder, name);
  const copiedServer = join(copy, 'packages/server');
  mkdirSync(copiedServer, { recursive: true });
  symlinkSync(modules, join(copy, 'node_modules'));
  writeFileSync(join(copy, 'package.json'), '{ "type": "module" }');
  for (const part of ['src', 'bin', 'package.json']) {
    const filter = (path: string) => !path.endsWith('.test.ts');
    cpSync(join(server, part), join(copiedServer, part), { recursive: true, filter });
  }
  for (const [file, text] of texts) writeFileSync(join(copiedServer, 'src', file), text);
  buildServer(copiedServer);
  return join(copiedServer, 'bin/firsthand.js');
};
