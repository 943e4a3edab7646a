import { chmodSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClient } from '@firsthand/client';
import { expect, it, onTestFinished } from 'vitest';
import { firsthand, start, temporaryFolder } from './fixtures/command.ts';
import { createAccount, operatorToken, userUUID } from './fixtures/serving.ts';

const bin = fileURLToPath(new URL('../bin/firsthand.js', import.meta.url));

/** Starts the command from a shell with umask 000. */
const startWithOpenUmask = (args: readonly string[], env: Record<string, string>) =>
  start('sh', ['-c', 'umask 000 && exec "$0" "$@"', process.execPath, bin, ...args], env);

const modesIn = (folder: string) =>
  Object.fromEntries(
    ['.', ...readdirSync(folder).sort()].map((name) => [name, (statSync(join(folder, name)).mode & 0o777).toString(8)]),
  );

it('makes every file that serve, erase, backup and doctor write accessible only to its owner', async () => {
  const folder = join(temporaryFolder(), 'data');
  const env = { DATABASE_URL: `sqlite:${join(folder, 'firsthand.db')}`, OPERATOR_TOKEN: operatorToken };
  const server = startWithOpenUmask(['serve', '--port', '0', '--log-level', 'info'], env);
  onTestFinished(async () => {
    server.child.kill('SIGKILL');
    await server.ended;
  });
  const [, url = ''] = await server.waitForOutput(/"address":"([^"]+)"/);
  const { serverTokenUUID } = await createAccount(url);
  const client = createClient({ url, token: serverTokenUUID as string });
  const { contactUUID } = await client.createContact({
    userUUID,
    contactEmailaddress: 'ann@shop.example',
    contactProfileID: 'customer',
  });
  await client.eraseContact({ contactUUID });
  const commands = [['backup', join(folder, 'backup.db')], ['doctor']].map(
    (args) => startWithOpenUmask(args, env).ended,
  );
  const [backup, check] = await Promise.all(commands);
  expect(backup).toMatchObject({ code: 0 });
  expect(check?.stdout).toMatch(/^ok +permissions/m);
  expect(modesIn(folder)).toEqual({
    '.': '700',
    'backup.db': '600',
    'firsthand.db': '600',
    'firsthand.db-backup': '600',
    'firsthand.db-erased': '600',
    'firsthand.db-lock': '600',
    'firsthand.db-lock-journal': '600',
    'firsthand.db-shm': '600',
    'firsthand.db-wal': '600',
  });

  chmodSync(folder, 0o755);
  chmodSync(join(folder, 'firsthand.db-erased'), 0o640);
  const doctor = await firsthand(['doctor'], env);
  expect(doctor.code).toBe(1);
  expect(doctor.stdout).toMatch(
    /NOT OK +permissions +other users can read .*: chmod 700 \S+data; chmod 600 \S+-erased$/m,
  );
});
