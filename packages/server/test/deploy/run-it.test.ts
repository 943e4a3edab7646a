/**
 * Follows the operator guides to the end as root, with the Debian package. It runs in an overlay of this machine's
 * root, with a separate network, because the guides' port might be in use. systemd can't run in the overlay, so a
 * script starts the unit's command as the unit's user.
 */
import { appendFileSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pack, writePackageFiles } from '../../build/deb.ts';
import { start, temporaryFolder } from '../fixtures/command.ts';
import { readBlocks } from '../fixtures/documents/guides.ts';
import { findTarball } from '../packages/tarballs.ts';

/** A systemctl script with only the commands that the guides and the package use. */
const systemctl = `#!/bin/bash
set -euo pipefail
unit=/usr/lib/systemd/system/firsthand.service
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
  # Drops root's right to read and write everywhere.
  env -i PATH="$PATH" setpriv --reuid "$(value User)" --regid "$(value Group)" --init-groups \\
    $(value ExecStart) >> /run/firsthand.log 2>&1 &
  echo $! > /run/firsthand.pid
}
case "$*" in
  daemon-reload | 'enable firsthand') ;;
  'disable --now firsthand') stop ;;
  'start firsthand') start ;;
  'stop firsthand') stop ;;
  'restart firsthand') stop; start ;;
  'is-active firsthand') if [ -f /run/firsthand.pid ]; then echo active; else echo inactive; exit 3; fi ;;
  'is-enabled --quiet firsthand') ;;
  'try-restart firsthand') [ ! -f /run/firsthand.pid ] || { stop; start; } ;;
  'reload caddy') test -f /etc/caddy/Caddyfile ;;
  *) echo "systemctl $*: not in this test" >&2; exit 1 ;;
esac
`;

/** Follows the guides in an overlay of this machine's root. The folder receives all changes. */
const outside = (folder: string): string => `
set -euo pipefail
mount --make-rprivate /
ip link set lo up
mkdir ${folder}/changes ${folder}/work ${folder}/root
mount -t overlay overlay -o lowerdir=/,upperdir=${folder}/changes,workdir=${folder}/work ${folder}/root
cd ${folder}/root
mount --bind /dev dev
mount -t proc proc proc
mount -t tmpfs tmpfs run
mkdir -p run/systemd/system .${folder}
mount --bind ${folder} .${folder}
exec chroot . timeout --kill-after=5 550 bash -euo pipefail ${folder}/script > ${folder}/printed
`;

const inside = (folder: string): string => `
printf '#!/bin/sh\\ncat /run/firsthand.log\\n' > /usr/local/bin/journalctl
# The scripts of a package find only the programs of the system.
rm /usr/bin/systemctl
cp ${folder}/systemctl /usr/bin/systemctl
chmod 755 /usr/local/bin/journalctl /usr/bin/systemctl
echo force-unsafe-io > /etc/dpkg/dpkg.cfg.d/no-sync
trap 'systemctl stop firsthand' EXIT
export PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin XDG_DATA_HOME=${folder} XDG_CONFIG_HOME=${folder}
export DEBIAN_FRONTEND=noninteractive
ready() { curl -fsS --retry 60 --retry-delay 1 --retry-connrefused -o /dev/null http://127.0.0.1:3000/s/readyz; }
PS4='$ '
set -x
`;

const blocks = ['install-debian.md', 'run-it.md', 'upgrade.md'].flatMap((guide) =>
  readBlocks(guide)
    .filter(({ language }) => language === 'sh')
    .map(({ code }) => code),
);

/** Commands to run before the block that contains the key. */
const before: Readonly<Record<string, string>> = {
  // Sets an invalid setting, so that the service fails to start, and systemd adds a line to the log.
  "grep '^firsthand: '": `systemctl stop firsthand; echo PORT=none >> /etc/firsthand.env; systemctl start firsthand
    until grep -q '^firsthand: ' /run/firsthand.log; do sleep 0.1; done
    echo 'firsthand.service: Failed with result' >> /run/firsthand.log; echo == cause\n`,
  // Simulates another machine, to which root has copied the backups.
  'chown -R firsthand': `systemctl stop firsthand; mv /var/lib/firsthand/backups /run/copies; rm -r /var/lib/firsthand
    install -d -o firsthand -g firsthand -m 700 /var/lib/firsthand; mv /run/copies /var/lib/firsthand/backups
    chown -R root:root /var/lib/firsthand/backups; sed -i /^CONSOLE_ORIGIN/d /etc/firsthand.env; echo == lost\n`,
};

/**
 * Commands to run after the block that contains the key. They wait for the server's own backup, which must precede
 * later events.
 */
