/** Tests that the systemd unit is valid, and that its filter allows every system call that the server makes. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClient } from '@firsthand/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createUnitText, toExecStart } from '../../src/commands/shared/deploy-files.ts';
import { findMisspelledSettings, readConfig } from '../../src/config/config.ts';
import { parseEnvironmentFile, setInEnvironmentFile } from '../../src/config/environment-file.ts';
import { start, temporaryFolder } from '../fixtures/command.ts';
import { createAccount, operatorToken } from '../fixtures/serving.ts';

const packages = fileURLToPath(new URL('../../../', import.meta.url));
const deployFile = (name: string) => readFileSync(new URL(`../../deploy/${name}`, import.meta.url), 'utf8');
const text = deployFile('firsthand.service');

/** The maximum number of restarts until a shutdown completes in time. */
const maxStops = 20;

/** Writes the unit to a temporary folder, with this machine's paths. Returns the unit's path. */
const writeUnit = (): string => {
  const file = join(temporaryFolder(), 'firsthand.service');
  const execStart = toExecStart([
    process.execPath,
    `${packages}server/bin/firsthand.js`,
    '--settings-file',
    '/etc/firsthand.env',
    'serve',
  ]);
  writeFileSync(file, createUnitText({ execStart, user: 'firsthand', dataFolder: '/var/lib/firsthand' }));
  return file;
};

/** Returns a setting's values, one per line in the unit. */
const valuesOf = (name: string, unit = text): string[] =>
  [...unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value]) => value as string);

/** Lists the system calls in a filter set, such as @system-service. */
const listSystemCalls = (set: string): string[] =>
  execFileSync('systemd-analyze', ['syscall-filter', '--no-pager', set], { encoding: 'utf8' })
    .split('\n')
    .slice(1)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .flatMap((line) => (line.startsWith('@') ? listSystemCalls(line) : [line]));

describe('the systemd unit', () => {
  it('passes systemd-analyze verify without a warning', async () => {
    const { code, stdout, stderr } = await start('systemd-analyze', ['verify', '--man=no', writeUnit()], {}).ended;
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  it('has a low exposure level according to systemd', async () => {
    // Sets the threshold, in tenths. A unit without restrictions has an exposure level of 10.
    const args = ['security', '--no-pager', '--offline=true', '--threshold=20', writeUnit()];
    const { code, stdout } = await start('systemd-analyze', args, {}).ended;
    expect([code, stdout]).toEqual([0, expect.stringContaining('Overall exposure level')]);
  });

  it('has an environment file with valid settings, which systemd reads in the same way as the server', async () => {
    const file = deployFile('firsthand.env');
    const settings = parseEnvironmentFile(file, 'firsthand.env');
    expect(readConfig(settings)).toMatchObject({ basePath: '/s/', trustProxy: ['127.0.0.1'], backupKeep: 7 });
    expect(findMisspelledSettings(settings)).toEqual([]);
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

  it('allows every system call that serving, storing, reading, reporting and stopping make', async () => {
    const [allowedSet = '', refusedSet = ''] = valuesOf('SystemCallFilter');
    expect([allowedSet, refusedSet]).toEqual(['@system-service @pkey', '~@privileged']);
    const refusedCalls = new Set(listSystemCalls(refusedSet.slice(1)));
    const allowedCalls = new Set(
      [...`${allowedSet} @default`.split(' ').flatMap(listSystemCalls)].filter((call) => !refusedCalls.has(call)),
    );

    const folder = temporaryFolder();
    const env = {
      DATABASE_URL: `sqlite:${folder}/data.db`,
      OPERATOR_TOKEN: operatorToken,
      LOG_LEVEL: 'info',
      PORT: '0',
    };
    let traceText = '';
    /** Runs the server under strace until `use` is done, then stops the server. */
    const serve = async (use: (url: string) => Promise<unknown>): Promise<void> => {
      const trace = join(temporaryFolder(), 'calls');
      const command = [process.execPath, 'server/bin/firsthand.js', 'serve'];
      const running = start('strace', ['-f', '-qq', '-o', trace, ...command], env, packages);
      onTestFinished(() => void running.child.kill('SIGKILL'));
      const [, url = ''] = await running.waitForOutput(/"address":"([^"]+)"/);
      await use(url);
      // Stops the first process in the log, which is the server, because strace forwards no signals.
      const [pid] = readFileSync(trace, 'utf8').split(' ', 1);
      process.kill(Number(pid), 'SIGTERM');
      const { code, stderr } = await running.ended;
      // Allows the shutdown to time out: under strace, it can take more than five seconds. Nothing else is allowed to
      // fail.
      expect(code).toBe(stderr.includes('the shutdown took too long') ? 1 : 0);
      traceText += readFileSync(trace, 'utf8');
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
      // Logs enough events for the report process to write files.
      for (let nth = 0; nth < 10; nth++)
        await api.logEvents({ event: Array.from({ length: 1_000 }, () => ({ eventID: 1, userUUID })) });
      await report(url);
    });
    // Relative names are the report process's files, which it writes at shutdown unless the shutdown times out.
    const manifest = '1/manifest.json.new';
    for (let nth = 0; nth < maxStops && !traceText.includes(`"${manifest}", O_WRONLY`); nth++) await serve(report);

    const findAll = (pattern: RegExp): string[] => [
      ...new Set([...traceText.matchAll(pattern)].map(([, one]) => one as string)),
    ];
    const calls = findAll(/^\d+ +(\w+)\(/gm);
    expect(calls.length).toBeGreaterThan(40);
    // Allows fchown, which SQLite calls only as root: the service does not run as root.
    expect(calls.filter((call) => !allowedCalls.has(call) && call !== 'fchown')).toEqual([]);
    const families = findAll(/ socket\((AF_\w+)/g);
    const allowedFamilies = valuesOf('RestrictAddressFamilies').flatMap((line) => line.split(' '));
    expect(families.length).toBeGreaterThan(0);
    expect(families.filter((family) => !allowedFamilies.includes(family))).toEqual([]);
    // Expects writes only to the StateDirectory and to devices: ProtectSystem=strict makes everything else read-only.
    const writtenFiles = findAll(/ openat\(\w+, "([^"]+)", O_(?:RDWR|WRONLY)/g);
    expect(writtenFiles).toContain(`${folder}/data.db`);
    expect(writtenFiles).toContain(manifest);
    // Allows the report process to raise its own OOM score, as any process may.
    const isElsewhere = (path: string) =>
      path.startsWith('/') && !path.startsWith(folder) && !/^\/dev\/|^\/proc\/self\/oom_score_adj$/.test(path);
    expect(writtenFiles.filter(isElsewhere)).toEqual([]);
  });
});
