import { existsSync, mkdirSync, readdirSync, rmdirSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Client, createClient } from '@firsthand/client';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { openReports } from '../../src/serving/reports.ts';
import { openStore } from '../../src/store/open.ts';
import { type RegisterCleanup, temporaryDatabase } from '../fixtures/command.ts';
import { createAccount, serveHere, userUUID } from '../fixtures/serving.ts';
import { createSite } from '../fixtures/site.ts';

/**
 * The cleanups for a server that most tests share, because starting the report process takes time. Each test has its
 * own account.
 */
const cleanups: (() => Promise<unknown>)[] = [];
const atEnd: RegisterCleanup = (cleanup) => cleanups.unshift(async () => cleanup());
let url: string;
let path: string;
beforeAll(async () => {
  const database = temporaryDatabase(atEnd);
  path = database.path;
  ({ url } = await serveHere(database.env, {}, atEnd));
});
afterAll(async () => {
  for (const cleanup of cleanups) await cleanup();
});
const newAccount = async () => {
  const { serverTokenUUID: token } = await createAccount(url);
  return { client: createClient({ url, token }) };
};

const startWith = async (env: Readonly<Record<string, string>>) => {
  const serving = await serveHere(env);
  const { serverTokenUUID: token } = await createAccount(serving.url);
  return { ...serving, client: createClient({ url: serving.url, token }) };
};
type Filter = NonNullable<Parameters<Client['reportTotals']>[0]['filter']>;
const people = async (client: Client) => (await client.reportTotals({ from: '2020-01-01' })).total.people;
const temporaryFolders = () => readdirSync(tmpdir()).filter((name) => name.startsWith('firsthand-reports-'));

it('counts each event and person stored before the report, but no erased person', async () => {
  const { client } = await newAccount();
  expect(await people(client)).toBe(0);
  for (const nth of [1, 2, 3]) await client.logEvent({ userUUID: `${userUUID}-${nth}`, eventID: 1 });
  expect(await people(client)).toBe(3);
  const contact = { contactEmailaddress: 'ada@shop.example', contactProfileID: 'customer' };
  const { contactUUID } = await client.createContact({ ...contact, userUUID: `${userUUID}-1` });
  await client.createContact({ ...contact, userUUID: `${userUUID}-2` });
  expect(await people(client)).toBe(2);
  await client.eraseContact({ contactUUID });
  expect(await people(client)).toBe(1);
  await expect.poll(async () => (await client.eraseContact({ contactUUID })).complete).toBe(true);
  expect(statSync(path.replace(/\.db$/, '.reports')).mode & 0o777).toBe(0o700);
});

it('filters by the current values of contacts', async () => {
  const { client } = await newAccount();
  const contact = { contactProfileID: 'customer' };
  for (const nth of [1, 2, 3, 4]) await client.logEvent({ userUUID: `${userUUID}-${nth}`, eventID: nth });
  const vip = { contactEmailaddress: 'ann@shop.example', contactTagID: 'vip', userUUID: `${userUUID}-1` };
  const { contactUUID } = await client.createContact({ ...contact, ...vip });
  const other = await client.createContact({
    ...contact,
    contactEmailaddress: 'ben@shop.example',
    userUUID: `${userUUID}-2`,
  });
  await client.logEvent({ contactUUID, eventID: 9 });
  const countMatches = async (filter: Filter) => {
    const { events, people } = (await client.reportTotals({ from: '2020-01-01', filter })).total;
    return [events, people];
  };
  const isVip: Filter = { contact: { contactTagID: 'vip' } };
  expect(await countMatches({ contact: {} })).toEqual([3, 2]);
  expect(await countMatches({ not: { contact: {} } })).toEqual([2, 2]);
  expect(await countMatches(isVip)).toEqual([2, 1]);
  expect(await countMatches({ and: [isVip, { event: 9 }] })).toEqual([1, 1]);
  expect(await countMatches({ contact: { contactTagID: 'vip', contactStatus: 'archived' } })).toEqual([0, 0]);
  // The maximum number of conditions on people, in the report that accepts the most filters.
  const tags = (from: number) =>
    Array.from({ length: 2 }, (_, nth) => ({ contact: { contactTagID: `tag-${from + nth}` } }));
  const step = Array.from({ length: 8 }, (_, nth) => ({
    or: [...tags(2 * nth), { contact: {} }].slice(nth < 4 ? 0 : 1),
  }));
  expect((await client.reportFunnel({ from: '2020-01-01', step })).step.map(({ reached }) => reached)[0]).toBe(2);
  // A change to a contact applies from the next report on.
  await client.updateContact({ contactUUID, contactTagID: '-vip' });
  expect(await countMatches(isVip)).toEqual([0, 0]);
  await client.updateContact({ contactUUID: other.contactUUID, contactTagID: 'vip' });
  expect(await countMatches(isVip)).toEqual([1, 1]);
  await client.mergeContact({ contactUUID: other.contactUUID, otherContactUUID: contactUUID });
  expect(await countMatches(isVip)).toEqual([3, 1]);
  const { person } = await client.reportPeople({ from: '2020-01-01', filter: isVip });
  expect(person.map((one) => [one.contactUUID, one.events])).toEqual([[other.contactUUID, 3]]);
});

