/**
 * Follows docs/run-it.md to its end, in one shell: as root, with folders of its own in place of /etc, /opt and /var/lib, and a network
 * of its own, because the guide's port may be in use here. Systemd can't run here; a script in its place starts the unit's command as
 * the unit's user, with its settings. npm ci takes what is installed here.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { start, temporaryFolder } from '../fixtures/command.ts';
import { blocksOf } from '../fixtures/documents/guides.ts';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const packages = ['.', 'packages/server', 'packages/tracker', 'packages/client', 'packages/contract', 'packages/docs'];

/** systemctl, as far as the guide uses it. It is given the unit's name last. */
const systemctl = `#!/bin/bash
set -euo pipefail
unit=/etc/systemd/system/firsthand.service
value() { sed -n "s/^$1=//p" $unit; }
stop() {
  [ -f /run/firsthand.pid ] || return 0
  kill "$(cat /run/firsthand.pid)"
  while kill -0 "$(cat /run/firsthand.pid)" 2>/dev/null; do sleep 0.05; done
  rm /run/firsthand.pid
}
start() {
  install -d -o "$(value User)" -g "$(value Group)" -m "$(value StateDirectoryMode)" "/var/lib/$(value StateDirectory)"
  cd "$(value WorkingDirectory)"
  mapfile -t settings < <(value Environment | tr ' ' '\\n'; cat /etc/firsthand.env)
  command=$(value ExecStart)
  # Without root's right to read and write everywhere.
  env "\${settings[@]}" setpriv --reuid "$(value User)" --regid "$(value Group)" --init-groups \\
    node \${command#/usr/bin/node} >> /run/firsthand.log 2>&1 &
  echo $! > /run/firsthand.pid
}
case "$*" in
  daemon-reload) test -f $unit ;;
  'enable --now firsthand' | 'start firsthand') start ;;
  'stop firsthand') stop ;;
  'restart firsthand') stop; start ;;
  'reload caddy') test -f /etc/caddy/Caddyfile ;;
  *) echo "systemctl $*: not in this test" >&2; exit 1 ;;
esac
`;

/** What the guide is followed with, in a mount namespace: private folders, an npm that installs nothing, systemctl. */
const preamble = (folder: string): string => `
mount --make-rprivate /
ip link set lo up
for name in etc opt var/lib run; do mkdir -p ${folder}/$name; done
cp -a /etc/. ${folder}/etc
for name in etc opt var/lib run; do mount --bind ${folder}/$name /$name; done
mkdir -p /etc/systemd/system /etc/caddy
trap 'systemctl stop firsthand' EXIT
PATH=${folder}/bin:${dirname(process.execPath)}:$PATH
export XDG_DATA_HOME=${folder} XDG_CONFIG_HOME=${folder} REPOSITORY=${folder}/repository
npm() {
  [ "$1" = ci ] || { command npm "$@"; return; }
  for name in ${packages.join(' ')}; do
    [ -d ${root}$name/node_modules ] || continue
    mkdir $name/node_modules
    mount --bind ${root}$name/node_modules $name/node_modules
  done
}
PS4='$ '
set -x
`;

