import { statSync, writeFileSync } from 'node:fs';
import { createClient } from '@firsthand/client';
import { expect, it } from 'vitest';
import { firsthand, firsthandJSON, temporaryDatabase } from '../fixtures/command.ts';
import { serveHere } from '../fixtures/serving.ts';

it('backs up all rows of a database while a server uses it', async () => {
  const { path, env } = temporaryDatabase();
  const { serverTokenUUID } = await firsthandJSON(['account', 'create', '--name', 'Shop'], env);
  const { url } = await serveHere(env);
  const log = (count: number) =>
    createClient({ url, token: serverTokenUUID }).logEvents({
      userUUID: 'a-browser-of-a-test',
      event: Array.from({ length: count }, () => ({ eventID: 1 })),
    });
  await log(123);
  const copy = `${path}.copy`;
  expect(await firsthandJSON(['backup', copy], env)).toEqual({ file: copy, bytes: expect.any(Number) });
  await log(1);

  const copyEnv = { DATABASE_URL: `sqlite:${copy}` };
  await firsthandJSON(['backup', `${copy}-1`], copyEnv);
  const { code } = await firsthand(['doctor'], copyEnv);
  expect(code).toBe(0);
  const over = await firsthand(['doctor', '--account-bytes', '14910'], copyEnv);
  expect(over.code).toBe(1);
  expect(over.stdout).toMatch(/NOT OK +accounts over quota +1: \S+ \(14910 bytes\); ACCOUNT_BYTES is 14910$/m);
  const near = await firsthand(['doctor'], { ...copyEnv, ACCOUNT_BYTES: '14911' });
  expect(near.code).toBe(0);
  expect(near.stdout).toMatch(/ok +accounts near quota +1: \S+ \(14910 bytes\); at least 80% used$/m);
  const restored = await serveHere(copyEnv);
  const { account } = await createClient({ url: restored.url, token: serverTokenUUID }).getAccount({});
  expect(account.usage).toMatchObject({ contacts: 0, users: 1, events: 123 });

  const text = await firsthand(['backup', `${copy}-2`], env);
  expect(text.stdout).toMatch(/^Backed up the database to \S+-2: \d+ bytes\n$/);
  const again = await firsthand(['backup', copy], env);
  expect({ code: again.code, stderr: again.stderr }).toEqual({
    code: 1,
    stderr: expect.stringMatching(/^firsthand: [^\n]+already exists[^\n]*\n$/),
  });
});

it('restores a backup while no server has the file open, and keeps the previous database', async () => {
  const { path, env } = temporaryDatabase();
  const { accountUUID } = await firsthandJSON(['account', 'create', '--name', 'Shop'], env);
  const copy = `${path}.copy`;
  await firsthandJSON(['backup', copy], env);
  await firsthandJSON(['account', 'create', '--name', 'Another'], env);
  const server = await serveHere(env);
  const refused = await firsthand(['restore', copy], env);
  expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('is being served already') });
  await server.close();

  const restored = await firsthandJSON(['restore', copy], env);
  expect(restored).toEqual({
    file: path,
    bytes: statSync(copy).size,
    previous: expect.stringContaining(`${path}-before-restore-`),
    erasedIdentifiers: 0,
    owner: null,
  });
  const names = async (url: string) =>
    (await firsthandJSON(['account', 'list'], { DATABASE_URL: url })).map(
      ({ accountUUID: name }: { accountUUID: string }) => name,
    );
  expect(await names(`sqlite:${path}`)).toEqual([accountUUID]);
  expect(await names(`sqlite:${restored.previous}`)).toHaveLength(2);

  const text = await firsthand(['restore', copy], env);
  expect(text.stdout).toMatch(
    /^Restored \S+ from .*\nThe previous database is .*\nIdentifiers in the erasure record: 0\./,
  );
  const elsewhere = await firsthand(['restore', copy], { DATABASE_URL: `sqlite:${path}-new` });
  expect(elsewhere.stdout).not.toContain('previous');
  const postgres = await firsthand(['restore', copy], { DATABASE_URL: 'postgres://nowhere/x' });
  expect(postgres).toMatchObject({ code: 1, stderr: expect.stringContaining('pg_restore') });
});

it('accepts an intact database with doctor, and reports a damaged one', async () => {
  const { path, env } = temporaryDatabase();
  const missing = await firsthandJSON(['doctor'], env).catch((error: Error) => error);
  expect(missing).toBeInstanceOf(Error);

  await firsthandJSON(['account', 'create', '--name', 'Shop'], env);
  const unsaved = await firsthand(['doctor'], env);
  expect([unsaved.code, unsaved.stdout]).toEqual([
    1,
    expect.stringMatching(/NOT OK +backup +there is no backup: set BACKUP_DIR/),
  ]);
  await firsthandJSON(['backup', `${path}.copy`], env);
  const good = await firsthandJSON(['doctor'], env);
  expect(good).toMatchObject({ ok: true });
  expect(good.finding.every(({ ok }: { ok: boolean }) => ok)).toBe(true);

  expect(good.finding.some(({ name }: { name: string }) => name.includes('quota'))).toBe(false);
  writeFileSync(path, 'this is no database, whatever its name says'.repeat(100));
  const bad = await firsthand(['doctor', '--json'], env);
  expect(bad.code).toBe(1);
  expect(JSON.parse(bad.stdout)).toMatchObject({ ok: false });
  const text = await firsthand(['doctor'], env);
  expect({ code: text.code, stderr: text.stderr }).toEqual({ code: 1, stderr: '' });
  expect(text.stdout).toContain('NOT OK');
});
