import { expect, it } from 'vitest';
import { firsthand, firsthandJSON, temporaryDatabase } from '../fixtures/command.ts';
import { serveHere } from '../fixtures/serving.ts';

const readEvents = (url: string, token: string) =>
  fetch(`${url}/event/getEvent`, { headers: { authorization: `Bearer ${token}` } });

it('creates and revokes a token with immediate effect on a running server', async () => {
  const { env } = temporaryDatabase();
  const { url } = await serveHere(env);
  const { accountUUID } = await firsthandJSON(['account', 'create', '--name', 'Shop'], env);
  const created = await firsthandJSON(
    ['token', 'create', '--account', accountUUID, '--kind', 'server', '--name', 'till'],
    env,
  );
  expect(created).toEqual({
    tokenID: expect.any(String),
    tokenKind: 'server',
    tokenUUID: expect.stringMatching(/^server_/),
    status: '200',
  });
  expect((await readEvents(url, created.tokenUUID)).status).toBe(200);
  expect((await readEvents(url, created.tokenUUID)).status).toBe(200);

  const revoked = await firsthandJSON(['token', 'revoke', '--account', accountUUID, created.tokenID], env);
  expect((await readEvents(url, created.tokenUUID)).status).toBe(401);
  expect(revoked).toEqual({ tokenID: created.tokenID, revokedTime: expect.stringMatching(/Z$/), status: '200' });
  const again = await firsthandJSON(['token', 'revoke', '--account', accountUUID, created.tokenID], env);
  expect(again.revokedTime).toBe(revoked.revokedTime);
});

it('creates an operator token, which can create accounts until it is revoked', async () => {
  const { env } = temporaryDatabase();
  const { url } = await serveHere(env);
  const { tokenID, tokenUUID } = await firsthandJSON(['token', 'create', '--kind', 'operator'], env);
  const create = () =>
    fetch(`${url}/account/createAccount`, { method: 'POST', body: JSON.stringify({ tokenUUID, accountName: 'Shop' }) });
  expect((await create()).status).toBe(200);
  await firsthandJSON(['token', 'revoke', tokenID], env);
  expect((await create()).status).toBe(401);
});

it('lists the hour of each token’s last use, which the server has stored by the time it stops', async () => {
  const { env } = temporaryDatabase();
  const { url, close } = await serveHere(env);
  const { accountUUID, serverTokenUUID } = await firsthandJSON(['account', 'create', '--name', 'Shop'], env);
  const lastUses = async () => {
    const { stdout } = await firsthand(['token', 'list', '--account', accountUUID], env);
    // Replaces the hour, which might change during the test.
    return stdout.replaceAll(/\d\dh\b/g, 'this hour').match(/never|this hour/g);
  };
  expect(await lastUses()).toEqual(['never', 'never']);
  expect((await readEvents(url, serverTokenUUID)).status).toBe(200);
  await close();
  expect((await lastUses())?.sort()).toEqual(['never', 'this hour']);
});

it('lists no secrets', async () => {
  const { env } = temporaryDatabase();
  const one = await firsthandJSON(['account', 'create', '--name', 'One'], env);
  const two = await firsthandJSON(['account', 'create', '--name', 'Two'], env);
  const all = await firsthand(['token', 'list', '--json'], env);
  expect(JSON.parse(all.stdout)).toHaveLength(4);
  expect(all.stdout).toContain(one.browserTokenUUID);
  const text = await firsthand(['token', 'list'], env);
  for (const { stdout } of [all, text]) {
    expect(stdout).not.toContain(one.serverTokenUUID);
    expect(stdout).not.toContain(two.serverTokenUUID);
  }
  const ofTwo = await firsthandJSON(['token', 'list', '--account', two.accountUUID], env);
  expect(ofTwo.map((token: { tokenKind: string }) => token.tokenKind)).toEqual(['browser', 'server']);
});

it('prints a token and whether it is revoked', async () => {
  const { env } = temporaryDatabase();
  const { accountUUID } = await firsthandJSON(['account', 'create', '--name', 'Shop'], env);
  const create = (kind: string) => firsthand(['token', 'create', '--account', accountUUID, '--kind', kind], env);
  expect((await create('browser')).stdout).toMatch(/^Token +browser_\S+\nToken ID +\S+\n$/);
  const { stdout } = await create('server');
  expect(stdout).toMatch(/^Token +server_\S+ {2}\(secret; shown only once\)\nToken ID +\S+\n$/);

  const [, tokenID = ''] = /^Token ID +(\S+)$/m.exec(stdout) ?? [];
  const revoked = await firsthand(['token', 'revoke', '--account', accountUUID, tokenID], env);
  expect(revoked.stdout).toMatch(new RegExp(`^${tokenID} was revoked at \\S+ \\S+Z\\n$`));
  const list = await firsthand(['token', 'list'], env);
  expect(list.stdout).toMatch(new RegExp(`^Shop +server +${tokenID} +.*revoked .*\\(secret\\)$`, 'm'));
  const all = await firsthandJSON(['token', 'list'], env);
  expect(all.filter(({ revokedTime }: { revokedTime?: string }) => revokedTime !== undefined)).toMatchObject([
    { tokenID, revokedTime: expect.stringMatching(/Z$/) },
  ]);
});

