import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { backupStore } from '../../src/store/open.ts';
import Database from '../../src/store/sqlite/database/better-sqlite3.ts';
import { removeAuditLog } from '../fixtures/audit-log.ts';
import { createRandom, quantile, times } from '../tools/counts.ts';
import { freePort } from '../tools/ports.ts';
import { report } from '../tools/report.ts';
import {
  browserToken,
  createTestAccount,
  type ServerProcess,
  startServerProcess,
  stopServerProcess,
  withoutLimits,
} from '../tools/server-process.ts';
import { changeServer } from '../tools/weakened-server.ts';
import { keepingLogAndUnusedSpace, withoutOverwriting } from '../weaknesses/store.ts';
import { findTraces, readFiles } from './tools/files.ts';
import { addBystander, addPerson, type Person } from './tools/people.ts';
import { createResponseCounter, findDifferences, type ResponseCounter } from './tools/response-counter.ts';

const counts = {
  people: times({ quick: 8, full: 100 }),
  bystanders: times({ quick: 200, full: 3_000 }),
  /** The number of events for the person whose erasure is timed. */
  events: times({ quick: 3_000, full: 100_000 }),
};
/** The time limit: generous in quick runs, which must not fail because of timing. */
const maxMilliseconds = times({ quick: 60_000, full: 1_000 });
const minEventsPerSecond = times({ quick: 1, full: 10_000 });

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'firsthand-erasure-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const env = { LOG_LEVEL: 'trace', RATE_LIMIT: withoutLimits() };

interface Serving extends ServerProcess {
  readonly log: () => string;
}
const start = async (path: string, main?: string): Promise<Serving> => {
  const served = await startServerProcess(path, await freePort(), { main, env });
  let log = served.complaints();
  served.process.stderr?.on('data', (text: string) => {
    log += text;
  });
  return { ...served, log: () => log };
};

/** Starts a server, adds people and bystanders, and makes a backup. */
const populate = async (name: string, { people, bystanders, events }: typeof counts, main?: string) => {
  const path = join(folder, `${name}.db`);
  const server = await createTestAccount(path);
  const served = await start(path, main);
  const counter = createResponseCounter();
  const random = createRandom(people + bystanders);
  const peopleContext = { counter, url: served.url, tokens: { server, browser: browserToken }, random };
  const persons: Person[] = [];
  const share = Math.ceil(bystanders / people);
  for (let nth = 0; nth < people; nth += 1) {
    const others = Array.from({ length: share }, () => addBystander(peopleContext));
    // Gives the first person many events, and the others few.
    const [person] = await Promise.all([addPerson(peopleContext, nth === 0 ? events : 5), ...others]);
    persons.push(person);
  }
  await backupStore(`sqlite:${path}`, join(folder, `${name}-backup.db`));
  return { name, path, server, served, counter, persons };
};
type PopulatedDatabase = Awaited<ReturnType<typeof populate>>;

/** Runs three loops of reads that scan everything without a match, until stopped. */
const readInLoops = (counter: ResponseCounter, url: string, tokenUUID: string) => {
  let stopped = false;
  const from = new Date(Date.now() - 86_400_000).toISOString();
  const loop = async (operation: Parameters<ResponseCounter['call']>[1], fields: object) => {
    while (!stopped) expect((await counter.call(url, operation, { tokenUUID, ...fields })).status).toBe(200);
  };
  const done = Promise.all([
    loop('getEvent', { attrID: 'none', limit: 1_000 }),
    loop('countEvents', { from, interval: 'total', include: 'users' }),
    loop('searchContact', { text: 'no such name' }),
  ]);
  return async () => {
    stopped = true;
    await done;
  };
};

/** Returns the milliseconds until the condition holds, or Infinity after a timeout. */
const until = async (
  isMet: () => boolean | Promise<boolean>,
  maxWaitMilliseconds = maxMilliseconds * 3,
): Promise<number> => {
  const began = performance.now();
  for (;;) {
    if (await isMet()) return performance.now() - began;
    if (performance.now() - began > maxWaitMilliseconds) return Number.POSITIVE_INFINITY;
    await wait(50);
  }
};

const eraseAll = async (
  { name, server, served, counter, persons }: PopulatedDatabase,
  maxRemovalMilliseconds?: number,
) => {
  const erase = (person: Person) =>
    counter.call(served.url, 'eraseContact', { tokenUUID: server, contactUUID: person.contactUUID });
  const find = (traces: readonly string[]) => findTraces(readFiles(folder, `${name}.db`), traces, served.log());
  /** Returns the milliseconds until the traces are gone from the files, without the time of the last search. */
  const measureRemoval = async (
    traces: readonly string[],
    maxWaitMilliseconds = maxMilliseconds * 3,
  ): Promise<number> => {
    for (const began = performance.now(); performance.now() - began < maxWaitMilliseconds; await wait(20)) {
      const files = readFiles(folder, `${name}.db`);
      const read = performance.now();
      if (findTraces(files, traces, served.log()).length === 0) return read - began;
    }
    return Number.POSITIVE_INFINITY;
  };
  const stopReading = readInLoops(counter, served.url, server);
  const milliseconds: number[] = [];
  let eventsPerSecond = 0;
  for (const [nth, person] of persons.entries()) {
    // Expects the traces to be in the files before the erasure: otherwise, not finding them later would prove nothing.
    expect(find(person.traces).map((each) => each.split(' ')[0])).toEqual(expect.arrayContaining([...person.traces]));
    const { status, body } = await erase(person);
    expect(status).toBe(200);
    const deleting = performance.now();
    const deleted = until(async () => {
      const { body: receipt } = await erase(person);
      return receipt.complete === true && receipt.erasedTime === body.erasedTime;
    });
    milliseconds.push(await measureRemoval(person.traces, maxRemovalMilliseconds));
    if (nth === 0) {
      await deleted;
      eventsPerSecond = person.events / ((performance.now() - deleting) / 1_000);
      expect((await erase(person)).body).toMatchObject({ complete: true, deletedEvents: person.events });
    }
    expect(await deleted).toBeLessThan(60_000);
  }
  await stopReading();
  return { milliseconds, eventsPerSecond, find };
};

