import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createClient } from '@firsthand/client';
import { expect, it } from 'vitest';
import { exportAllEvents } from '../../src/commands/export/all-events.ts';
import { firsthand, firsthandJSON, temporaryDatabase, temporaryFolder } from '../fixtures/command.ts';
import { queryExport, queryFiles } from '../fixtures/exports.ts';
import { serveHere } from '../fixtures/serving.ts';

const createAccount = (env: Readonly<Record<string, string>>) =>
  firsthandJSON(['account', 'create', '--name', 'Shop'], env);

it('writes all events and their owners to files while a server is running', async () => {
  const { env } = temporaryDatabase();
  const { accountUUID, serverTokenUUID: token } = await createAccount(env);
  const { url } = await serveHere(env);
  const client = createClient({ url, token });
  const attributes = [
    { attrID: 'plan', attrValue: "o'clock" },
    { attrID: 'Plan"', attrValue: '' },
  ];
  await client.logEvent({ userUUID: 'a-browser-of-ann', eventName: 'Paid', eventAttrArray: attributes });
  const contact = { contactEmailaddress: 'ann@shop.example', contactProfileID: 'customer' };
  const { contactUUID } = await client.createContact({ ...contact, userUUID: 'a-browser-of-ann' });
  await client.logEvents({
    userUUID: 'a-browser-of-nobody',
    event: Array.from({ length: 1_000 }, () => ({ eventID: 3 })),
  });
  const { event } = await client.getEvent({ userUUID: 'a-browser-of-ann' });

  const folder = join(temporaryFolder(), "it's new");
  const args = ['export', folder, '--account', accountUUID];
  const { code, stdout, stderr } = await firsthand(args, env);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toBe(`Wrote 1001 events to one file in ${folder}\n`);
  expect(readdirSync(folder)).toEqual(['events-00001.parquet']);
  const file = `'${join(folder, '*.parquet').replaceAll("'", "''")}'`;
  const [first] = await queryFiles(`SELECT *, epoch_ms("eventTime") AS time FROM ${file} ORDER BY sequence LIMIT 1`);
  expect(first).toMatchObject({
    eventUUID: event[0]?.eventUUID,
    eventName: 'Paid',
    time: String(Date.parse(event[0]?.eventTime as string)),
    userUUID: 'a-browser-of-ann',
    contactUUID,
    attributes: [
      { key: 'plan', value: "o'clock" },
      { key: 'Plan"', value: '' },
    ],
  });
  const countQuery = `SELECT count(*)::INTEGER AS events, count(DISTINCT "userUUID")::INTEGER AS users, count("contactUUID")::INTEGER AS owned FROM ${file}`;
  expect(await queryFiles(countQuery)).toEqual([{ events: 1_001, users: 2, owned: 1 }]);
  expect(await firsthand(args, env)).toMatchObject({ code: 1, stderr: expect.stringContaining('is not empty') });
});

it('fills each file up to its limit, and leaves no files if the export fails', async () => {
  const event = (sequence: number) => ({
    ...{ sequence, eventUUID: '', eventID: 1, eventName: '', eventTime: 1, receivedTime: 2, timeReplaced: false },
    ...{ userUUID: '', contactUUID: '', attributes: [] },
    why: { rule: 'nobody' as const, linkID: null, verified: null, claimID: null, mergedFrom: null },
  });
  async function* pages(fault?: Error) {
    for (let page = 0; page < 5; page += 1) yield { events: [event(2 * page + 1), event(2 * page + 2)] };
    if (fault) throw fault;
  }
  const folder = temporaryFolder();
  expect(await exportAllEvents(folder, pages(), 4)).toEqual({
    files: ['events-00001.parquet', 'events-00002.parquet', 'events-00003.parquet'],
    events: 10,
  });
  expect(
    await queryFiles(`SELECT list(sequence::INTEGER ORDER BY sequence) AS all FROM '${folder}/*.parquet'`),
  ).toEqual([{ all: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] }]);
  const failing = temporaryFolder();
  await expect(exportAllEvents(failing, pages(new Error('gone')), 4)).rejects.toThrow('gone');
  expect(readdirSync(failing)).toEqual([]);
  writeFileSync(join(failing, 'mine'), '');
  await expect(exportAllEvents(failing, pages())).rejects.toThrow('is not empty');
  expect(readdirSync(failing)).toEqual(['mine']);
});

it('writes a file without rows for an account without events', async () => {
  const { env } = temporaryDatabase();
  const { accountUUID } = await createAccount(env);
  const folder = temporaryFolder();
  const response = await firsthandJSON(['export', folder, '--account', accountUUID], env);
  expect(response).toEqual({ files: ['events-00001.parquet'], events: 0 });
  expect(await queryFiles(`SELECT count(*)::INTEGER AS events FROM '${folder}/*.parquet'`)).toEqual([{ events: 0 }]);
});