const between: Readonly<Record<string, string>> = {
  'firsthand event list\n': `echo == doctor; firsthand doctor || true; echo == examined
    stat -c '%U %G %a %n' /etc/firsthand.env /var/lib/firsthand /var/lib/firsthand/firsthand.db
    until grep -q 'a backup was made' /run/firsthand.log; do sleep 0.1; done\n`,
  'systemctl restart firsthand\n': 'ready\n',
  "grep '^firsthand: '": `echo == corrected; sed -i /^PORT=none/d /etc/firsthand.env; rm /run/firsthand.pid
    systemctl start firsthand; ready\n`,
  'firsthand backup\n': `firsthand event log --name 'After the backup' --user the-first-visitor
    echo == seen; firsthand event list; echo == copied\n`,
  'firsthand restore "$newest"\n': 'ready; echo == restored; firsthand event list; echo == read\n',
  '@shop.example\nsystemctl restart firsthand\n': 'echo == recovered; firsthand event list; echo == found\n',
  'apt-get install -y "$PACKAGE"\n': `firsthand --version; dpkg-query -W -f '== version \${Version}\\n' firsthand
    [ ! -f /run/firsthand.pid ] || { echo == upgraded; curl -fsS -o /dev/null http://127.0.0.1:3000/s/readyz; firsthand event list; echo == continues; }
    export PACKAGE=$LATER_PACKAGE\n`,
  '/before the database update/p': `BACKUP=$(ls -t /var/lib/firsthand/backups/*.db | head -n 1)
    firsthand event log --name 'After the upgrade' --user the-first-visitor\n`,
  'firsthand restore "$BACKUP"\n': `ready; echo == back; firsthand event list; dpkg-query -W -f '== version \${Version}\\n' firsthand
    grep -c METRICS_PORT=9464 /etc/firsthand.env
    apt-get remove -y firsthand; grep -c CONSOLE_ORIGIN=https /etc/firsthand.env; [ ! -e /usr/bin/firsthand ]
    apt-get purge -y firsthand; echo == purged; ls /var/lib/firsthand; [ ! -e /etc/firsthand.env ]\n`,
};

/** The package's initial /etc/firsthand.env. */
const packagedSettings = 'usr/lib/firsthand/node_modules/firsthand/deploy/firsthand.env';

