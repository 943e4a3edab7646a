import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { limits } from '@firsthand/contract/limits';
import { afterAll, beforeAll, expect, test } from 'vitest';
import Database from '../../../src/store/sqlite/database/better-sqlite3.ts';
import { times } from '../../tools/counts.ts';
import { freePort } from '../../tools/ports.ts';
import { report } from '../../tools/report.ts';
import {
  browserToken,
  createTestAccount,
  startServerProcess,
  stopServerProcess,
  withoutLimits,
} from '../../tools/server-process.ts';
import { changeServer } from '../../tools/weakened-server.ts';
import { withoutClaimLimit, withoutContactLinkLimit, withoutUserLinkLimit } from '../../weaknesses/store.ts';

const claims = times({ quick: 1_500, full: 100_000 });
/**
 * The number of claims on the weakened server: fewer, because each costs more than the previous claim without a limit.
 */
const weakenedClaims = Math.min(claims, 10_000);
const usersInTurn = times({ quick: 25, full: 1_000 });
/** The number of links to each address: a user alternates between claiming two addresses. */
const turns = limits.claimedLinksPerUser / 2;
const addresses = times({ quick: 1_200, full: 6_000 });
/** The number of requests per kind in a round. */
const requestsPerRound = times({ quick: 100, full: 200 });
/** The maximum allowed growth in cost when the number of addresses quadruples. */
const maxGrowth = 2;
const batchSize = 100;
const contactEmailaddress = 'ann@shop.example';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'firsthand-claims-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const env = { RATE_LIMIT: withoutLimits() };

interface Measurement {
  readonly milliseconds: number;
  readonly bytes: number;
  // biome-ignore lint/suspicious/noExplicitAny: a test fails if it reads a field that is missing.
  readonly body: any;
}

/**
 * Measures operations on a contact whose address is claimed by `count` users. Each user claims it `turns` times,
 * alternating with another address.
 */
const attack = async (name: string, { count, turns = 1 }: { count: number; turns?: number }, main?: string) => {
  const path = join(folder, `${name}.db`);
  const serverToken = await createTestAccount(path);
  const served = await startServerProcess(path, await freePort(), { main, env });
  const ask = async (at: string, fields?: object): Promise<Measurement> => {
    const began = performance.now();
    const response = await fetch(`${served.url}${at}`, {
      headers: { Authorization: `Bearer ${serverToken}`, 'Content-Type': 'application/json' },
      ...(fields && { method: 'POST', body: JSON.stringify(fields) }),
    });
    const text = await response.text();
    expect([at, response.status]).toEqual([at, 200]);
    return { milliseconds: performance.now() - began, bytes: text.length, body: JSON.parse(text) };
  };
  const post = async (at: string, fields: object) => {
    const response = await fetch(`${served.url}${at}`, {
      method: 'POST',
      body: JSON.stringify({ tokenUUID: browserToken, ...fields }),
    });
    await response.arrayBuffer();
    expect(response.status).toBe(200);
  };
  const claim = async (nth: number) => {
    const claimant = { userUUID: `visitor-number-${nth}`, contactProfileID: 'customer' };
    await post('/createContact', { ...claimant, contactEmailaddress });
    for (let turn = 1; turn < turns; turn += 1) {
      await post('/createContact', { ...claimant, contactEmailaddress: `visitor-${nth}@shop.example` });
      await post('/createContact', { ...claimant, contactEmailaddress });
    }
    if (turns > 1) await post('/logEvent', { userUUID: claimant.userUUID, eventID: 1 });
  };
  for (let at = 0; at < count; at += batchSize) {
    await Promise.all(Array.from({ length: Math.min(batchSize, count - at) }, (_, nth) => claim(at + nth)));
  }
  const search = await ask(`/contact/searchContact?contactEmailaddress=${contactEmailaddress}`);
  const { contactUUID } = search.body.contact[0];
  const contact = await ask(`/contact/getContact?contactUUID=${contactUUID}&include=claim,link`);
  const events = await ask(`/event/getEvent?contactUUID=${contactUUID}`);
  const page = await ask('/contact/exportContact', { contactUUID });

  const writes: number[] = [];
  const write = async () =>
    writes.push((await ask('/event/logEvent', { eventID: 1, userUUID: 'another-visitor-1' })).milliseconds);
  let erasure: Measurement | undefined = undefined as Measurement | undefined;
  const erasing = ask('/contact/eraseContact', { contactUUID }).then((measurement) => {
    erasure = measurement;
  });
  while (!erasure) await write();
  await erasing;
  // Waits for the end of the erasure, because most of its work happens after it is acknowledged.
  do {
    for (let nth = 0; nth < 20; nth += 1) await write();
  } while (!(await ask('/contact/eraseContact', { contactUUID })).body.complete);
  await stopServerProcess(served);
  return {
    links: contact.body.linkCount as number,
    contact,
    events,
    page,
    erasure,
    longestWrite: Math.max(...writes),
  };
};

