import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { parseEnvironmentFile } from '../../src/config/environment-file.ts';
import { firsthand, firsthandJSON, start, temporaryFolder } from '../fixtures/command.ts';
import { serveHere } from '../fixtures/serving.ts';
import { consoleOrigin, cookieFrom, fromConsole } from '../front-door/console/requests.ts';

const site = 'https://tea.example';
const email = 'ann@tea.example';

/** Returns options that keep setup in a separate folder, because a test must not create a user on the machine. */
const placesIn = (folder: string) => {
  const [file, unit, data] = [
    join(folder, 'etc/firsthand.env'),
    join(folder, 'firsthand.service'),
    join(folder, 'data'),
  ];
  const args = [
    '--settings-file',
    file,
    'setup',
    '--unit',
    unit,
    '--data',
    data,
    '--user',
    process.getuid?.() === 0 ? 'nobody' : 'me',
  ];
  return { file, unit, data, args };
};
const flags = ['--site', site, '--email', email, '--web-server', 'caddy', '--console-origin', consoleOrigin];
const read = (file: string) => readFileSync(file, 'utf8');

it('writes the settings and a systemd unit, creates the owner, and prints a sign-in link and the web server’s configuration', async () => {
  const { file, unit, data, args } = placesIn(temporaryFolder());
  const { code, stdout, stderr } = await firsthand([...args, ...flags]);
  expect([code, stderr]).toEqual([0, `Wrote ${file} and ${unit}\n`]);

  const settings = parseEnvironmentFile(read(file), file);
  expect(settings).toMatchObject({
    ...{ DATABASE_URL: `sqlite:${data}/firsthand.db`, BACKUP_DIR: `${data}/backups`, BASE_PATH: '/s/' },
    ...{ TRUST_PROXY: '127.0.0.1', CONSOLE_ORIGIN: consoleOrigin },
  });
  expect(statSync(file).mode & 0o777).toBe(0o640);
  expect(read(unit)).toMatch(
    new RegExp(`^ExecStart=/\\S+ /\\S+/bin/firsthand\\.js --settings-file ${file} serve$`, 'm'),
  );
  expect(read(unit)).toMatch(new RegExp(`^ReadWritePaths=${data}$`, 'm'));
  expect(stdout).toContain('In the block for tea.example:\n\n    handle /s/* {');
  expect(stdout).toContain('events.shop.example {\n    redir / /s/console/');
  expect(stdout).toContain(`${site}/s/main.`);
  expect(stdout).not.toMatch(/firsthand\.shop\.example|^shop\.example/m);

  const [, url = ''] = /^(https:\S+#code=\S+)$/m.exec(stdout) ?? [];
  expect(url).toMatch(`${consoleOrigin}/s/console/join#code=invitation_`);
  const invitationCode = url.split('#code=')[1];
  const { url: root } = await serveHere({ ...settings, PORT: '0', BACKUP_DIR: '', BACKUP_EVERY: '', BACKUP_KEEP: '' });
  const acceptInvitation = () =>
    fetch(`${root}/console/accept`, {
      method: 'POST',
      headers: { ...fromConsole(''), 'Content-Type': 'application/json' },
      body: JSON.stringify({ code: invitationCode, memberName: 'Ann', password: 'a kettle that never whistles' }),
    });
  const joined = await acceptInvitation();
  expect([joined.status, ((await joined.json()) as { session: unknown }).session]).toMatchObject([
    200,
    { accountName: 'tea.example', kind: 'server' },
  ]);
  expect(cookieFrom(joined.headers)).toMatch(/^__Host-firsthand=session_/);
  expect((await acceptInvitation()).status).not.toBe(200);
});

it('keeps an earlier run’s settings and account, and prints a new link', async () => {
  const { file, unit, args } = placesIn(temporaryFolder());
  const first = await firsthandJSON([...args, ...flags]);
  writeFileSync(file, `${read(file)}RETENTION_DAYS=400\n`);
  const again = await firsthandJSON([...args, ...flags.slice(0, -1), 'https://other.tea.example']);
  expect(parseEnvironmentFile(read(file), file)).toMatchObject({
    ...{ RETENTION_DAYS: '400', CONSOLE_ORIGIN: 'https://other.tea.example' },
  });
  expect([first.unit, again.unit]).toEqual([unit, unit]);
  expect(first).toMatchObject({ serverTokenUUID: expect.stringMatching(/^server_/), environmentFile: file });
  expect(again).not.toHaveProperty('serverTokenUUID');
  expect([again.memberID, again.invitationURL]).toEqual([
    first.memberID,
    expect.stringMatching(/^https:\/\/other\.tea\.example\/s\//),
  ]);
});

it('rejects a site that is not the account’s before it writes anything', async () => {
  const { file, unit, args } = placesIn(temporaryFolder());
  const first = await firsthandJSON([...args, ...flags]);
  const written = [file, unit].map(read);
  const other = ['--site', 'https://cups.example', '--email', email, '--console-origin', 'none'];
  const { code, stdout, stderr } = await firsthand([...args, ...other]);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(
    /--site is https:\/\/cups\.example, but the account tea\.example is for https:\/\/tea\.example/,
  );
  expect(stderr).toMatch(/console.*Sites[\s\S]*firsthand account create[\s\S]*--account/);
  expect([file, unit].map(read)).toEqual(written);

  const { DATABASE_URL } = parseEnvironmentFile(read(file), file) as { DATABASE_URL: string };
  const { accountUUID } = await firsthandJSON(
    ['account', 'create', '--name', 'Cups', '--origin', 'https://*.cups.example'],
    { DATABASE_URL },
  );
  const wildcard = ['--site', 'https://www.cups.example', '--email', email, '--account', accountUUID];
  expect((await firsthandJSON([...args, ...wildcard])).memberID).not.toBe(first.memberID);
});

it('prints a local link once CONSOLE_ORIGIN is removed, as login-link does', async () => {
  const { file, args } = placesIn(temporaryFolder());
  await firsthandJSON([...args, ...flags]);
  const { invitationURL } = await firsthandJSON([...args, ...flags.slice(0, -1), 'none']);
  const again = await firsthandJSON(['--settings-file', file, 'login-link']);
  for (const url of [invitationURL, again.invitationURL])
    expect(url).toMatch('http://127.0.0.1:3000/s/console/join#code=');
});

it('opens the console on this machine only if CONSOLE_ORIGIN is not set', async () => {
  const { file, args } = placesIn(temporaryFolder());
  const local = [...args, ...flags.slice(0, -1), 'none'];
  const { stdout } = await firsthand(local);
  expect(read(file)).toMatch(/^#CONSOLE_ORIGIN=/m);
  expect(stdout).toMatch(/\nhttp:\/\/127\.0\.0\.1:3000\/s\/console\/join#code=[\s\S]*ssh -L 3000:127\.0\.0\.1:3000/);
  expect(stdout).not.toContain('redir');
});

it.each([
  [['--email', email], /--site and --email are required without a terminal/],
  [
    ['--site', 'http://tea.example', '--email', email],
    /--site must be the https address of a site, such as .*http:\/\/tea\.example/,
  ],
  [['--site', site, '--email', 'ann'], /--email must be an e-mail address; not "ann"/],
  [['--site', site, '--email', email, '--console-origin', 'tea.example'], /CONSOLE_ORIGIN .* must be an https origin/],
  [
    ['--site', site, '--email', email, '--console-origin', site],
    /--console-origin must be on a dedicated host, such as https:\/\/firsthand\.tea\.example, and not on the site's host/,
  ],
])('writes nothing with %j', async (wrongFlags, message) => {
  const folder = temporaryFolder();
  const { code, stderr } = await firsthand([...placesIn(folder).args, ...wrongFlags]);
  expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
  expect(() => statSync(join(folder, 'data'))).toThrow();
  expect(() => statSync(join(folder, 'etc'))).toThrow();
});

it('does not replace a unit that it did not write', async () => {
  const { unit, args } = placesIn(temporaryFolder());
  writeFileSync(unit, '[Unit]\n');
  const { code, stderr } = await firsthand([...args, ...flags]);
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(/was not written by firsthand setup, so it is not replaced/),
  ]);
  expect(read(unit)).toBe('[Unit]\n');
});

it.each(['nginx', 'apache'])('prints the configuration for %s', async (webServer) => {
  const { proxy } = await firsthandJSON([...placesIn(temporaryFolder()).args, ...flags, '--web-server', webServer]);
  const text = proxy.map((snippet: { text: string }) => snippet.text).join('\n');
  expect(text).toContain(`${webServer === 'nginx' ? 'server_name' : 'ServerName'} events.shop.example`);
  expect(text).toContain(webServer === 'nginx' ? 'location /s/ {' : '<Location /s/>');
});

it('prompts for missing options when run in a terminal', async () => {
  const folder = temporaryFolder();
  const { file, args } = placesIn(folder);
  const bin = new URL('../../bin/firsthand.js', import.meta.url).pathname;
  const answers = join(folder, 'answers');
  writeFileSync(answers, `tea.example\n${email}\n\nnginx\n`);
  const command = [process.execPath, bin, ...args].join(' ');
  const running = start('sh', ['-c', `script -qec '${command}' /dev/null < ${answers}`], {});
  onTestFinished(() => void running.child.kill());
  const { code, stdout } = await running.ended;
  expect([code, stdout]).toEqual([0, expect.stringContaining('The address of your site')]);
  expect(parseEnvironmentFile(read(file), file).CONSOLE_ORIGIN).toBe('https://firsthand.tea.example');
  expect(stdout).toContain('location /s/ {');
});

it('makes the service’s user the owner of its data', async () => {
  if (process.getuid?.() !== 0) return;
  const { data, args } = placesIn(temporaryFolder());
  mkdirSync(data);
  await firsthandJSON([...args, ...flags]);
  const { uid } = statSync(data);
  expect(uid).not.toBe(0);
  expect(statSync(join(data, 'firsthand.db')).uid).toBe(uid);
});
