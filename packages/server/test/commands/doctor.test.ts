import { utimesSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { examineTracker } from '../../src/commands/doctor.ts';
import { archivingFinding } from '../../src/store/postgres/doctor/doctor.ts';
import Database from '../../src/store/sqlite/database/better-sqlite3.ts';
import { firsthand, firsthandJSON, temporaryDatabase, temporaryFolder } from '../fixtures/command.ts';
import { serveHere } from '../fixtures/serving.ts';

const userUUID = 'visitor-behind-proxy';

it('reports a proxy that a server without TRUST_PROXY has seen, until a server has TRUST_PROXY', async () => {
  // Sets the same umask as main.ts, because doctor also checks who can read the server's files.
  const umask = process.umask(0o077);
  onTestFinished(() => void process.umask(umask));
  const { path, env } = temporaryDatabase();
  const { browserTokenUUID: tokenUUID } = await firsthandJSON(['account', 'create', '--name', 'Shop'], env);
  await firsthandJSON(['backup', `${path}.copy`], env);
  const examine = async () => {
    const { code, stdout } = await firsthand(['doctor', '--json'], env);
    const { finding } = JSON.parse(stdout);
    expect(finding.at(-1)).toMatchObject({ name: 'tracker', ok: true });
    return { code, ...finding.find(({ name }: { name: string }) => name === 'proxy') };
  };
  const log = async (url: string, headers: Record<string, string>) => {
    const body = JSON.stringify({ tokenUUID, userUUID, eventID: 1 });
    expect((await fetch(`${url}/logEvent`, { method: 'POST', body, headers })).status).toBe(200);
  };
  const unconfigured = await serveHere(env);
  await log(unconfigured.url, {});
  expect(await examine()).toMatchObject({ code: 0, ok: true, detail: 'no unlisted proxy forwards requests' });
  await log(unconfigured.url, { 'X-Forwarded-For': '198.51.100.7' });
  await expect.poll(examine).toMatchObject({
    code: 1,
    ok: false,
    detail: expect.stringMatching(/^a proxy on a private address forwarded requests on 20/),
  });
  expect((await examine()).detail).not.toContain('198.51');
  await unconfigured.close();

  const configured = await serveHere({ ...env, TRUST_PROXY: '127.0.0.1' });
  await log(configured.url, { 'X-Forwarded-For': '198.51.100.7' });
  await expect.poll(examine).toMatchObject({ code: 0, ok: true });
});

it.each([
  [true, 'cannot see other backups', { mode: 'off', archivedTime: null, failedTime: null }],
  [true, 'has archived no WAL yet', { mode: 'on', archivedTime: null, failedTime: null }],
  [
    true,
    'last archived its WAL on 2026-11-29T00:00:00.000Z',
    { mode: 'on', archivedTime: 1_795_910_400_000, failedTime: 5 },
  ],
  [false, 'failed to archive its WAL on 2026-11-29', { mode: 'on', archivedTime: 5, failedTime: 1_795_910_400_000 }],
  [false, 'failed to archive', { mode: 'always', archivedTime: null, failedTime: 5 }],
])('reports the state of PostgreSQL’s archive: %s, %s', (ok, detail, archiving) => {
  expect(archivingFinding(archiving)).toEqual({ name: 'backup', ok, detail: expect.stringContaining(detail) });
});

it('prints the absolute path of a missing database, and the folder to which a relative path refers', async () => {
  const { stdout } = await firsthand(['doctor', '--json'], { DATABASE_URL: 'sqlite:no-such-folder/firsthand.db' });
  const { detail } = JSON.parse(stdout).finding[0];
  expect(detail).toMatch(
    `there is no database at ${resolve('no-such-folder/firsthand.db')}: firsthand serve creates it`,
  );
  expect(detail).toMatch(
    /a relative DATABASE_URL is resolved from the current folder, and by the service from its WorkingDirectory/,
  );
  const { stdout: absolute } = await firsthand(['doctor'], { DATABASE_URL: 'sqlite:/no-such-folder/firsthand.db' });
  expect(absolute).not.toContain('WorkingDirectory');
});

it('reports variables that resemble a setting', async () => {
  const { env } = temporaryDatabase();
  await firsthandJSON(['account', 'create', '--name', 'Shop'], env);
  const examine = async (more: Record<string, string>) => {
    const { stdout } = await firsthand(['doctor', '--json'], { ...env, ...more });
    return JSON.parse(stdout).finding.find(({ name }: { name: string }) => name === 'settings');
  };
  expect(await examine({ BACKUP_DIR: temporaryFolder(), BACKUP_EVRY: '1d' })).toEqual({
    name: 'settings',
    ok: false,
    detail: 'BACKUP_EVRY is not a setting and is ignored. Did you mean BACKUP_EVERY?',
  });
  expect(await examine({})).toEqual({ name: 'settings', ok: true, detail: 'no misspelled variables' });
});

it('reports when the tracker was built', () => {
  const folder = `${temporaryFolder()}/`;
  const common = { name: 'tracker', ok: true };
  expect(examineTracker(folder)).toEqual({ ...common, detail: 'not built: run npm run build' });
  writeFileSync(`${folder}tracker.js`, '');
  utimesSync(`${folder}tracker.js`, new Date(0), new Date('2026-02-03T04:05:59Z'));
  expect(examineTracker(folder)).toEqual({ ...common, detail: 'built 2026-02-03 04:05Z' });
  // Sets the time to 1985, as in every file that npm packs.
  utimesSync(`${folder}tracker.js`, new Date(0), new Date('1985-10-26T08:15:00Z'));
  expect(examineTracker(folder)).toEqual({ ...common, detail: 'built' });
});

it('requires a running server if its unit is enabled, and a writable reports folder', async () => {
  const { path, env } = temporaryDatabase();
  await firsthandJSON(['account', 'create', '--name', 'Shop'], env);
  const programs = temporaryFolder();
  const examine = async (more: Record<string, string>, ...args: string[]) => {
    const { stdout } = await firsthand(['doctor', '--json', ...args], { ...env, PATH: programs, ...more });
    const { finding } = JSON.parse(stdout) as { finding: { name: string; ok: boolean; detail: string }[] };
    return Object.fromEntries(finding.map(({ name, ...rest }) => [name, rest]));
  };
  expect((await examine({})).server).toEqual({ ok: true, detail: 'not running' });
  writeFileSync(join(programs, 'systemctl'), '#!/bin/sh\n[ "$*" = "is-enabled --quiet firsthand" ]\n', { mode: 0o700 });
  expect((await examine({})).server).toMatchObject({
    ok: false,
    detail: expect.stringMatching(/^not running, although/),
  });
  // Examines a database other than the service's, as when a restore is rehearsed.
  expect((await examine({}, '--database-url', `sqlite:${path}`)).server).toMatchObject({ ok: true });

  const folder = join(path, 'reports');
  expect((await examine({ REPORTS_DIR: join(programs, 'new') })).reports).toMatchObject({ ok: true });
  expect((await examine({ REPORTS_DIR: folder })).reports).toMatchObject({
    ok: false,
    detail: expect.stringContaining(`can't write to ${folder} (REPORTS_DIR)`),
  });
});

it('counts only programs’ tokens, not those of sessions and members', async () => {
  const { path, env } = temporaryDatabase();
  await firsthandJSON(['account', 'create', '--name', 'Shop'], env);
  const tokens = async () => {
    const { stdout } = await firsthand(['doctor', '--json'], env);
    const { finding } = JSON.parse(stdout) as { finding: { name: string; detail: string }[] };
    return finding.find(({ name }) => name === 'accounts')?.detail;
  };
  expect(await tokens()).toBe('1, with 1 live server token');
  const change = (sql: string) => new Database(path).exec(`UPDATE token SET ${sql}`).close();
  for (const sql of ['session = 1', "session = 0, memberID = 'ann'", 'memberID = NULL, expiresTime = 1']) {
    change(sql);
    expect(await tokens()).toBe('1, with 0 live server tokens');
  }
});