/**
 * The maximum duration, which only full runs check, on an otherwise idle machine. Each of these operations once took
 * seconds.
 */
const maxMilliseconds = times({ quick: 120_000, full: 2_000 });

const formatMilliseconds = ({ milliseconds }: Measurement) => `${milliseconds.toFixed(0)} ms`;

test('reads and erases a contact with claims far beyond the limit as fast as one at the limit', async (context) => {
  const ours = await attack('ours', { count: claims });
  expect(ours.links).toBe(limits.claimsPerContact);
  expect(ours.page.bytes).toBeLessThan(400_000);
  for (const measurement of [ours.contact, ours.events, ours.page, ours.erasure])
    expect(measurement.milliseconds).toBeLessThan(maxMilliseconds);
  expect(ours.longestWrite).toBeLessThan(maxMilliseconds);

  const weakened = await attack(
    'weakened',
    { count: weakenedClaims },
    changeServer(folder, 'unbounded', withoutClaimLimit),
  );
  expect(weakened.links).toBe(weakenedClaims);
  // Expects that the export is split into pages even then.
  expect(weakened.page.bytes).toBeLessThan(400_000);
  report(context, {
    fault: 'claims on one address',
    count: `${claims} users`,
    result: [
      `${ours.links} links remain; getContact ${formatMilliseconds(ours.contact)}, getEvent ${formatMilliseconds(ours.events)}`,
      `exportContact ${(ours.page.bytes / 1e6).toFixed(2)} MB, eraseContact ${formatMilliseconds(ours.erasure)}`,
      `longest concurrent write ${ours.longestWrite.toFixed(0)} ms`,
    ].join('; '),
    weakened: [
      `no limit: ${weakened.links} links after ${weakenedClaims} claims; getContact ${formatMilliseconds(weakened.contact)}`,
      `getEvent ${formatMilliseconds(weakened.events)}, exportContact ${(weakened.page.bytes / 1e6).toFixed(2)} MB`,
      `eraseContact ${formatMilliseconds(weakened.erasure)}, longest write ${weakened.longestWrite.toFixed(0)} ms`,
    ].join('; '),
  });
});

test('reads and erases a contact just as fast when users keep switching between it and another', async (context) => {
  const ours = await attack('ours-in-turn', { count: usersInTurn, turns });
  expect(ours.links).toBe(limits.claimedLinksPerContact);
  for (const measurement of [ours.contact, ours.events, ours.page, ours.erasure])
    expect(measurement.milliseconds).toBeLessThan(maxMilliseconds);
  expect(ours.longestWrite).toBeLessThan(maxMilliseconds);

  const changed = changeServer(folder, 'unbounded-in-turn', withoutContactLinkLimit);
  const weakened = await attack('weakened-in-turn', { count: usersInTurn, turns }, changed);
  expect(weakened.links).toBe(usersInTurn * turns);
  const describeCost = ({ links, contact, events, erasure, longestWrite }: typeof ours) =>
    [
      `${links} links remain; getContact ${formatMilliseconds(contact)}, getEvent ${formatMilliseconds(events)}`,
      `eraseContact ${formatMilliseconds(erasure)}, longest concurrent write ${longestWrite.toFixed(0)} ms`,
    ].join('; ');
  report(context, {
    fault: 'links to one contact',
    count: `${usersInTurn} users, each alternating between two addresses ${turns} times`,
    result: describeCost(ours),
    weakened: `no limit: ${describeCost(weakened)}`,
  });
});

