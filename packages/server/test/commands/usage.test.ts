import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { firsthand, start, temporaryDatabase, temporaryFolder } from '../fixtures/command.ts';

describe('a command with invalid arguments', () => {
  it.each([
    [['nonsense'], /^error: unknown command 'nonsense'\n$/],
    [['account', 'create'], /^error: required option '--name <name>' not specified\n$/],
    [['account', 'create', '--name', 'x', '--origin', 'shop'], /^firsthand: --origin must be an origin: [^\n]+\n$/],
    [['account', 'create', '--name', ''], /^firsthand: --name is required\n$/],
    [
      ['token', 'create', '--kind', 'god'],
      /^error: [^\n]+ Allowed choices are browser, agent, viewer, editor, server, operator\.\n$/,
    ],
    [['token', 'create', '--kind', 'server'], /^firsthand: --account is required for a server token\n$/],
    [['token', 'create', '--kind', 'operator', '--account', 'x'], /^firsthand: an operator token [^\n]+\n$/],
    [['event', 'log', '--event-id', '1', '--user', 'x'], /^firsthand: a server token is required: [^\n]+\n$/],
    [['event', 'log', '--event-id', '1'], /^firsthand: --user, --contact or --external-id is required\n$/],
    [['event', 'log', '--event-id', '1', '--user', 'x', '--attr', 'x'], /^firsthand: --attr must be id=value[^\n]+\n$/],
    [
      ['event', 'list', '--token', 'x', '--url', 'shop.example'],
      /^firsthand: --url must be an HTTP URL, such as http[^\n]+\n$/,
    ],
    [['serve', '--port', 'x'], /^firsthand: PORT \(or --port\) must be [^\n]+\n$/],
    [['serve', '--workers', '2'], /^error: unknown option '--workers'\n/],
    [['serve', '--database-url', 'mysql://x'], /^firsthand: DATABASE_URL \(or --database-url\) must be [^\n]+\n$/],
    [['doctor', '--database-url', 'sqlite::memory:'], /^firsthand: DATABASE_URL names a database in memory[^\n]+\n$/],
  ])('prints one line without a stack trace, and exits with 2: %j', async (args, message) => {
    const { path, env } = temporaryDatabase();
    const { code, stdout, stderr } = await firsthand(args, env);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(message);
    expect(existsSync(path)).toBe(false);
  });
});

it('names a variable whose value is invalid', async () => {
  const { code, stderr } = await firsthand(['serve'], { RETENTION_DAYS: 'never', LOG_LEVEL: 'loud' });
  expect(code).toBe(2);
  expect(stderr).toMatch(
    /^firsthand: RETENTION_DAYS \(or --retention-days\) must be .*\nfirsthand: LOG_LEVEL .*must be .*\n$/,
  );
});

it('rejects WORKERS, which was removed', async () => {
  const { path, env } = temporaryDatabase();
  const { code, stdout, stderr } = await firsthand(['serve'], { ...env, WORKERS: '4' });
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(/^firsthand: WORKERS is "4", but this setting was removed: [^\n]+ PostgreSQL [^\n]+\n$/);
  expect(existsSync(path)).toBe(false);
});

it('prints its version with any command', async () => {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  for (const args of [['--version'], ['serve', '--version'], ['account', 'create', '-V']]) {
    expect(await firsthand(args)).toMatchObject({ code: 0, stdout: `${version}\n`, stderr: '' });
  }
});

describe('--settings-file', () => {
  const write = (text: string) => {
    const file = join(temporaryFolder(), 'firsthand.env');
    writeFileSync(file, text);
    return file;
  };

  it('provides settings for every command, unless variables override them', async () => {
    const { path, env } = temporaryDatabase();
    const file = write(`DATABASE_URL='${env.DATABASE_URL}'\nBASE_PATH=/s/\n`);
    const args = ['--settings-file', file, 'account', 'create', '--name', 'Shop'];
    const { code, stdout } = await firsthand(args);
    expect([code, existsSync(path)]).toEqual([0, true]);
    expect(stdout).toContain('https://shop.example/s/main.');
    expect((await firsthand(args, { BASE_PATH: '/x/' })).stdout).toContain('https://shop.example/x/main.');
  });

  it('must be readable, and consist of NAME=value lines', async () => {
    const missing = await firsthand(['--settings-file', '/nowhere.env', 'account', 'list']);
    expect(missing).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^firsthand: --settings-file .*\/nowhere\.env/),
    });
    const wrong = await firsthand(['--settings-file', write('export PORT=1'), 'serve']);
    expect(wrong).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^firsthand: line 1 of .* is not NAME=value/),
    });
  });
});

it('describes distribution over Citus as experimental', async () => {
  const { stdout } = await firsthand(['migrate', '--help']);
  expect(stdout.replaceAll(/\s+/g, ' ')).toMatch(
    /--citus experimental: .* tested on a cluster of three nodes, and not used in production yet/,
  );
});

it('prints help', async () => {
  const { code, stdout, stderr } = await firsthand(['help', 'token']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/create .*\n[\s\S]*revoke .*\n[\s\S]*list .*\n/);
});

it('exits without an error when its output pipe is closed', async () => {
  const bin = new URL('../../bin/firsthand.js', import.meta.url).pathname;
  const pipe = `set -o pipefail; ${process.execPath} ${bin} --help | exec 0<&-`;
  const { code, stderr } = await start('bash', ['-c', pipe], {}).ended;
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
});
