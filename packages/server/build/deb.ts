/**
 * Builds the Debian package for this machine's architecture, including the Node that runs this script. Requires
 * dpkg-deb and the npm package.
 *
 * Usage: node --import tsx build/deb.ts <tarball> <folder>
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { assemble } from './assemble.ts';

const deploy = fileURLToPath(new URL('../deploy/', import.meta.url));
const debian = join(deploy, 'debian/');
const home = 'usr/lib/firsthand';

const write = (file: string, text: string, mode = 0o644): void => {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  chmodSync(file, mode);
};

/** Converts an npm version to a Debian version, in which `~` sorts a prerelease before its release. */
const toDebianVersion = (version: string): string => version.replace('-', '~');

/** The licenses of Node and its bundled packages, from where Node's archives and Linux distributions put them. */
const readNodeLicense = (): string => {
  const paths = ['LICENSE', 'share/doc/nodejs/LICENSE', 'share/doc/nodejs/copyright'];
  const file = paths.map((path) => join(dirname(dirname(process.execPath)), path)).find((each) => existsSync(each));
  return file === undefined
    ? 'Node.js: https://github.com/nodejs/node/blob/main/LICENSE\n'
    : readFileSync(file, 'utf8');
};

/** Writes the package's files to an empty folder. */
export const writePackageFiles = (tarball: string, folder: string): void => {
  assemble(tarball, join(folder, home));
  mkdirSync(join(folder, home, 'bin'));
  cpSync(process.execPath, join(folder, home, 'bin/node'), { dereference: true });
  const read = (name: string) => readFileSync(join(debian, name), 'utf8');
  write(join(folder, 'usr/bin/firsthand'), read('firsthand.sh'), 0o755);
  write(
    join(folder, 'usr/lib/systemd/system/firsthand.service'),
    readFileSync(join(deploy, 'firsthand.service'), 'utf8'),
  );
  const packageFolder = join(folder, home, 'node_modules/firsthand');
  const license = readFileSync(join(packageFolder, 'LICENSE'), 'utf8');
  write(
    join(folder, 'usr/share/doc/firsthand/copyright'),
    `${license}\nThe licenses of bundled packages: /${home}/node_modules/firsthand/dist/licenses.txt\n\n/${home}/bin/node:\n\n${readNodeLicense()}`,
  );
  // Makes the files readable for everyone, regardless of this process's umask.
  execFileSync('chmod', ['-R', 'u=rwX,go=rX', folder]);
  for (const name of ['postinst', 'prerm', 'postrm']) write(join(folder, 'DEBIAN', name), read(name), 0o755);
};

interface PackageOptions {
  readonly version: string;
  /** The compression method for dpkg-deb; xz by default. */
  readonly compression?: string;
}

/** Packs a folder written by `writePackageFiles`. Returns the package's path. */
export const pack = (folder: string, to: string, { version, compression = 'xz' }: PackageOptions): string => {
  const architecture = execFileSync('dpkg', ['--print-architecture'], { encoding: 'utf8' }).trim();
  const size = execFileSync('du', ['-sk', folder], { encoding: 'utf8' }).split('\t', 1)[0] as string;
  // SQLite was compiled against this version of glibc.
  const glibc = execFileSync('getconf', ['GNU_LIBC_VERSION'], { encoding: 'utf8' }).trim().split(' ').at(-1) as string;
  const control = readFileSync(join(debian, 'control'), 'utf8')
    .replace('{version}', toDebianVersion(version))
    .replace('{architecture}', architecture)
    .replace('{glibc}', glibc)
    .replace('{size}', size);
  write(join(folder, 'DEBIAN/control'), control);
  const file = join(to, `firsthand_${toDebianVersion(version)}_${architecture}.deb`);
  execFileSync('dpkg-deb', ['--root-owner-group', `-Z${compression}`, '--build', folder, file], { stdio: 'ignore' });
  return file;
};

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [tarball, to] = process.argv.slice(2);
  if (tarball === undefined || to === undefined) throw new Error('usage: deb.ts <tarball> <folder>');
  const folder = mkdtempSync(join(tmpdir(), 'firsthand-deb-'));
  try {
    writePackageFiles(resolve(tarball), folder);
    const manifest = join(folder, home, 'node_modules/firsthand/package.json');
    console.log(pack(folder, resolve(to), JSON.parse(readFileSync(manifest, 'utf8'))));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