it('groups by the current profile and tags of contacts', async () => {
  const { client } = await newAccount();
  for (const nth of [1, 2, 3]) await client.logEvent({ userUUID: `${userUUID}-${nth}`, eventID: nth });
  const ann = { contactEmailaddress: 'ann@shop.example', contactProfileID: 'customer', userUUID: `${userUUID}-1` };
  const { contactUUID } = await client.createContact({ ...ann, contactTagID: 'vip,new' });
  await client.createContact({
    ...{ contactEmailaddress: 'ben@shop.example', contactProfileID: 'staff', userUUID: `${userUUID}-2` },
    contactTagID: 'new',
  });
  await client.logEvent({ contactUUID, eventID: 2 });
  const countMatches = async (by: string) => {
    const { total, row, others } = await client.reportBreakdown({ from: '2020-01-01', by, limit: 2 });
    const rows = row.map(({ values, events, people }) => [...values, events, people]);
    return [...rows, [others?.groups, others?.events, others?.people], [total.events, total.people]];
  };
  const none = [undefined, undefined, undefined];
  const all = [4, 3];
  expect(await countMatches('contactProfileID')).toEqual([['customer', 2, 1], ['staff', 1, 1], [1, 1, 1], all]);
  // Ann's events are in the rows of both tags.
  expect(await countMatches('contactTagID')).toEqual([['new', 3, 2], ['vip', 2, 1], [1, 1, 1], all]);
  await client.updateContact({ contactUUID, contactTagID: '-vip' });
  expect(await countMatches('contactTagID')).toEqual([['new', 3, 2], [null, 1, 1], none, all]);
  const step = [{ not: { event: 9 } }, { event: 2 }];
  const funnel = { from: '2020-01-01', step, by: 'contactProfileID' };
  const { row } = await client.reportFunnel(funnel);
  expect(row?.map(({ values, step: [first, second] }) => [...values, first?.reached, second?.reached])).toEqual([
    ['customer', 1, 1],
    ['staff', 1, 0],
    [null, 1, 0],
  ]);
  const { person } = await client.reportPeople({ ...funnel, value: ['customer'], reached: 2 });
  expect(person.map((one) => one.contactEmailaddress)).toEqual(['ann@shop.example']);
});

it('filters by what people did with any of their browsers', async () => {
  const { client } = await newAccount();
  const day = 86_400_000;
  const at = (days: number) => new Date(Date.now() - days * day).toISOString();
  const log = (nth: number, eventID: number, days: number) =>
    client.logEvent({ userUUID: `${userUUID}-${nth}`, eventID, eventTime: at(days) });
  for (const [nth, eventID, days] of [
    [1, 1, 40],
    [1, 2, 2],
    [2, 1, 3],
    [3, 1, 1],
    [3, 2, 1],
  ] as const)
    await log(nth, eventID, days);
  const countMatches = async (filter: Filter) => {
    const { events, people } = (await client.reportTotals({ from: at(10), filter })).total;
    return [events, people];
  };
  expect(await countMatches({ did: {} })).toEqual([4, 3]);
  expect(await countMatches({ did: { event: 2 } })).toEqual([3, 2]);
  expect(await countMatches({ not: { did: { event: 2 } } })).toEqual([1, 1]);
  expect(await countMatches({ did: { event: 1, withinDays: 5 } })).toEqual([3, 2]);
  expect(await countMatches({ not: { did: { to: at(10) } } })).toEqual([3, 2]);
  expect(await countMatches({ did: { atLeast: 2, filter: { not: { event: 9 } } } })).toEqual([3, 2]);
  // Creates one person with two browsers: an action with either counts.
  const contact = { contactProfileID: 'customer', contactEmailaddress: 'ann@shop.example' };
  const { contactUUID } = await client.createContact({ ...contact, userUUID: `${userUUID}-1` });
  await client.linkUser({ contactUUID, userUUID: `${userUUID}-2` });
  expect(await countMatches({ did: { event: 2 } })).toEqual([4, 2]);
  expect(await countMatches({ not: { did: { event: 2 } } })).toEqual([0, 0]);
  expect(await countMatches({ did: { atLeast: 3 } })).toEqual([2, 1]);
  expect(await countMatches({ did: { atLeast: 2, atMost: 2 } })).toEqual([2, 1]);
  await client.eraseContact({ contactUUID });
  expect(await countMatches({ did: {} })).toEqual([2, 1]);
});

