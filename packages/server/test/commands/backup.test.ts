import { statSync, writeFileSync } from 'node:fs';
import { createClient } from '@firsthand/client';
import { expect, it } from 'vitest';
import { firsthand, firsthandJSON, temporaryDatabase } from '../fixtures/command.ts';
import { serveHere } from '../fixtures/serving.ts';

it('a backup of a database that is being served opens and has its rows', async () => {
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

  const ofCopy = { DATABASE_URL: `sqlite:${copy}` };
  await firsthandJSON(['backup', `${copy}-1`], ofCopy);
  const { code } = await firsthand(['doctor'], ofCopy);
  expect(code).toBe(0);
  const over = await firsthand(['doctor', '--account-bytes', '14910'], ofCopy);
  expect(over.code).toBe(1);
  expect(over.stdout).toMatch(/NOT OK +over their quota +1: \S+ \(14910 bytes\); ACCOUNT_BYTES is 14910$/m);
  const near = await firsthand(['doctor'], { ...ofCopy, ACCOUNT_BYTES: '14911' });
  expect(near.code).toBe(0);
  expect(near.stdout).toMatch(/ok +near their quota +1: \S+ \(14910 bytes\); from 80 % on$/m);
  const restored = await serveHere(ofCopy);
  const { account } = await createClient({ url: restored.url, token: serverTokenUUID }).getAccount({});
  expect(account.usage).toMatchObject({ contacts: 0, users: 1, events: 123 });

  const people = await firsthand(['backup', `${copy}-2`], env);
  expect(people.stdout).toMatch(/^\S+-2 is a whole copy of the database: \d+ bytes\n$/);
  const again = await firsthand(['backup', copy], env);
  expect({ code: again.code, stderr: again.stderr }).toEqual({
    code: 1,
    stderr: expect.stringMatching(/^firsthand: [^\n]+exists already[^\n]*\n$/),
  });
});

it('a backup is restored while no server has the file, and the previous database is kept', async () => {
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

  const people = await firsthand(['restore', copy], env);
  expect(people.stdout).toMatch(
    /is now the backup .*\nThe previous database is .*\nIdentifiers in the record of erasures: 0\./,
  );
  const elsewhere = await firsthand(['restore', copy], { DATABASE_URL: `sqlite:${path}-new` });
  expect(elsewhere.stdout).not.toContain('previous');
  const postgres = await firsthand(['restore', copy], { DATABASE_URL: 'postgres://nowhere/x' });
  expect(postgres).toMatchObject({ code: 1, stderr: expect.stringContaining('pg_restore') });
});

it('doctor is content with a good database, and complains about a bad one', async () => {
  const { path, env } = temporaryDatabase();
  const missing = await firsthandJSON(['doctor'], env).catch((error: Error) => error);
  expect(missing).toBeInstanceOf(Error);

  await firsthandJSON(['account', 'create', '--name', 'Shop'], env);
  const unsaved = await firsthand(['doctor'], env);
  expect([unsaved.code, unsaved.stdout]).toEqual([
    1,
    expect.stringMatching(/NOT OK +backup +there is none: set BACKUP_DIR/),
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
  const people = await firsthand(['doctor'], env);
  expect({ code: people.code, stderr: people.stderr }).toEqual({ code: 1, stderr: '' });
  expect(people.stdout).toContain('NOT OK');
});
