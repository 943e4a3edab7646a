import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { createClient } from '@firsthand/client';
import { expect, it } from 'vitest';
import { writeParquet } from '../../src/commands/shared/parquet-files.ts';
import { firsthand, firsthandJSON, temporaryDatabase, temporaryFolder } from '../fixtures/command.ts';
import { serveHere } from '../fixtures/serving.ts';

/** Reads files with a third-party tool. */
const read = async (sql: string) => {
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  return (await connection.runAndReadAll(sql)).getRowObjectsJson();
};

it('writes all events with their owners to files while a server is running', async () => {
  const { env } = temporaryDatabase();
  const account = ['account', 'create', '--name', 'Shop'];
  const { accountUUID, serverTokenUUID: token } = await firsthandJSON(account, env);
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
  const [first] = await read(`SELECT *, epoch_ms("eventTime") AS time FROM ${file} ORDER BY sequence LIMIT 1`);
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
  expect(await read(countQuery)).toEqual([{ events: 1_001, users: 2, owned: 1 }]);
  expect(await firsthand(args, env)).toMatchObject({ code: 1, stderr: expect.stringContaining('is not empty') });
});

it('fills each file up to its limit, and leaves none if the export fails', async () => {
  const event = (sequence: number) => ({
    ...{ sequence, eventUUID: '', eventID: 1, eventName: '', eventTime: 1, receivedTime: 2, timeReplaced: false },
    ...{ userUUID: '', contactUUID: '', attributes: [] },
    why: { rule: 'nobody' as const, linkID: null, verified: null, claimID: null, mergedFrom: null },
  });
  async function* pages(fault?: Error) {
    for (let page = 0; page < 5; page += 1) yield [event(2 * page + 1), event(2 * page + 2)];
    if (fault) throw fault;
  }
  const folder = temporaryFolder();
  expect(await writeParquet(folder, pages(), { eventsPerFile: 4 })).toEqual({
    files: ['events-00001.parquet', 'events-00002.parquet', 'events-00003.parquet'],
    events: 10,
  });
  expect(await read(`SELECT list(sequence::INTEGER ORDER BY sequence) AS all FROM '${folder}/*.parquet'`)).toEqual([
    { all: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] },
  ]);
  const failing = temporaryFolder();
  await expect(writeParquet(failing, pages(new Error('gone')), { eventsPerFile: 4 })).rejects.toThrow('gone');
  expect(readdirSync(failing)).toEqual([]);
  writeFileSync(join(failing, 'mine'), '');
  await expect(writeParquet(failing, pages())).rejects.toThrow('is not empty');
  expect(readdirSync(failing)).toEqual(['mine']);
});

it('writes a file without rows for an account without events', async () => {
  const { env } = temporaryDatabase();
  const { accountUUID } = await firsthandJSON(['account', 'create', '--name', 'Shop'], env);
  const folder = temporaryFolder();
  const answer = await firsthandJSON(['export', folder, '--account', accountUUID], env);
  expect(answer).toEqual({ files: ['events-00001.parquet'], events: 0 });
  expect(await read(`SELECT count(*)::INTEGER AS events FROM '${folder}/*.parquet'`)).toEqual([{ events: 0 }]);
});
