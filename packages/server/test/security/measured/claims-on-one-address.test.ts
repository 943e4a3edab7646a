import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { limits } from '@firsthand/contract/limits';
import { afterAll, beforeAll, expect, test } from 'vitest';
import Database from '../../../src/store/sqlite/database/better-sqlite3.ts';
import { times } from '../../tools/counts.ts';
import { freePort } from '../../tools/ports.ts';
import { report } from '../../tools/report.ts';
import { browserToken, makeAccount, startServed, stopServed, withoutLimits } from '../../tools/served.ts';
import { changeServer } from '../../tools/weakened.ts';
import {
  withoutBoundOnClaims,
  withoutBoundOnLinksOfContact,
  withoutBoundOnLinksOfUser,
} from '../../weaknesses/store.ts';

const claims = times({ quick: 3_000, full: 100_000 });
/** Where none gives way, each claim costs more than the one before. */
const weakenedClaims = Math.min(claims, 10_000);
const usersInTurn = times({ quick: 30, full: 1_000 });
/** A user who goes to and fro between two addresses keeps so many links to each. */
const turns = limits.claimedLinksPerUser / 2;
const addresses = times({ quick: 2_400, full: 6_000 });
/** Less than four times as much for four times as many addresses. */
const maxGrowth = 2;
const together = 100;
const contactEmailaddress = 'ann@shop.example';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'firsthand-claims-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const env = { RATE_LIMIT: withoutLimits() };

interface Taken {
  readonly milliseconds: number;
  readonly bytes: number;
  // biome-ignore lint/suspicious/noExplicitAny: what a test reads of an answer, it has checked or will fail on.
  readonly body: any;
}

/** What the contact costs once so many users have claimed its address, so often in turn with an address of their own. */
const attack = async (name: string, { count, turns = 1 }: { count: number; turns?: number }, main?: string) => {
  const path = join(folder, `${name}.db`);
  const serverToken = await makeAccount(path);
  const served = await startServed(path, await freePort(), { main, env });
  const ask = async (at: string, fields?: object): Promise<Taken> => {
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
    const said = { userUUID: `visitor-number-${nth}`, contactProfileID: 'customer' };
    await post('/createContact', { ...said, contactEmailaddress });
    for (let turn = 1; turn < turns; turn += 1) {
      await post('/createContact', { ...said, contactEmailaddress: `visitor-${nth}@shop.example` });
      await post('/createContact', { ...said, contactEmailaddress });
    }
    if (turns > 1) await post('/logEvent', { userUUID: said.userUUID, eventID: 1 });
  };
  for (let at = 0; at < count; at += together) {
    await Promise.all(Array.from({ length: Math.min(together, count - at) }, (_, nth) => claim(at + nth)));
  }
  const found = await ask(`/contact/searchContact?contactEmailaddress=${contactEmailaddress}`);
  const { contactUUID } = found.body.contact[0];
  const contact = await ask(`/contact/getContact?contactUUID=${contactUUID}&include=claim,link`);
  const events = await ask(`/event/getEvent?contactUUID=${contactUUID}`);
  const page = await ask('/contact/exportContact', { contactUUID });

  const writes: number[] = [];
  const write = async () =>
    writes.push((await ask('/event/logEvent', { eventID: 1, userUUID: 'another-visitor-1' })).milliseconds);
  let erasure: Taken | undefined = undefined as Taken | undefined;
  const erasing = ask('/contact/eraseContact', { contactUUID }).then((taken) => {
    erasure = taken;
  });
  while (!erasure) await write();
  await erasing;
  // Most of an erasure is done after it is acknowledged.
  do {
    for (let nth = 0; nth < 20; nth += 1) await write();
  } while (!(await ask('/contact/eraseContact', { contactUUID })).body.complete);
  await stopServed(served);
  return {
    links: contact.body.linkCount as number,
    contact,
    events,
    page,
    erasure,
    longestWrite: Math.max(...writes),
  };
};

/** Each took seconds before. The short count shows how much is left; only the full one, on a machine of its own, how long it takes. */
const maxMilliseconds = times({ quick: 120_000, full: 2_000 });

const inMilliseconds = ({ milliseconds }: Taken) => `${milliseconds.toFixed(0)} ms`;

test('a contact whose address very many users claim is read and erased as one of a thousand claims', async (context) => {
  const ours = await attack('ours', { count: claims });
  expect(ours.links).toBe(limits.claimsPerContact);
  expect(ours.page.bytes).toBeLessThan(400_000);
  for (const taken of [ours.contact, ours.events, ours.page, ours.erasure])
    expect(taken.milliseconds).toBeLessThan(maxMilliseconds);
  expect(ours.longestWrite).toBeLessThan(maxMilliseconds);

  const weakened = await attack(
    'weakened',
    { count: weakenedClaims },
    changeServer(folder, 'unbounded', withoutBoundOnClaims),
  );
  expect(weakened.links).toBe(weakenedClaims);
  // Its claims and links are paged all the same.
  expect(weakened.page.bytes).toBeLessThan(400_000);
  report(context, {
    fault: 'claims on one address',
    count: `${claims} users`,
    result: [
      `${ours.links} links are left; getContact ${inMilliseconds(ours.contact)}, getEvent ${inMilliseconds(ours.events)}`,
      `exportContact ${(ours.page.bytes / 1e6).toFixed(2)} MB, eraseContact ${inMilliseconds(ours.erasure)}`,
      `longest write meanwhile ${ours.longestWrite.toFixed(0)} ms`,
    ].join('; '),
    weakened: [
      `none of ${weakenedClaims} gives way: ${weakened.links} links; getContact ${inMilliseconds(weakened.contact)}`,
      `getEvent ${inMilliseconds(weakened.events)}, exportContact ${(weakened.page.bytes / 1e6).toFixed(2)} MB`,
      `eraseContact ${inMilliseconds(weakened.erasure)}, longest write ${weakened.longestWrite.toFixed(0)} ms`,
    ].join('; '),
  });
});