it('adds changes to a folder with --since last while a server is running', async () => {
  const { env } = temporaryDatabase();
  const { accountUUID, serverTokenUUID: token } = await createAccount(env);
  const { url } = await serveHere(env);
  const client = createClient({ url, token });
  const folder = join(temporaryFolder(), "it's new");
  const args = ['export', folder, '--account', accountUUID, '--since', 'last'];
  const owned = () => queryExport(folder, 'SELECT eventName, contactUUID FROM events ORDER BY sequence');
  expect(await firsthandJSON(args, env)).toMatchObject({ events: 0, removed: 0, restarted: null });
  expect(await owned()).toEqual([]);

  await client.logEvent({ userUUID: 'a-browser-of-ann', eventName: 'Opened' });
  expect(await firsthand(args, env)).toMatchObject({ stdout: `Added 1 event to ${folder}\n`, stderr: '', code: 0 });
  expect(await owned()).toEqual([{ eventName: 'Opened', contactUUID: null }]);
  const contact = { contactEmailaddress: 'ann@shop.example', contactProfileID: 'customer' };
  const { contactUUID } = await client.createContact({ ...contact, userUUID: 'a-browser-of-ann' });
  await client.logEvents({ userUUID: 'another-browser-1', event: [{ eventName: 'Opened' }, { eventName: 'Paid' }] });
  expect(await firsthand(args, env)).toMatchObject({ stdout: `Added 2 events to ${folder}\n` });
  expect(await owned()).toEqual([
    { eventName: 'Opened', contactUUID },
    { eventName: 'Opened', contactUUID: null },
    { eventName: 'Paid', contactUUID: null },
  ]);
  await client.eraseContact({ contactUUID });
  expect(await firsthand(args, env)).toMatchObject({ stdout: `Added 0 events to ${folder}, and removed 1\n` });
  expect((await owned()).length).toBe(2);
  expect(readdirSync(folder).sort()).toEqual([
    ...['.lock', 'contacts.parquet', 'event_names.parquet', 'events', 'links.parquet', 'merged_contacts.parquet'],
    ...['owners.parquet', 'position.json', 'views.sql'],
  ]);
});

it('exports only events that happened at or after the time of --since', async () => {
  const { env } = temporaryDatabase();
  const { accountUUID, serverTokenUUID: token } = await createAccount(env);
  const { url } = await serveHere(env);
  const client = createClient({ url, token });
  const folder = temporaryFolder();
  const since = new Date(Date.now() - 86_400_000).toISOString();
  const times = [2 * 86_400_000, 1_000].map((ago) => new Date(Date.now() - ago).toISOString());
  await client.logEvents({
    userUUID: 'a-browser-of-ann',
    event: times.map((eventTime) => ({ eventID: 1, eventTime })),
  });
  const args = ['export', folder, '--account', accountUUID, '--since'];
  expect(await firsthandJSON([...args, since], env)).toMatchObject({ events: 1 });
  for (const again of [since, 'last']) expect(await firsthandJSON([...args, again], env)).toMatchObject({ events: 0 });
  expect(await firsthand([...args, '2026-01-01T00:00:00Z'], env)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`has the events since ${since}: continue it with --since last`),
  });
});

it('refuses to change a folder that does not belong to this export', async () => {
  const { env } = temporaryDatabase();
  const { accountUUID } = await createAccount(env);
  const { accountUUID: another } = await createAccount(env);
  const folder = temporaryFolder();
  const run = (...args: string[]) => firsthand(['export', folder, ...args], env);
  mkdirSync(join(folder, 'events'));
  expect(await run('--account', accountUUID, '--since', 'last')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('has files, but no position.json of an earlier export: choose a new folder'),
  });
  expect(readdirSync(folder)).toEqual(['events']);
  const { code, stderr } = await run('--account', accountUUID, '--since', 'yesterday');
  expect({ code, stderr }).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--since must be "last", or a time'),
  });

  const ours = join(folder, 'events');
  await firsthandJSON(['export', ours, '--account', accountUUID, '--since', 'last'], env);
  expect(await firsthand(['export', ours, '--account', another, '--since', 'last'], env)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`has an export of account ${accountUUID}: choose a new folder`),
  });
  expect(await firsthand(['export', ours, '--account', accountUUID], env)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('has an earlier export: continue it with --since last'),
  });
  writeFileSync(join(ours, 'position.json'), readFileSync(join(ours, 'position.json'), 'utf8').slice(0, -5));
  expect(await firsthand(['export', ours, '--account', accountUUID, '--since', 'last'], env)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('position.json is damaged'),
  });
});