const everyTrace = (persons: readonly Person[]) => persons.flatMap(({ traces, eventTrace }) => [...traces, eventTrace]);

const retryAll = async ({
  served,
  server,
  counter,
  persons,
}: Pick<PopulatedDatabase, 'served' | 'server' | 'counter' | 'persons'>) => {
  const responses = new Set<string>();
  for (const person of persons) {
    for (const response of await person.retry(served.url)) responses.add(response);
    const { body } = await counter.call(served.url, 'searchContact', {
      tokenUUID: server,
      contactEmailaddress: person.address,
    });
    if (body.contact.length > 0) responses.add('revived');
  }
  return [...responses].sort();
};

const isComplete = (path: string): boolean => {
  const db = new Database(path, { readonly: true });
  try {
    return db.prepare('SELECT 1 FROM erasure WHERE NOT complete').get() === undefined;
  } finally {
    db.close();
  }
};

const integrity = (path: string) => {
  const db = new Database(path, { readonly: true });
  try {
    return db.pragma('integrity_check', { simple: true });
  } finally {
    db.close();
  }
};

/** Replaces the database with the backup, and serves it. */
const restore = async ({ name, path }: PopulatedDatabase, main?: string) => {
  copyFileSync(join(folder, `${name}-backup.db`), path);
  return start(path, main);
};

test('erases a contact from every file and log even during reads; no retry or backup restores it', async (context) => {
  const database = await populate('ours', counts);
  const { path, persons, counter } = database;
  const { milliseconds, eventsPerSecond, find } = await eraseAll(database);
  expect(Math.max(...milliseconds)).toBeLessThan(maxMilliseconds);
  expect(eventsPerSecond).toBeGreaterThan(minEventsPerSecond);
  const duplicatesBefore = counter.counts.duplicates;
  expect(await retryAll(database)).toEqual(['410', 'duplicate']);
  expect(find(everyTrace(persons))).toEqual([]);
  await stopServerProcess(database.served);
  expect(find(everyTrace(persons))).toEqual([]);
  expect(findDifferences(counter, path)).toEqual([]);
  expect(integrity(path)).toBe('ok');
  const contactUUIDs = persons.flatMap((person) => person.contactUUIDs);
  expect(find(contactUUIDs)).not.toEqual([]);
  removeAuditLog(path);
  expect(find(contactUUIDs)).toEqual([]);

  const served = await restore(database);
  const restored = { ...database, served };
  const findAgain = (traces: readonly string[]) =>
    findTraces(readFiles(folder, `${database.name}.db`), traces, served.log());
  // Waits generously, because searching the files for all traces takes longer than the erasure.
  expect(await until(() => isComplete(path), 60_000)).toBeLessThan(60_000);
  expect(findAgain(everyTrace(persons))).toEqual([]);
  expect(await retryAll(restored)).toEqual(['410', 'duplicate']);
  expect(findAgain(everyTrace(persons))).toEqual([]);
  await stopServerProcess(served);
  expect(integrity(path)).toBe('ok');
  removeAuditLog(path);
  expect(findAgain(contactUUIDs)).toEqual([]);

  const weakened = await runWeakenedServers();
  const slowest = Math.round(Math.max(...milliseconds));
  const repeats = counter.counts.duplicates - duplicatesBefore;
  report(context, {
    fault: 'erasure',
    count: `${persons.length} people among ${counts.bystanders} others, during reads; one with ${counts.events} events; all requests retried, also after a backup was restored`,
    result: `0 bytes left after ${Math.round(quantile(milliseconds, 0.5))} ms, at most ${slowest} ms; ${Math.round(eventsPerSecond)} events deleted per second; ${repeats} repeats and every createContact refused`,
    weakened,
  });
  console.info(`erased after at most ${slowest} ms; ${Math.round(eventsPerSecond)} events deleted per second`);
});

const weakenings = [
  { name: 'nothing overwritten, no record', changes: withoutOverwriting },
  { name: 'log and unused space left as they are', changes: keepingLogAndUnusedSpace },
];

/** Runs the same check on weakened servers. Returns the number of traces that each server fails to remove. */
const runWeakenedServers = async (): Promise<string> => {
  const results: string[] = [];
  const weakeningCount = times({ quick: 1, full: weakenings.length });
  for (const [nth, { name, changes }] of weakenings.slice(0, weakeningCount).entries()) {
    const main = changeServer(folder, `weakened-${nth}`, changes);
    const database = await populate(`weak-${nth}`, { people: 2, bystanders: 20, events: 5 }, main);
    const { find } = await eraseAll(database, 50);
    const left = find(database.persons.flatMap(({ traces }) => traces)).length;
    expect(left).toBeGreaterThan(0);
    results.push(`${name}: ${left} traces`);
    await stopServerProcess(database.served);
    if (nth > 0) continue;
    const served = await restore(database, main);
    expect(await retryAll({ ...database, served })).toContain('revived');
    await stopServerProcess(served);
  }
  return results.join('; ');
};
