import { expect, it } from 'vitest';
import { firsthand, firsthandJSON, temporaryDatabase } from '../fixtures/command.ts';

it('invites, lists and removes people, and changes their roles', async () => {
  const { env } = temporaryDatabase();
  const ben = 'ben@shop.example';
  const { accountUUID } = await firsthandJSON(['account', 'create', '--name', 'Shop'], env);
  const { stdout } = await firsthand(['user', 'invite', ben, '--role', 'editor', '--port', '4000'], env);
  expect(stdout).toMatch(
    /^With this one-time link, ben@shop\.example chooses a password or creates a passkey, until .*:\n\nhttp:\/\/127\.0\.0\.1:4000\/console\/join#code=invitation_[\w-]{24}\n/,
  );
  const own = ['--console-origin', 'https://events.shop.example', '--base-path', '/s/'];
  const again = await firsthandJSON(
    ['user', 'invite', 'Ben@Shop.example', '--role', 'editor', '--name', 'Ben', ...own],
    env,
  );
  expect(again.invitationURL).toBe(`https://events.shop.example/s/console/join#code=${again.invitationCode}`);
  const { memberID } = again;
  await firsthand(['user', 'role', ben, '--role', 'owner'], env);
  expect(await firsthandJSON(['user', 'list'], env)).toEqual([
    {
      ...{ accountUUID, memberID, memberEmailaddress: ben, memberName: 'Ben', memberRole: 'owner' },
      ...{ createdTime: expect.any(String), invitationExpiresTime: expect.any(String) },
      passkeys: 0,
    },
  ]);
  expect((await firsthand(['user', 'list'], env)).stdout).toMatch(
    /\nShop +ben@shop\.example +Ben +owner +invited +never +0\n/,
  );
  await firsthandJSON(['account', 'create', '--name', 'Blog'], env);
  const which = await firsthand(['user', 'remove', ben], env);
  expect([which.code, which.stderr]).toEqual([2, expect.stringMatching('--account is required')]);
  expect(await firsthandJSON(['user', 'remove', ben, '--account', accountUUID], env)).toEqual({
    memberID,
    status: '200',
  });
  const repeated = await firsthand(['user', 'remove', ben, '--account', accountUUID], env);
  expect([repeated.code, repeated.stderr]).toEqual([1, expect.stringMatching('no member of Shop has')]);
});
