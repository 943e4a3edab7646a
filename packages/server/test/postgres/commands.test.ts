// Tests commands on a PostgreSQL database that a server might be using.
import { expect, test } from 'vitest';
import { hashToken } from '../../src/ingest/token.ts';
import { openStore } from '../../src/store/open.ts';
import { firsthand, spawnFirsthand } from '../fixtures/command.ts';
import { newDatabase } from '../fixtures/postgres/databases.ts';

test('creates an account and revokes a token, and a running server notices both', async () => {
  const databaseURL = await newDatabase();
  const env = { DATABASE_URL: databaseURL };
  const empty = await firsthand(['account', 'list'], env);
  expect(empty.code).not.toBe(0);
  expect(empty.stderr).toMatch(/no Firsthand tables/);

  const created = await firsthand(['account', 'create', '--name', 'Shop', '--json'], env);
  const { accountUUID, serverTokenUUID } = JSON.parse(created.stdout);
  const store = await openStore({ databaseURL, role: 'server', onFatal: () => {} });
  const access = await store.findAccess(hashToken(serverTokenUUID));
  expect(access).toMatchObject({ kind: 'server' });
  const listed = await firsthand(['account', 'list', '--json'], env);
  expect(JSON.parse(listed.stdout)).toMatchObject([{ accountUUID, accountName: 'Shop' }]);

  const named = ['--account', accountUUID];
  const revoked = await firsthand(['token', 'revoke', access?.tokenID as string, ...named], env);
  expect(revoked).toMatchObject({ code: 0, stderr: '' });
  await expect.poll(() => store.findAccess(hashToken(serverTokenUUID))).toBeUndefined();
  await store.recordUnknownProxy({ seenTime: Date.now() });
  const { finding } = JSON.parse((await firsthand(['doctor', '--json'], env)).stdout);
  expect(finding.find(({ name }: { name: string }) => name === 'proxy')).toMatchObject({ ok: false });
  await store.recordUnknownProxy({ seenTime: null });
  const request = { operation: 'logEvent', input: {}, address: null, code: 'missing_field', message: '' } as const;
  const { account, token } = access as { account: number; token: number };
  await store.addRefused({ account, token, time: Date.now(), sender: 0, requests: [request, request] });
  await store.close();

  const examined = await firsthand(['doctor', '--json', '--account-bytes', '1000'], env);
  expect(JSON.parse(examined.stdout).finding).toMatchObject([
    { name: 'PostgreSQL', ok: true },
    { name: 'schema', ok: true },
    { name: 'backup', ok: true, detail: expect.stringContaining('archives no WAL') },
    {
      name: 'partitions',
      ok: true,
      detail: expect.stringMatching(/^tomorrow’s \(\d{4}-\d\d-\d\d\) do not exist yet/),
    },
    { name: 'accounts', ok: true, detail: '1, with 0 live server tokens' },
    { name: 'clock', ok: true, detail: 'no events received yet' },
    { name: 'refused requests', ok: true, detail: '2 listed, 0 evicted; run firsthand refused list to see them' },
    { name: 'proxy', ok: true, detail: 'no unlisted proxy forwards requests' },
    { name: 'accounts over quota', ok: true, detail: '0; ACCOUNT_BYTES is 1000' },
    { name: 'accounts near quota', ok: true, detail: '0; at least 80% used' },
    { name: 'erasures', ok: true },
    { name: 'settings', ok: true },
    { name: 'tracker', ok: true, detail: expect.stringMatching(/^(built 20|not built: )/) },
  ]);
  const copied = await firsthand(['backup', 'copy.db'], env);
  expect(copied.stderr).toMatch(/pg_dump/);
  const migrated = await firsthand(['migrate'], env);
  expect(migrated).toMatchObject({ code: 0, stdout: 'The schema is up to date.\n' });
});

test('reports an unavailable database without its password', async () => {
  const env = { DATABASE_URL: 'postgres://me:secret@127.0.0.1:1/none' };
  for (const args of [
    ['account', 'list'],
    ['serve', '--port', '0'],
  ]) {
    const { code, stdout, stderr } = await spawnFirsthand(args, env).ended;
    expect(code).not.toBe(0);
    expect(stderr).toMatch(/cannot be served: ECONNREFUSED/);
    expect(stdout + stderr).not.toContain('secret');
  }
  const { stdout } = await firsthand(['doctor', '--json'], env);
  expect(JSON.parse(stdout)).toMatchObject({ ok: false, finding: [{ name: 'database' }, {}, { name: 'tracker' }] });
});
