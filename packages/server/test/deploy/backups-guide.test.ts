/** Follows docs/backups.md in a folder of its own in place of /srv/firsthand. Cron is played by a shell with the environment that cron gives. */
import { mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { start, temporaryFolder } from '../fixtures/command.ts';
import { blocksOf } from '../fixtures/documents/guides.ts';

const bin = fileURLToPath(new URL('../../bin/firsthand.js', import.meta.url));
const blocks = blocksOf('backups.md').map(({ code }) => code.trim());
const find = (words: string): string => {
  const found = blocks.filter((code) => code.includes(words));
  expect(found.length, words).toBe(1);
  return found[0] as string;
};

test('docs/backups.md: the server and cron make backups, which a drill restores', async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true });
  symlinkSync(bin, join(folder, 'node_modules/.bin/firsthand'));
  const here = (code: string): string => code.replaceAll('/srv/firsthand', folder);
  const backups = () => readdirSync(join(folder, 'backups')).filter((name) => name.endsWith('.db'));

  const made = await start(process.execPath, [bin, 'account', 'create', '--name', 'Teahouse'], {}, folder).ended;
  expect(made.code).toBe(0);
  // As one process, so that stopping it stops the server, not only a shell.
  const serve = here(find('firsthand serve')).replace('npx firsthand', 'exec node_modules/.bin/firsthand');
  const server = start('sh', ['-c', serve], { PORT: '0', LOG_LEVEL: 'info' });
  onTestFinished(async () => {
    server.child.kill('SIGKILL');
    await server.ended;
  });
  await server.says(new RegExp(find('a backup was made')));
  expect(backups()).toHaveLength(1);

  // The fields of crontab(5): five say when, the rest is the command. Node is where this machine has it.
  const [, when, line = ''] = /^(\S+ \S+ \S+ \S+ \S+) (.*)$/.exec(here(find(' * * * '))) ?? [];
  expect(when).toBe('17 3 * * *');
  const command = line.replace('/usr/local/bin', `${dirname(process.execPath)}:/usr/local/bin`);
  const minimal = ['-i', `HOME=${process.env.HOME}`, 'SHELL=/bin/sh', 'LOGNAME=root', 'PATH=/usr/bin:/bin'];
  const asCron = () => start('env', [...minimal, '/bin/sh', '-c', command], {}).ended;
  expect(await asCron()).toMatchObject({ code: 0, stdout: '', stderr: '' });
  expect(backups()).toHaveLength(2);

  const drill = await start('sh', ['-ec', here(find('firsthand restore'))], {}).ended;
  expect(drill).toMatchObject({ code: 0 });
  expect(drill.stdout).toContain('Teahouse');
  expect(readdirSync(folder)).not.toContain('drill');
  expect(server.child.exitCode).toBe(null);

  // A backup that fails says why on standard error, which cron sends.
  const failing = command.replace('--backup-dir backups', '--backup-dir data/firsthand.db');
  const failed = await start('env', [...minimal, '/bin/sh', '-c', failing], {}).ended;
  expect([failed.code === 0, failed.stdout, failed.stderr.length > 0]).toEqual([false, '', true]);
});