it('filters by a segment, with its filter at the time of the report', async () => {
  const { client } = await newAccount();
  for (const [nth, eventID] of [
    [1, 1],
    [1, 2],
    [2, 1],
    [3, 2],
  ] as const)
    await client.logEvent({ userUUID: `${userUUID}-${nth}`, eventID });
  const from = '2020-01-01';
  const reportBy = async (filter: Filter) => {
    const { total } = await client.reportTotals({ from, filter });
    const { step } = await client.reportFunnel({ from, step: [filter, { event: 2 }] });
    const { person } = await client.reportPeople({ from, filter: { and: [filter, { event: 1 }] } });
    return [total, step, person];
  };
  const segment: Filter = { segment: 'Did 2' };
  for (const filter of [{ did: { event: 2 } }, { not: { did: { event: 2 } } }, { event: 1 }] satisfies Filter[]) {
    await client.createSegment({ segmentName: 'Did 2', filter });
    expect(await reportBy(segment)).toEqual(await reportBy(filter));
  }
  expect((await client.listSegments({})).segment).toMatchObject([{ segmentName: 'Did 2', filter: { event: 1 } }]);
  await client.deleteSegment({ segmentName: 'Did 2' });
  await expect(reportBy(segment)).rejects.toMatchObject({ code: 'unknown_segment', field: 'filter.segment' });
});

it('stores report files in REPORTS_DIR', async () => {
  const { env } = temporaryDatabase();
  const REPORTS_DIR = join(dirname(env.DATABASE_URL.replace(/^sqlite:/, '')), 'elsewhere');
  const { client } = await startWith({ ...env, REPORTS_DIR, REPORTS_MEMORY: '128', REPORTS_THREADS: '1' });
  expect(await people(client)).toBe(0);
  expect(existsSync(REPORTS_DIR)).toBe(true);
  expect(existsSync(env.DATABASE_URL.replace(/^sqlite:/, '').replace(/\.db$/, '.reports'))).toBe(false);
});

it('rejects a report that takes longer than REPORTS_SECONDS', async () => {
  const store = await openStore({
    databaseURL: 'sqlite::memory:',
    role: 'server',
    onFatal: expect.unreachable as never,
  });
  const { account, browser, time } = await createSite(store);
  await browser.log({});
  const reportWithin = async (reportsSeconds: number) => {
    const config = { ...readConfig({ DATABASE_URL: 'sqlite::memory:' }), reportsSeconds };
    const served = await openReports({ store, config, log: pino({ level: 'silent' }) });
    const report = served.reports.run({
      ...{ report: 'totals', account, from: time, to: time + 1, edges: [time, time + 1] },
      ...{ robots: true, condition: null, value: null },
    });
    return report.finally(() => served.stop());
  };
  await expect(reportWithin(0.001)).rejects.toMatchObject({ code: 'no_reports' });
  expect((await reportWithin(240)).result.total.events).toBe(1);
  await store.close();
});

it('leaves no files from an in-memory database, and removes a killed server’s files', async () => {
  const folderOf = (pid: number) => `firsthand-reports-${pid}-${'x'.repeat(21)}-${'y'.repeat(21)}`;
  // Also uses this server's process ID, as in a restarted container.
  const ofKilled = [4_194_999, process.pid].map(folderOf);
  const ofOther = folderOf(process.ppid);
  for (const name of [...ofKilled, ofOther]) mkdirSync(join(tmpdir(), name), { recursive: true });
  onTestFinished(() => rmdirSync(join(tmpdir(), ofOther)));
  const { client, close } = await startWith({ DATABASE_URL: 'sqlite::memory:' });
  await client.logEvent({ userUUID, eventID: 1 });
  expect(await people(client)).toBe(1);
  const own = new RegExp(`^firsthand-reports-${process.pid}-`);
  expect(temporaryFolders().filter((name) => own.test(name))).toHaveLength(1);
  expect(temporaryFolders().filter((name) => ofKilled.includes(name))).toEqual([]);
  expect(temporaryFolders()).toContain(ofOther);
  await close();
  expect(temporaryFolders().filter((name) => own.test(name))).toEqual([]);
});
