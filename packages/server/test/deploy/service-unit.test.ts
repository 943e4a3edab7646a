/** The systemd unit: systemd takes it, and its filter lets every system call through that the server makes. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClient } from '@firsthand/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { toExecStart, unitText } from '../../src/commands/shared/deploy-files.ts';
import { findMisspelledSettings, readConfig } from '../../src/config/config.ts';
import { parseEnvironmentFile, setInEnvironmentFile } from '../../src/config/environment-file.ts';
import { start, temporaryFolder } from '../fixtures/command.ts';
import { createAccount, operatorToken } from '../fixtures/serving.ts';

const packages = fileURLToPath(new URL('../../../', import.meta.url));
const deployFile = (name: string) => readFileSync(new URL(`../../deploy/${name}`, import.meta.url), 'utf8');
const text = deployFile('firsthand.service');

/** How often the server is started again at most, until a stop is in time. */
const maxStops = 20;

/** The unit with this machine's paths, in a folder of its own. */
const unitHere = (): string => {
  const file = join(temporaryFolder(), 'firsthand.service');
  const execStart = toExecStart([
    process.execPath,
    `${packages}server/bin/firsthand.js`,
    '--settings-file',
    '/etc/firsthand.env',
    'serve',
  ]);
  writeFileSync(file, unitText({ execStart, user: 'firsthand', dataFolder: '/var/lib/firsthand' }));
  return file;
};

/** The values of a setting, one for each line. */
const valuesOf = (name: string, unit = text): string[] =>
  [...unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value]) => value as string);

/** The system calls of a filter set such as @system-service. */
const callsIn = (set: string): string[] =>
  execFileSync('systemd-analyze', ['syscall-filter', '--no-pager', set], { encoding: 'utf8' })
    .split('\n')
    .slice(1)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .flatMap((line) => (line.startsWith('@') ? callsIn(line) : [line]));

