/**
 * Follows docs/backups.md in a temporary folder instead of /srv/firsthand. A shell with cron's environment simulates
 * cron.
 */
import { mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { start, temporaryFolder } from '../fixtures/command.ts';
import { readBlocks } from '../fixtures/documents/guides.ts';

const bin = fileURLToPath(new URL('../../bin/firsthand.js', import.meta.url));
const blocks = readBlocks('backups.md').map(({ code }) => code.trim());
const find = (words: string): string => {
  const matches = blocks.filter((code) => code.includes(words));
  expect(matches.length, words).toBe(1);
  return matches[0] as string;
};

test('follows docs/backups.md: the server and cron make backups, and a drill restores them', async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true });
  symlinkSync(bin, join(folder, 'node_modules/.bin/firsthand'));
  const here = (code: string): string => code.replaceAll('/srv/firsthand', folder);
  const backups = () => readdirSync(join(folder, 'backups')).filter((name) => name.endsWith('.db'));

  const creation = await start(process.execPath, [bin, 'account', 'create', '--name', 'Teahouse'], {}, folder).ended;
  expect(creation.code).toBe(0);
  // Uses `exec`, so that killing the process ends the server itself and not only a shell.
  const serve = here(find('firsthand serve')).replace('npx firsthand', 'exec node_modules/.bin/firsthand');
  const server = start('sh', ['-c', serve], { PORT: '0', LOG_LEVEL: 'info' });
  onTestFinished(async () => {
    server.child.kill('SIGKILL');
    await server.ended;
  });
  await server.waitForOutput(new RegExp(find('a backup was made')));
  expect(backups()).toHaveLength(1);

  // Runs the command in a crontab line (crontab(5)), which has five fields for the time before the command. PATH also
  // gets this machine's Node folder.
  const [, when, line = ''] = /^(\S+ \S+ \S+ \S+ \S+) (.*)$/.exec(here(find(' * * * '))) ?? [];
  expect(when).toBe('17 3 * * *');
  const command = line.replace('/usr/local/bin', `${dirname(process.execPath)}:/usr/local/bin`);
  const minimal = ['-i', `HOME=${process.env.HOME}`, 'SHELL=/bin/sh', 'LOGNAME=root', 'PATH=/usr/bin:/bin'];
  const runAsCron = () => start('env', [...minimal, '/bin/sh', '-c', command], {}).ended;
  expect(await runAsCron()).toMatchObject({ code: 0, stdout: '', stderr: '' });
  expect(backups()).toHaveLength(2);

  const drill = await start('sh', ['-ec', here(find('firsthand restore'))], {}).ended;
  expect(drill).toMatchObject({ code: 0 });
  expect(drill.stdout).toContain('Teahouse');
  expect(readdirSync(folder)).not.toContain('drill');
  expect(server.child.exitCode).toBe(null);

  // A failed backup prints the reason to standard error, which cron sends by e-mail.
  const failing = command.replace('--backup-dir backups', '--backup-dir data/firsthand.db');
  const failed = await start('env', [...minimal, '/bin/sh', '-c', failing], {}).ended;
  expect([failed.code === 0, failed.stdout, failed.stderr.length > 0]).toEqual([false, '', true]);
});