test('a contact whom users claim in turn with another is read and erased as one of a thousand links', async (context) => {
  const ours = await attack('ours-in-turn', { count: usersInTurn, turns });
  expect(ours.links).toBe(limits.claimedLinksPerContact);
  for (const taken of [ours.contact, ours.events, ours.page, ours.erasure])
    expect(taken.milliseconds).toBeLessThan(maxMilliseconds);
  expect(ours.longestWrite).toBeLessThan(maxMilliseconds);

  const changed = changeServer(folder, 'unbounded-in-turn', withoutBoundOnLinksOfContact);
  const weakened = await attack('weakened-in-turn', { count: usersInTurn, turns }, changed);
  expect(weakened.links).toBe(usersInTurn * turns);
  const costOf = ({ links, contact, events, erasure, longestWrite }: typeof ours) =>
    [
      `${links} links are left; getContact ${inMilliseconds(contact)}, getEvent ${inMilliseconds(events)}`,
      `eraseContact ${inMilliseconds(erasure)}, longest write meanwhile ${longestWrite.toFixed(0)} ms`,
    ].join('; ');
  report(context, {
    fault: 'links to one contact',
    count: `${usersInTurn} users, each to and fro between two addresses ${turns} times`,
    result: costOf(ours),
    weakened: `none gives way: ${costOf(weakened)}`,
  });
});

/** Seconds of CPU that a process has taken so far, of all its threads; a tick is 10 ms. */
const cpuSeconds = (pid: number): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') as string[];
  return (Number(fields[11]) + Number(fields[12])) / 100;
};

/** What a user's requests cost the server after a quarter of so many addresses were claimed for that user, and after all of them. */
const attackUser = async (name: string, count: number, main?: string) => {
  const path = join(folder, `${name}.db`);
  const serverToken = await makeAccount(path);
  const served = await startServed(path, await freePort(), { main, env });
  const userUUID = 'visitor-number-1';
  const ask = async (at: string, init: RequestInit) => {
    const response = await fetch(`${served.url}${at}`, init);
    const body = (await response.json()) as { contactUUID: string };
    expect([at, response.status]).toEqual([at, 200]);
    return body;
  };
  const post = (at: string, tokenUUID: string, fields: object) =>
    ask(at, { method: 'POST', body: JSON.stringify({ tokenUUID, ...fields }) });
  const askTogether = async (times: number, askOnce: () => Promise<unknown>) => {
    for (let asked = 0; asked < times; asked += together) await Promise.all(Array.from({ length: together }, askOnce));
  };
  const known = { userUUID: 'another-visitor-1', contactEmailaddress, contactProfileID: 'customer' };
  const { contactUUID } = await post('/createContact', serverToken, known);
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
  /** Milliseconds of CPU for a round of requests that the user's links matter to. */
  const costOfRound = async () => {
    const began = cpuSeconds(served.process.pid as number);
    for (const askOnce of [claim, log, read]) await askTogether(2 * together, askOnce);
    return (1_000 * (cpuSeconds(served.process.pid as number) - began)) / (2 * together);
  };
  /** What else the machine does only adds to it. */
  const leastCost = async () => Math.min(await costOfRound(), await costOfRound(), await costOfRound());
  await costOfRound();
  await askTogether(count / 4 - claimed, claim);
  const early = await leastCost();
  await askTogether(count - claimed, claim);
  const late = await leastCost();
  await stopServed(served);
  const db = new Database(path, { readonly: true });
  const countLinks = db.prepare('SELECT count(*) FROM statement JOIN user USING (user) WHERE userUUID = ?').pluck();
  const links = countLinks.get(userUUID) as number;
  db.close();
  return { links, claimed, late, growth: late / early };
};

test('a user for whom very many addresses are claimed costs no more than one of a hundred', async (context) => {
  const ours = await attackUser('our-user', addresses);
  expect(ours.links).toBe(limits.claimedLinksPerUser);
  expect(ours.growth).toBeLessThan(maxGrowth);

  const weakened = await attackUser(
    'weakened-user',
    addresses,
    changeServer(folder, 'any-links', withoutBoundOnLinksOfUser),
  );
  expect(weakened.links).toBe(weakened.claimed);
  expect(weakened.growth).toBeGreaterThan(maxGrowth);
  const inCPU = ({ growth, late }: typeof ours) =>
    `createContact, logEvent and getEvent take ${late.toFixed(1)} ms of CPU, ${growth.toFixed(1)} times as much as after a quarter`;
  report(context, {
    fault: 'many addresses for one user',
    count: `${addresses} addresses`,
    result: `${ours.links} links are left; ${inCPU(ours)}`,
    weakened: `none of ${weakenedClaims} gives way: ${weakened.links} links; ${inCPU(weakened)}`,
  });
});
