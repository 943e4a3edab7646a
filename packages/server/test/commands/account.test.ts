import { createHash } from 'node:crypto';
import { createClient } from '@firsthand/client';
import { createAccountOutput } from '@firsthand/contract/account/account';
import { describe, expect, it } from 'vitest';
import { firsthand, firsthandJSON, temporaryDatabase } from '../fixtures/command.ts';
import { serveHere } from '../fixtures/serving.ts';

describe('account create', () => {
  it('prints createAccount’s response', async () => {
    const { env } = temporaryDatabase();
    const response = await firsthandJSON(
      ['account', 'create', '--name', 'Shop', '--origin', 'https://Shop.example/'],
      env,
    );
    expect(createAccountOutput.strict().parse(response)).toEqual(response);
    expect(response).toMatchObject({
      browserTokenUUID: expect.stringMatching(/^browser_/),
      serverTokenUUID: expect.stringMatching(/^server_/),
      contact: [],
      status: '200',
    });
  });

  it('creates an account that is immediately available on a running server, with its origins and settings', async () => {
    const { env } = temporaryDatabase();
    const { url } = await serveHere(env);
    const origins = ['https://shop.example', 'https://*.shop.example'];
    const created = await firsthandJSON(
      ['account', 'create', '--name', 'Shop', '--browser-catalogue', ...origins.flatMap((one) => ['--origin', one])],
      env,
    );
    const { account } = await createClient({ url, token: created.serverTokenUUID }).getAccount({});
    expect(account).toMatchObject({
      accountUUID: created.accountUUID,
      accountName: 'Shop',
      accountOrigin: origins,
      browserCatalogue: true,
    });
  });

  it('prints the tokens and the script tag', async () => {
    const { env } = temporaryDatabase();
    const { stdout, stderr, code } = await firsthand(['account', 'create', '--name', 'Shop'], env);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(
      /^Account +\S+\nBrowser token +browser_\S+\nServer token +server_\S+ {2}\(secret; shown only once\)\n/,
    );
    const [, token] = /(browser_\S+)/.exec(stdout) ?? [];
    expect(stdout.split('\n')).toContain(
      `<script async src="https://shop.example/s/main.full.js" data-token="${token}" data-page-views="Page viewed"></script>`,
    );
    expect(stdout).toMatch(/400 days only if the script comes from a path on the site itself/);
  });

  it('prints the script tag for the first origin, with the configured paths', async () => {
    const { env } = temporaryDatabase();
    const paths = { BASE_PATH: '/tea', TRACKER_PATH: '/assets/kettle.js', API_PREFIX: '/leaves' };
    const origins = ['--origin', 'https://*.tea.example', '--origin', 'https://tea.example/'];
    const { stdout } = await firsthand(['account', 'create', '--name', 'Tea', ...origins], { ...env, ...paths });
    expect(stdout).toMatch(
      /^<script async src="https:\/\/tea\.example\/tea\/assets\/kettle\.full\.js" data-token="browser_[\w-]+" data-api="\.\.\/leaves\/" data-page-views="Page viewed"><\/script>$/m,
    );
    const [, inline = ''] = /^<script>(.*)<\/script>$/m.exec(stdout) ?? [];
    expect(stdout).toContain(`: 'sha256-${createHash('sha256').update(inline).digest('base64')}'`);
  });
});

it('lists accounts with account list', async () => {
  const { env } = temporaryDatabase();
  const { accountUUID } = await firsthandJSON(['account', 'create', '--name', 'Eine längere Bäckerei'], env);
  expect(await firsthandJSON(['account', 'list'], env)).toEqual([
    { accountUUID, accountName: 'Eine längere Bäckerei', createdTime: expect.stringMatching(/Z$/) },
  ]);
  const { stdout } = await firsthand(['account', 'list'], env);
  expect(stdout).toMatch(/^ACCOUNT +NAME +CREATED\n/);
  expect(stdout).toContain('Eine längere Bäckerei');
});

it('creates a missing database only with account create; other commands report that it is missing', async () => {
  const { env } = temporaryDatabase();
  for (const args of [
    ['account', 'list'],
    ['token', 'create', '--kind', 'operator'],
  ]) {
    const { code, stderr } = await firsthand(args, env);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^firsthand: there is no database at \S+: create it with firsthand serve or firsthand account create\n$/,
    );
  }
});
