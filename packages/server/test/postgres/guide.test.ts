/**
 * Runs all steps of docs/postgresql.md in one shell: copies a file, serves it from PostgreSQL with two servers, and
 * copies it back. Functions replace systemd and the package's command. Names, paths and the port are specific to the
 * test.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClient } from '@firsthand/client';
import { expect, it, onTestFinished } from 'vitest';
import { firsthandJSON, start, startServer, temporaryFolder } from '../fixtures/command.ts';
import { readBlocks } from '../fixtures/documents/guides.ts';
import { newDatabase, querySQL } from '../fixtures/postgres/databases.ts';
import { freePort } from '../tools/ports.ts';

const bin = fileURLToPath(new URL('../../bin/firsthand.js', import.meta.url));

/** Shell functions for systemd and the package's command. The server is a child of the shell. */
const functions = (folder: string, port: number): string => `
become() { exec '${process.execPath}' '${bin}' --settings-file ${folder}/firsthand.env "$@"; }
firsthand() ( become "$@" )
systemctl() {
  if [ "$1" = stop ]; then kill $server; wait $server; return; fi
  become serve 2>> ${folder}/log & server=$!
}
until_ready() {
  curl -fsS --retry 60 --retry-delay 1 --retry-connrefused -o /dev/null http://127.0.0.1:${port}/readyz && echo ready
}
trap 'systemctl stop firsthand' EXIT
`;

it('follows postgresql.md: moves a file to PostgreSQL, shares it between servers, and moves it back', async () => {
  const folder = temporaryFolder();
  const name = `guide_${process.pid}`;
  const adminURL = await newDatabase();
  const databaseURL = Object.assign(new URL(adminURL), { username: name, pathname: `/${name}` }).href;
  const port = await freePort();
  const change = (code: string) =>
    code
      .replaceAll('postgres://firsthand@db.example/firsthand', databaseURL)
      .replaceAll('/var/lib/firsthand/', `${folder}/`)
      .replaceAll('/etc/firsthand.env', `${folder}/firsthand.env`)
      .replaceAll(/(ROLE|DATABASE|OWNER) firsthand/g, `$1 ${name}`);
  const blocks = readBlocks('postgresql.md').map(({ language, code }) => ({ language, code: change(code) }));

  const file = { DATABASE_URL: `sqlite:${folder}/firsthand.db` };
  const { accountUUID, serverTokenUUID } = await firsthandJSON(['account', 'create', '--name', 'Shop'], file);
  const settings = `DATABASE_URL=sqlite:${folder}/firsthand.db\nPORT=${port}\n`;
  writeFileSync(join(folder, 'firsthand.env'), `${settings}BACKUP_DIR=${folder}/backups\n`);
  const userUUID = 'a-visitor-of-the-guide';

  const sql = blocks.flatMap(({ language, code }) => (language === 'sql' ? code.trim().split('\n') : []));
  expect(sql).toHaveLength(2);
  for (const statement of sql) await querySQL(adminURL, statement);
  onTestFinished(async () => {
    await querySQL(adminURL, `DROP DATABASE ${name}`);
    await querySQL(adminURL, `DROP ROLE ${name}`);
  });

  const scripts = blocks.filter(({ language }) => language === 'sh').map(({ code }) => code);
  const [copy = '', resume = '', goBack = ''] = scripts;
  expect(scripts).toHaveLength(3);
  const log = (eventName: string) => `firsthand event log --name '${eventName}' --user ${userUUID}\n`;
  // Between the blocks, the first server keeps running while the second server is tested.
  const script = [
    functions(folder, port),
    'systemctl start firsthand; until_ready',
    log('In the file'),
    copy,
    resume,
    `until_ready\n${log('In PostgreSQL')}`,
    `touch ${folder}/moved; until [ -f ${folder}/go-back ]; do sleep 0.1; done`,
    goBack,
    'until_ready; firsthand event list',
  ].join('\n');
  const running = start('timeout', ['550', 'bash', '-euo', 'pipefail', '-c', script], {
    FIRSTHAND_TOKEN: serverTokenUUID,
  });
  onTestFinished(() => void running.child.kill('SIGTERM'));

  await running.waitForOutput(/identical\n/);
  await running.waitForOutput(/ok +PostgreSQL/);
  const second = await startServer({ DATABASE_URL: databaseURL, PGPASSWORD: 'a-password-of-your-own' });
  const api = createClient({ url: second.url, token: serverTokenUUID });
  const namesOf = async () => (await api.getEvent({ userUUID })).event.map(({ eventName }) => eventName);
  await expect.poll(namesOf).toEqual(['In PostgreSQL', 'In the file']);
  await api.logEvent({ userUUID, eventName: 'By the second server' });
  second.child.kill('SIGTERM');
  await second.ended;
  writeFileSync(join(folder, 'go-back'), '');

  const { code, stdout, stderr } = await running.ended;
  if (code !== 0) throw new Error(`the guide exited with ${code}:\n${stdout}${stderr}`);
  expect(stdout.match(/identical$/gm)).toHaveLength(2);
  const [listed = ''] = stdout.split('ready\n').slice(-1);
  expect(listed).toMatch(/By the second server[\s\S]*In PostgreSQL[\s\S]*In the file/);
  expect(await firsthandJSON(['account', 'list'], file)).toEqual([expect.objectContaining({ accountUUID })]);
  expect(readFileSync(join(folder, 'firsthand.env'), 'utf8')).toBe(settings);
});