it('reports the name of a missing account', async () => {
  const { env } = temporaryDatabase();
  await firsthandJSON(['account', 'create', '--name', 'Shop'], env);
  const { code, stderr } = await firsthand(['token', 'list', '--account', 'nobody'], env);
  expect({ code, stderr }).toEqual({ code: 1, stderr: 'firsthand: there is no account nobody\n' });
});

it('lists the state of an expiring viewer token, and operator tokens', async () => {
  const { env } = temporaryDatabase();
  const { accountUUID } = await firsthandJSON(['account', 'create', '--name', 'Shop'], env);
  const createToken = (...args: string[]) => firsthandJSON(['token', 'create', ...args], env);
  const expires = new Date(Date.now() + 3_600_000).toISOString();
  const viewer = await createToken('--account', accountUUID, '--kind', 'viewer', '--expires', expires);
  const operator = await createToken('--kind', 'operator', '--name', 'deploy');
  const all = await firsthandJSON(['token', 'list'], env);
  expect(all).toContainEqual({
    accountUUID,
    tokenID: viewer.tokenID,
    tokenKind: 'viewer',
    tokenName: '',
    createdTime: expect.stringMatching(/Z$/),
    createdBy: '',
    expiresTime: expires,
  });
  expect(all).toContainEqual(
    expect.objectContaining({ accountUUID: '', tokenID: operator.tokenID, tokenKind: 'operator', tokenName: 'deploy' }),
  );
  const { stdout } = await firsthand(['token', 'list'], env);
  expect(stdout).toMatch(
    new RegExp(`^\\(the service\\) +operator +${operator.tokenID} +deploy .* live +\\(secret\\)$`, 'm'),
  );
  expect(stdout).toMatch(new RegExp(`^Shop +viewer +${viewer.tokenID} .* expires .*\\(secret\\)$`, 'm'));
});

it('revokes a token with its descendants', async () => {
  const { env } = temporaryDatabase();
  const { url } = await serveHere(env);
  const { accountUUID } = await firsthandJSON(['account', 'create', '--name', 'Shop'], env);
  const parent = await firsthandJSON(['token', 'create', '--account', accountUUID, '--kind', 'server'], env);
  const body = JSON.stringify({ tokenUUID: parent.tokenUUID, tokenKind: 'viewer' });
  const created = (await (await fetch(`${url}/account/createToken`, { method: 'POST', body })).json()) as {
    tokenID: string;
    tokenUUID: string;
  };
  expect((await readEvents(url, created.tokenUUID)).status).toBe(200);
  const revoke = ['token', 'revoke', '--account', accountUUID, '--descendants', parent.tokenID];
  expect(await firsthandJSON(revoke, env)).toMatchObject({ descendants: [created.tokenID] });
  expect((await readEvents(url, created.tokenUUID)).status).toBe(401);
});

it('does not treat an ID that begins with a hyphen as an option', async () => {
  const { env } = temporaryDatabase();
  const { accountUUID } = await firsthandJSON(['account', 'create', '--name', 'Shop'], env);
  const id = '-rMOEYFxTBY1_pUDf_0bu';
  const account = ['--account', accountUUID];
  for (const args of [
    [...account, id],
    [id, ...account],
    [...account, '--descendants', id],
    [...account, '--', id],
  ])
    expect((await firsthand(['token', 'revoke', ...args], env)).stderr).toMatch(
      /no token in the account has this tokenID/,
    );
  expect((await firsthand(['token', 'revoke', '--account', id, 'x'], env)).stderr).toMatch(/^firsthand: .*account/);
});

it('rejects an invalid or past expiry before it opens the database', async () => {
  const { env } = temporaryDatabase();
  for (const expires of ['yesterday', '2020-01-01T00:00:00Z']) {
    const { code, stderr } = await firsthand(['token', 'create', '--kind', 'operator', '--expires', expires], env);
    expect([code, stderr]).toEqual([2, expect.stringContaining('--expires must')]);
  }
});
