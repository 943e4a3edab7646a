import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createClient } from '@firsthand/client';
import { pino } from 'pino';
import { expect, it, vi } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { backUpInProcess } from '../../src/serving/scheduled-backups.ts';
import { serve } from '../../src/serving/serve.ts';
import { firsthand, firsthandJSON, startServer, temporaryDatabase, temporaryFolder } from '../fixtures/command.ts';
import { serveHere } from '../fixtures/serving.ts';

it('makes a backup in BACKUP_DIR that firsthand restore accepts and doctor checks', async () => {
  const { env } = temporaryDatabase();
  const folder = join(temporaryFolder(), 'backups');
  const { accountUUID, serverTokenUUID: token } = await firsthandJSON(['account', 'create', '--name', 'Shop'], env);
  const server = await startServer({ ...env, BACKUP_DIR: folder });
  const [, file = ''] = await server.waitForOutput(/"file":"([^"]+)"[^\n]*a backup was made and verified/);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const service = await createClient({ url: server.url, token }).getService({});
  expect(service).toMatchObject({ backupSeconds: 86_400, backupTime: expect.any(String), retentionDays: 0 });
  const doctor = await firsthandJSON(['doctor'], { ...env, BACKUP_DIR: folder, BACKUP_EVERY: '1h' });
  expect(doctor.finding).toContainEqual(expect.objectContaining({ name: 'scheduled backups', ok: true }));
  server.child.kill('SIGTERM');
  expect((await server.ended).code).toBe(0);

  const { env: other } = temporaryDatabase();
  await firsthandJSON(['restore', file], other);
  const accounts = await firsthandJSON(['account', 'list'], other);
  expect(accounts).toEqual([expect.objectContaining({ accountUUID })]);
});

it.each(['BACKUP_DIR', 'REPORTS_DIR'])('refuses to start with a %s that it cannot write to', async (variable) => {
  const folder = join(temporaryFolder(), 'a-file');
  writeFileSync(folder, '');
  await expect(serveHere({ ...temporaryDatabase().env, [variable]: folder })).rejects.toThrow(
    `${variable} is ${folder}, where the server can't write: `,
  );
});

it('warns when it creates a database, but not on later starts', async () => {
  const { env } = temporaryDatabase();
  const start = async () => {
    const lines: string[] = [];
    const log = pino({ level: 'info' }, { write: (line) => void lines.push(line) });
    const { close } = await serve(readConfig({ PORT: '0', ...env }), { log });
    await close();
    return lines.filter((line) => line.includes('created a new, empty database'));
  };
  const file = env.DATABASE_URL.slice('sqlite:'.length);
  expect((await start()).map((line) => JSON.parse(line))).toMatchObject([{ level: 40, file }]);
  expect(await start()).toEqual([]);
});

it('leaves no files from an aborted backup', async () => {
  const { env } = temporaryDatabase();
  const folder = temporaryFolder();
  const stopping = new AbortController();
  const removeDrafts = vi.fn();
  const plan = { databaseURL: env.DATABASE_URL, folder, everyMs: 1, keep: 1 };
  const backup = backUpInProcess(plan, { list: () => [], removeDrafts }, stopping.signal);
  stopping.abort();
  await expect(backup).rejects.toThrow(/killed/);
  expect(removeDrafts).toHaveBeenCalledOnce();
  expect(readdirSync(folder)).toEqual([]);
});

it('requires BACKUP_DIR for a backup without a file name, and accepts --backup-keep', async () => {
  const { env } = temporaryDatabase();
  await firsthandJSON(['account', 'create', '--name', 'Shop'], env);
  expect(await firsthand(['backup'], env)).toMatchObject({
    code: 2,
    stderr: 'firsthand: name a file for the backup, or set BACKUP_DIR\n',
  });
  const folder = temporaryFolder();
  const first = await firsthandJSON(['backup', '--backup-dir', folder, '--backup-keep', '1'], env);
  expect(first).toEqual({ file: expect.any(String), bytes: expect.any(Number), removed: 0 });
  const second = await firsthand(['backup', '--backup-dir', folder, '--backup-keep', '1'], env);
  expect(second.stdout).toMatch(/^Backed up the database to \S+: \d+ bytes, verified; older backups removed: 1\n$/);
  expect(existsSync(first.file)).toBe(false);
});