/** The files of the repository, changed ones too, in a repository of their own. */
const makeRepository = (folder: string): void => {
  mkdirSync(folder);
  const listed = execFileSync('git', ['-C', root, 'ls-files', '-coz', '--exclude-standard']);
  const archive = execFileSync('tar', ['-C', root, '--null', '--ignore-failed-read', '-T', '-', '-cf', '-'], {
    input: listed,
    maxBuffer: 2 ** 30,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  execFileSync('tar', ['-C', folder, '-xf', '-'], { input: archive });
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', folder, '-c', 'user.name=test', '-c', 'user.email=test@shop.example', ...args]);
  git('init', '--quiet');
  git('add', '--all');
  git('commit', '--quiet', '--message', 'all');
};

const blocks = blocksOf('run-it.md').map(({ code }) => code);

/** What a reader does after a block that holds this. The server has begun a backup of its own, which must not hold what follows. */
const between: Readonly<Record<string, string>> = {
  'firsthand backup\n': `until grep -q 'a backup was made' /run/firsthand.log; do sleep 0.1; done
    firsthand event log --name 'After the backup' --user the-first-visitor
    echo == seen; firsthand event list\n`,
  'firsthand restore "$newest"\n': 'echo == restored; firsthand event list\n',
  'firsthand --version\n': `firsthand event log --name 'After the upgrade' --user the-first-visitor
    echo == upgraded; firsthand event list\n`,
  'restore /var/lib/firsthand/before-upgrade.db\n': 'echo == back; firsthand event list\n',
};

describe('run-it.md', () => {
  let printed: string;
  const ends: (() => void | Promise<void>)[] = [];
  beforeAll(async () => {
    const folder = temporaryFolder((end) => ends.push(end));
    mkdirSync(join(folder, 'bin'));
    writeFileSync(join(folder, 'bin/systemctl'), systemctl, { mode: 0o755 });
    makeRepository(join(folder, 'repository'));
    // The token that was printed.
    const token = `$(sed -n 's/^Server token *\\(server_[^ ]*\\).*/\\1/p' ${folder}/printed)`;
    const script = blocks.map((code) => {
      const [, more = ''] = Object.entries(between).find(([held]) => code.includes(held)) ?? [];
      return code.replaceAll('server_…', token) + more;
    });
    writeFileSync(join(folder, 'script'), preamble(folder) + script.join('\n'));
    // The outer shell is the first process here, and collects those that have ended.
    const shell = `timeout --kill-after=5 550 bash -euo pipefail ${folder}/script > ${folder}/printed; exit $?`;
    const args = ['--mount', '--net', '--pid', '--fork', '--kill-child', '--mount-proc', 'bash', '-c', shell];
    const { code, stderr } = await start('unshare', args, {}).ended;
    printed = readFileSync(join(folder, 'printed'), 'utf8');
    if (code !== 0) throw new Error(`the guide ended with ${code}:\n${printed}\n${stderr.slice(-4_000)}`);
  });
  afterAll(async () => {
    for (const end of ends) await end();
  });

  /** What was printed between two texts. */
  const part = (from: string, to: string): string => printed.split(from)[1]?.split(to)[0] ?? '';

  it('prints the script tag with the path of the site, and the first event', () => {
    expect(printed).toMatch(/<script async src="https:\/\/shop\.example\/s\/main\.js" data-token="browser_/);
    expect(part('Server token', 'a whole copy')).toMatch(/1000000 Signed up +the-first-visitor +anonymous/);
  });

  it('restores what there was when the backup was made: beside the database, and in its place', () => {
    expect(part('== seen', '== restored')).toMatch(/After the backup/);
    expect(part('drill/firsthand.db is now the backup', '/firsthand.db is now the backup')).toMatch(/ Shop /);
    expect(part('== restored', '== upgraded')).toMatch(/Signed up/);
    expect(part('== restored', '== upgraded')).not.toMatch(/After the backup/);
  });

  it('upgrades without a loss, and goes back to what there was before', () => {
    expect(part('== upgraded', '== back')).toMatch(/After the upgrade.*\n.*Signed up/);
    expect(part('== back', 'firsthand_')).toMatch(/Signed up/);
    expect(part('== back', 'firsthand_')).not.toMatch(/After the upgrade/);
  });

  it('shows metrics, and says what to do at each alarm', () => {
    expect(printed).toMatch(/^firsthand_backup_age_seconds \d/m);
    const rules = readFileSync(new URL('../../deploy/metrics/alerts.yml', import.meta.url), 'utf8');
    const guide = readFileSync(new URL('../../../docs/run-it.md', import.meta.url), 'utf8');
    const alarms = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name]) => name);
    expect([...guide.matchAll(/^\| `(Firsthand\w+)` \|/gm)].map(([, name]) => name)).toEqual(alarms);
  });
});
