import { expect, it } from 'vitest';
import { firsthand, firsthandJSON, temporaryDatabase } from '../fixtures/command.ts';

it('prints a link for the only owner, for a new owner, and for a member with the member’s role', async () => {
  const { env } = temporaryDatabase();
  const early = await firsthand(['login-link'], { DATABASE_URL: env.DATABASE_URL });
  expect([early.code, early.stderr]).toEqual([1, expect.stringMatching(/create it with firsthand serve/)]);
  await firsthandJSON(['account', 'create', '--name', 'Shop'], env);
  const nobody = await firsthand(['login-link'], env);
  expect([nobody.code, nobody.stderr]).toEqual([2, expect.stringMatching(/no owner yet: give your e-mail address/)]);

  const ann = await firsthandJSON(['login-link', 'ann@shop.example'], env);
  expect(ann).toMatchObject({
    memberRole: 'owner',
    invitationURL: `http://127.0.0.1:3000/console/join#code=${ann.invitationCode}`,
  });
  const own = { ...env, CONSOLE_ORIGIN: 'https://events.shop.example', BASE_PATH: '/s/' };
  const { stdout } = await firsthand(['login-link'], own);
  expect(stdout).toMatch(
    /ann@shop\.example [\s\S]*\nhttps:\/\/events\.shop\.example\/s\/console\/join#code=invitation_/,
  );
  expect(stdout).toContain('or else HOST, PORT and BASE_PATH');

  await firsthandJSON(['user', 'invite', 'ben@shop.example', '--role', 'viewer'], env);
  expect(await firsthandJSON(['login-link', 'Ben@shop.example'], env)).toMatchObject({ memberRole: 'viewer' });
  await firsthandJSON(['login-link', 'eve@shop.example'], env);
  const several = await firsthand(['login-link'], env);
  expect([several.code, several.stderr]).toEqual([2, expect.stringMatching(/ann@shop\.example, eve@shop\.example/)]);
});
