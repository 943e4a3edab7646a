import { join } from 'node:path';
import { expect, it } from 'vitest';
import { firsthand, firsthandJSON, temporaryDatabase } from '../fixtures/command.ts';

it('marks command-line actions as such, including backups', async () => {
  const { env, path } = temporaryDatabase();
  const { accountUUID } = await firsthandJSON(['account', 'create', '--name', 'Shop'], env);
  await firsthandJSON(['backup', join(path, '..', 'copy.db')], env);
  const all = await firsthandJSON(['audit', 'list'], env);
  const rows = all.map(({ action, actor, accountUUID: of }: Record<string, string>) => [action, actor, of]);
  expect(rows).toEqual([
    ['backup', 'command', ''],
    ['createToken', 'command', accountUUID],
    ['createToken', 'command', accountUUID],
    ['createAccount', 'command', accountUUID],
  ]);
  const { stdout } = await firsthand(['audit', 'list', '--account', accountUUID, '--action', 'createAccount'], env);
  expect(stdout).toMatch(/^AUDIT ID +TIME +ACCOUNT +ACTOR +ACTION +SUBJECT\n\d+ .* command +createAccount +\{\}\n$/);
});
