/**
 * Collects the files of the npm package and its dependencies in one folder, for the Debian package and the image.
 * Usage: node --import tsx build/assemble.ts <tarball> <folder>
 */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const server = fileURLToPath(new URL('../', import.meta.url));

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** Needed only while npm installs. */
const installers = new Set(['prebuild-install']);

/** The folder from which Node loads a package for a module in `from`. */
const find = (name: string, from: string): string | undefined => {
  const folder = join(from, 'node_modules', name);
  if (existsSync(join(folder, 'package.json'))) return folder;
  return from === dirname(from) ? undefined : find(name, dirname(from));
};

/** Adds the package's installed runtime dependencies. */
const collect = (folder: string, folders: Set<string>): Set<string> => {
  const manifest: Manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const { dependencies = {}, optionalDependencies = {} } = manifest;
  for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
    const installed = installers.has(name) ? undefined : find(name, folder);
    if (installed === undefined && !(name in optionalDependencies) && !installers.has(name))
      throw new Error(`${name} is not installed: run npm ci`);
    if (installed !== undefined && !folders.has(installed)) collect(installed, folders.add(installed));
  }
  return folders;
};

/** SQLite's sources and build artifacts, except the compiled module. */
const unneeded = /\/better-sqlite3[^/]*\/(?:deps|src|build\/(?!Release$|Release\/better_sqlite3\.node$).*)(?:\/|$)/;

/** Extracts the npm package into `folder` and copies its dependencies as installed on this machine. */
export const assemble = (tarball: string, folder: string): void => {
  const packageFolder = join(folder, 'node_modules/firsthand');
  mkdirSync(packageFolder, { recursive: true });
  execFileSync('tar', ['-xzf', tarball, '--strip-components=1', '--no-same-owner', '-C', packageFolder]);
  for (const installed of collect(server, new Set())) {
    const isShared = !relative(join(root, 'node_modules'), installed).startsWith('..');
    const target = isShared
      ? join(folder, relative(root, installed))
      : join(packageFolder, relative(server, installed));
    cpSync(installed, target, { recursive: true, filter: (path) => !unneeded.test(path) });
  }
};

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [tarball, folder] = process.argv.slice(2);
  if (tarball === undefined || folder === undefined) throw new Error('usage: assemble.ts <tarball> <folder>');
  assemble(resolve(tarball), resolve(folder));
}