describe('the systemd unit', () => {
  it('is taken by systemd without a word', async () => {
    const { code, stdout, stderr } = await start('systemd-analyze', ['verify', '--man=no', unitHere()], {}).ended;
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  it('exposes little, by systemd’s own measure', async () => {
    // In tenths, of 10 for a unit that restricts nothing.
    const args = ['security', '--no-pager', '--offline=true', '--threshold=20', unitHere()];
    const { code, stdout } = await start('systemd-analyze', args, {}).ended;
    expect([code, stdout]).toEqual([0, expect.stringContaining('Overall exposure level')]);
  });

  it('has an environment file with valid settings, which systemd reads as the server does', async () => {
    const file = deployFile('firsthand.env');
    const read = parseEnvironmentFile(file, 'firsthand.env');
    expect(readConfig(read)).toMatchObject({ basePath: '/s/', trustProxy: ['127.0.0.1'], backupKeep: 7 });
    expect(findMisspelledSettings(read)).toEqual([]);
    const folder = join(temporaryFolder(), 'environment.d');
    mkdirSync(folder);
    const values = {
      RATE_LIMIT: 'address=1/2, user=1/10',
      BACKUP_DIR: `/a "b"/c;d&e`,
      METRICS_TOKEN: "it's",
    };
    writeFileSync(join(folder, 'firsthand.conf'), setInEnvironmentFile(file, values));
    const generator = '/usr/lib/systemd/user-environment-generators/30-systemd-environment-d-generator';
    const env = { XDG_CONFIG_HOME: join(folder, '..'), HOME: folder };
    const { code, stdout } = await start('sh', ['-c', `set -a; eval "$(${generator})"; exec env -0`], env).ended;
    const bySystemd = Object.fromEntries(stdout.split('\0').map((line) => line.split(/=(.*)/s, 2)));
    expect(code).toBe(0);
    expect(bySystemd).toMatchObject(parseEnvironmentFile(setInEnvironmentFile(file, values), 'firsthand.env'));
  });

  it('lets every system call through that serving, storing, reading, reporting and stopping make', async () => {
    const [allowedSet = '', refusedSet = ''] = valuesOf('SystemCallFilter');
    expect([allowedSet, refusedSet]).toEqual(['@system-service @pkey', '~@privileged']);
    const refused = new Set(callsIn(refusedSet.slice(1)));
    const allowed = new Set(
      [...`${allowedSet} @default`.split(' ').flatMap(callsIn)].filter((call) => !refused.has(call)),
    );

    const folder = temporaryFolder();
    const env = {
      DATABASE_URL: `sqlite:${folder}/data.db`,
      OPERATOR_TOKEN: operatorToken,
      LOG_LEVEL: 'info',
      PORT: '0',
    };
    let traced = '';
    /** Serves under strace until `use` is done, and stops. */
    const serve = async (use: (url: string) => Promise<unknown>): Promise<void> => {
      const trace = join(temporaryFolder(), 'calls');
      const command = [process.execPath, 'server/bin/firsthand.js', 'serve'];
      const running = start('strace', ['-f', '-qq', '-o', trace, ...command], env, packages);
      onTestFinished(() => void running.child.kill('SIGKILL'));
      const [, url = ''] = await running.says(/"address":"([^"]+)"/);
      await use(url);
      // strace passes no signal on: the server is the process that it began with.
      const [pid] = readFileSync(trace, 'utf8').split(' ', 1);
      process.kill(Number(pid), 'SIGTERM');
      const { code, stderr } = await running.ended;
      // strace makes it slow: a stop may be given up after five seconds, and for no other reason.
      expect(code).toBe(stderr.includes('the stop took too long') ? 1 : 0);
      traced += readFileSync(trace, 'utf8');
    };
    const userUUID = 'a-visitor-of-a-service';
    let token = '';
    const report = async (url: string) => {
      const { total } = await createClient({ url, token }).reportTotals({ from: '2026-01-01', robots: 'include' });
      expect(total.events).toBe(12_000);
    };
    await serve(async (url) => {
      const { browserTokenUUID, serverTokenUUID } = await createAccount(url);
      token = serverTokenUUID;
      const page = createClient({ url, token: browserTokenUUID });
      for (let nth = 0; nth < 20; nth++) {
        const event = Array.from({ length: 100 }, (_, index) => ({ eventID: 1 + index, userUUID }));
        await page.logEvents({ event });
      }
      await page.createContact({ userUUID, contactEmailaddress: 'ann@shop.example', contactProfileID: 'customer' });
      const api = createClient({ url, token });
      expect((await api.getEvent({ userUUID, limit: 1_000 })).event).toHaveLength(1_000);
      // So many that files of reports are worth writing.
      for (let nth = 0; nth < 10; nth++)
        await api.logEvents({ event: Array.from({ length: 1_000 }, () => ({ eventID: 1, userUUID })) });
      await report(url);
    });
    // Names without a folder are those of the process of reports, whose current folder is that of its files. The files are written at the
    // stop. A stop that was given up has not written them.
    const manifest = '1/manifest.json.new';
    for (let nth = 0; nth < maxStops && !traced.includes(`"${manifest}", O_WRONLY`); nth++) await serve(report);

    const found = (pattern: RegExp): string[] => [
      ...new Set([...traced.matchAll(pattern)].map(([, one]) => one as string)),
    ];
    const made = found(/^\d+ +(\w+)\(/gm);
    expect(made.length).toBeGreaterThan(40);
    // SQLite gives files to their owner where it runs as root, which a service does not.
    expect(made.filter((call) => !allowed.has(call) && call !== 'fchown')).toEqual([]);
    const families = found(/ socket\((AF_\w+)/g);
    const allowedFamilies = valuesOf('RestrictAddressFamilies').flatMap((line) => line.split(' '));
    expect(families.length).toBeGreaterThan(0);
    expect(families.filter((family) => !allowedFamilies.includes(family))).toEqual([]);
    // ProtectSystem=strict: only the StateDirectory, and devices, can be written.
    const written = found(/ openat\(\w+, "([^"]+)", O_(?:RDWR|WRONLY)/g);
    expect(written).toContain(`${folder}/data.db`);
    expect(written).toContain(manifest);
    // The process of reports raises its own score, which every process may.
    const isElsewhere = (path: string) =>
      path.startsWith('/') && !path.startsWith(folder) && !/^\/dev\/|^\/proc\/self\/oom_score_adj$/.test(path);
    expect(written.filter(isElsewhere)).toEqual([]);
  });
});