describe('the operator guides', () => {
  let printed: string;
  let log: string;
  const ends: (() => void | Promise<void>)[] = [];
  beforeAll(async () => {
    const folder = temporaryFolder((end) => ends.push(end));
    mkdirSync(join(folder, 'files'));
    writePackageFiles(findTarball('firsthand'), join(folder, 'files'));
    writeFileSync(join(folder, 'systemctl'), systemctl);
    const packages = ['0.1.0', '0.1.1'].map((version) => {
      appendFileSync(join(folder, 'files', packagedSettings), `# Of ${version}\n`);
      return pack(join(folder, 'files'), folder, { version, compression: 'none' });
    });
    // Sends a command that finds the printed token.
    const token = `$(grep -o 'server_[^ ]*' ${folder}/printed | head -n 1)`;
    const script = blocks.map((code) => {
      const earlier = Object.entries(before).flatMap(([key, commands]) => (code.includes(key) ? commands : []));
      const more = Object.entries(between).flatMap(([key, commands]) => (code.includes(key) ? commands : []));
      return earlier.join('') + code.replaceAll('server_…', token) + more.join('');
    });
    const variables = `PACKAGE=${packages[0]} EARLIER_PACKAGE=${packages[0]} LATER_PACKAGE=${packages[1]}\n`;
    writeFileSync(join(folder, 'outside'), outside(folder));
    writeFileSync(join(folder, 'script'), inside(folder) + variables + script.join('\n'));
    // Starts a shell as the namespace's first process, so that it reaps orphans.
    const shell = `bash ${folder}/outside; exit $?`;
    const args = ['--mount', '--net', '--pid', '--fork', '--kill-child', '--mount-proc', 'bash', '-c', shell];
    const { code, stderr } = await start('unshare', args, {}).ended;
    printed = readFileSync(join(folder, 'printed'), 'utf8');
    log = stderr;
    if (code !== 0) throw new Error(`the guides exited with ${code}:\n${printed}\n${stderr.slice(-4_000)}`);
  });
  afterAll(async () => {
    for (const end of ends) await end();
  });

  /** Returns the output between two strings. */
  const part = (from: string, to: string): string => printed.split(from)[1]?.split(to)[0] ?? '';

  it('install the package, and set up the settings, an owner, the web server and the tag', () => {
    expect(part('== version 0.1.0', '== doctor')).toMatch(/systemctl restart firsthand\n/);
    expect(printed).toMatch(/In the block for shop\.example:\n[\s\S]*\/s\//);
    expect(printed).toMatch(/src="https:\/\/shop\.example\/s\/main\.[^"]*js" data-token="browser_/);
    const links = [...printed.matchAll(/^https:\/\/firsthand\.shop\.example\/s\/console\/join#code=(\S+)$/gm)];
    expect(new Set(links.map(([, code]) => code)).size).toBe(3);
    expect(printed).toMatch(/^200$/m);
    expect(part('firsthand event list', '== doctor') || printed).toMatch(
      /1000000 Signed up +the-first-visitor +anonymous/,
    );
  });

  it('make the service’s user the owner of the files, and hide the settings from other users', () => {
    expect(part('== examined', 'Backed up the database')).toMatch(
      /^root firsthand 640 \/etc\/firsthand\.env\nfirsthand firsthand 700 \/var\/lib\/firsthand\nfirsthand firsthand 600 \/var\/lib\/firsthand\/firsthand\.db$/m,
    );
    const faults = part('== doctor', '== examined').match(/^NOT OK +(?! |scheduled|backup).*/gm);
    expect(faults).toBeNull();
  });

  it('show how to find in the log why the service failed to start', () => {
    const [line, ...others] = part('== cause', '== corrected').trim().split('\n');
    expect(line).toMatch(/^firsthand: PORT \(or --port\) must be a whole number/);
    expect(others).toEqual([]);
  });

  it('restore a backup alongside the database, or over it', () => {
    expect(part('== seen', '== copied')).toMatch(/After the backup/);
    expect(part('drill/firsthand.db from ', '/firsthand.db from ')).toMatch(/ shop\.example /);
    expect(part('== restored', '== read')).toMatch(/Signed up/);
    expect(part('== restored', '== read')).not.toMatch(/After the backup/);
  });

  it('restore a copy on another machine, and set it up again', () => {
    expect(part('== lost', '== recovered')).toMatch(/^Restored \S+ from /m);
    expect(part('== lost', '== recovered')).toMatch(/^200$/m);
    expect(part('== lost', '== recovered')).toMatch(/^https:\/\/firsthand\.shop\.example\/s\/console\/join#code=/m);
    expect(part('== recovered', '== found')).toMatch(/Signed up/);
  });

  it('upgrade a running service with one line, and downgrade it, without losing settings and data', () => {
    expect(part('== upgraded', '== continues')).toMatch(/Signed up/);
    expect(printed.match(/== version \S+/g)).toEqual(['== version 0.1.0', '== version 0.1.1', '== version 0.1.0']);
    expect(part('== back', '== purged')).toMatch(/Signed up[\s\S]*\n1\n/);
    expect(part('== back', '== purged')).not.toMatch(/After the upgrade/);
    expect(log).not.toMatch(/Configuration file/);
  });

  it('remove all but the seven newest copies on another machine', async () => {
    const home = temporaryFolder();
    mkdirSync(join(home, 'firsthand'));
    for (let day = 10; day < 20; day += 1) {
      const file = join(home, 'firsthand', `firsthand-0123456789ab-202611${day}T043000000Z.db`);
      for (const each of [file, `${file}-erased`]) {
        writeFileSync(each, '');
        utimesSync(each, day, day);
      }
    }
    const line = readBlocks('run-it.md').find(({ code }) => code.startsWith('30 6 '))?.code ?? '';
    await start('sh', ['-c', line.replace('30 6 * * * firsthand-copies', '')], {}, home).ended;
    const left = readdirSync(join(home, 'firsthand'));
    expect(left.filter((name) => name.endsWith('.db')).map((name) => name.slice(29, 31))).toEqual([
      '13',
      '14',
      '15',
      '16',
      '17',
      '18',
      '19',
    ]);
    expect(left).toHaveLength(14);
  });

  it('purge the package without its data', () => {
    expect(printed.split('== purged')[1]).toMatch(/backups\nfirsthand\.db/);
  });

  it('show metrics, and what to do about each alert', () => {
    expect(printed).toMatch(/^firsthand_backup_age_seconds \d/m);
    const rules = readFileSync(new URL('../../deploy/metrics/alerts.yml', import.meta.url), 'utf8');
    const guide = readFileSync(new URL('../../../docs/run-it.md', import.meta.url), 'utf8');
    const alarms = [...rules.matchAll(/- alert: (\w+)[\s\S]*? action: "(.+)"/g)].map(([, name, action]) => [
      name,
      action,
    ]);
    const rows = [...guide.matchAll(/^\| `(Firsthand\w+)` \| (.+) \|$/gm)];
    expect(rows.map(([, name, action]) => [name, action?.replaceAll('`', "'")])).toEqual(alarms);
    expect(rules.match(/- alert: /g)).toHaveLength(alarms.length);
  });
});