/** Returns the CPU time of all threads of a process, in seconds. A tick is 10 ms. */
const readCPUSeconds = (pid: number): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') as string[];
  return (Number(fields[11]) + Number(fields[12])) / 100;
};

/** Measures the cost of a user's requests after `count` / 4 claimed addresses, and again after `count`. */
const attackUser = async (name: string, count: number, main?: string) => {
  const path = join(folder, `${name}.db`);
  const serverToken = await createTestAccount(path);
  const served = await startServerProcess(path, await freePort(), { main, env });
  const userUUID = 'visitor-number-1';
  const ask = async (at: string, init: RequestInit) => {
    const response = await fetch(`${served.url}${at}`, init);
    const body = (await response.json()) as { contactUUID: string };
    expect([at, response.status]).toEqual([at, 200]);
    return body;
  };
  const post = (at: string, tokenUUID: string, fields: object) =>
    ask(at, { method: 'POST', body: JSON.stringify({ tokenUUID, ...fields }) });
  const sendInBatches = async (times: number, sendOne: () => Promise<unknown>) => {
    for (let sent = 0; sent < times; sent += batchSize) await Promise.all(Array.from({ length: batchSize }, sendOne));
  };
  const otherContact = { userUUID: 'another-visitor-1', contactEmailaddress, contactProfileID: 'customer' };
  const { contactUUID } = await post('/createContact', serverToken, otherContact);
  let claimed = 0;
  const claim = () => {
    claimed += 1;
    const address = { contactEmailaddress: `visitor-${claimed}@shop.example`, contactProfileID: 'customer' };
    return post('/createContact', browserToken, { userUUID, ...address });
  };
  const log = () => post('/event/logEvent', serverToken, { userUUID, contactUUID, eventID: 1 });
  const read = () =>
    ask(`/event/getEvent?userUUID=${userUUID}&include=why&limit=1`, {
      headers: { Authorization: `Bearer ${serverToken}` },
    });
  /** Returns the CPU milliseconds of one request of each kind whose cost might depend on the user's links. */
  const measureRound = async () => {
    const began = readCPUSeconds(served.process.pid as number);
    for (const sendOne of [claim, log, read]) await sendInBatches(requestsPerRound, sendOne);
    return (1_000 * (readCPUSeconds(served.process.pid as number) - began)) / requestsPerRound;
  };
  /** The minimum of several measurements, because other load on the machine only adds to it. */
  const measureMinimum = async () => Math.min(await measureRound(), await measureRound(), await measureRound());
  await measureRound();
  await sendInBatches(count / 4 - claimed, claim);
  const early = await measureMinimum();
  await sendInBatches(count - claimed, claim);
  const late = await measureMinimum();
  await stopServerProcess(served);
  const db = new Database(path, { readonly: true });
  const countLinks = db.prepare('SELECT count(*) FROM statement JOIN user USING (user) WHERE userUUID = ?').pluck();
  const links = countLinks.get(userUUID) as number;
  db.close();
  return { links, claimed, late, growth: late / early };
};

test('serves a user with claims for far more addresses than the limit as fast as one at the limit', async (context) => {
  const ours = await attackUser('our-user', addresses);
  expect(ours.links).toBe(limits.claimedLinksPerUser);
  expect(ours.growth).toBeLessThan(maxGrowth);

  const weakened = await attackUser(
    'weakened-user',
    addresses,
    changeServer(folder, 'any-links', withoutUserLinkLimit),
  );
  expect(weakened.links).toBe(weakened.claimed);
  expect(weakened.growth).toBeGreaterThan(maxGrowth);
  const describeCPU = ({ growth, late }: typeof ours) =>
    `createContact, logEvent and getEvent take ${late.toFixed(1)} ms of CPU, ${growth.toFixed(1)} times as much as after a quarter`;
  report(context, {
    fault: 'many addresses claimed for one user',
    count: `${addresses} addresses`,
    result: `${ours.links} links remain; ${describeCPU(ours)}`,
    weakened: `no limit: ${weakened.links} links; ${describeCPU(weakened)}`,
  });
});
