import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { backupStore } from '../../src/store/open.ts';
import Database from '../../src/store/sqlite/database/better-sqlite3.ts';
import { forgetAudit } from '../fixtures/audit-log.ts';
import { createRandom, quantile, times } from '../tools/counts.ts';
import { freePort } from '../tools/ports.ts';
import { report } from '../tools/report.ts';
import { browserToken, makeAccount, type Served, startServed, stopServed, withoutLimits } from '../tools/served.ts';
import { changeServer } from '../tools/weakened.ts';
import { keepingLogAndUnusedSpace, withoutOverwriting } from '../weaknesses/store.ts';
import { type Books, createBooks, differences } from './tools/books.ts';
import { findTraces, readFiles } from './tools/files.ts';
import { addBystander, addPerson, type Person } from './tools/people.ts';

const counts = {
  people: times({ quick: 8, full: 100 }),
  bystanders: times({ quick: 200, full: 3_000 }),
  /** Of the one whose events are timed. */
  events: times({ quick: 3_000, full: 100_000 }),
};
/** No quick test fails on a clock. */
const maxMilliseconds = times({ quick: 60_000, full: 1_000 });
const leastEventsPerSecond = times({ quick: 1, full: 10_000 });

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'firsthand-erasure-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const env = { LOG_LEVEL: 'trace', RATE_LIMIT: withoutLimits() };

interface Serving extends Served {
  readonly log: () => string;
}
const start = async (path: string, main?: string): Promise<Serving> => {
  const served = await startServed(path, await freePort(), { main, env });
  let log = served.complaints();
  served.process.stderr?.on('data', (text: string) => {
    log += text;
  });
  return { ...served, log: () => log };
};

/** A database with people among others, served; and a backup of it. */
const populate = async (name: string, { people, bystanders, events }: typeof counts, main?: string) => {
  const path = join(folder, `${name}.db`);
  const server = await makeAccount(path);
  const served = await start(path, main);
  const books = createBooks();
  const random = createRandom(people + bystanders);
  const surroundings = { books, url: served.url, tokens: { server, browser: browserToken }, random };
  const persons: Person[] = [];
  const share = Math.ceil(bystanders / people);
  for (let nth = 0; nth < people; nth += 1) {
    const others = Array.from({ length: share }, () => addBystander(surroundings));
    // The first has many events, the others few.
    const [person] = await Promise.all([addPerson(surroundings, nth === 0 ? events : 5), ...others]);
    persons.push(person);
  }
  await backupStore(`sqlite:${path}`, join(folder, `${name}-backup.db`));
  return { name, path, server, served, books, persons };
};
type Populated = Awaited<ReturnType<typeof populate>>;

/** Reads that look at everything and find nothing, one after the other, three at a time, until stopped. */
const readOn = (books: Books, url: string, tokenUUID: string) => {
  let stopped = false;
  const from = new Date(Date.now() - 86_400_000).toISOString();
  const loop = async (operation: Parameters<Books['ask']>[1], fields: object) => {
    while (!stopped) expect((await books.ask(url, operation, { tokenUUID, ...fields })).status).toBe(200);
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

/** How long something takes to be so; Infinity when it takes too long. */
const until = async (isSo: () => boolean | Promise<boolean>, most = maxMilliseconds * 3): Promise<number> => {
  const began = performance.now();
  for (;;) {
    if (await isSo()) return performance.now() - began;
    if (performance.now() - began > most) return Number.POSITIVE_INFINITY;
    await wait(50);
  }
};

const eraseAll = async ({ name, server, served, books, persons }: Populated, patience?: number) => {
  const erase = (person: Person) =>
    books.ask(served.url, 'eraseContact', { tokenUUID: server, contactUUID: person.contactUUID });
  const find = (traces: readonly string[]) => findTraces(readFiles(folder, `${name}.db`), traces, served.log());
  /** Counted to when the files have been read that hold nothing any more; to search them takes its time as well. */
  const goneAfter = async (traces: readonly string[], most = maxMilliseconds * 3): Promise<number> => {
    for (const began = performance.now(); performance.now() - began < most; await wait(20)) {
      const files = readFiles(folder, `${name}.db`);
      const read = performance.now();
      if (findTraces(files, traces, served.log()).length === 0) return read - began;
    }
    return Number.POSITIVE_INFINITY;
  };
  const stopReading = readOn(books, served.url, server);
  const milliseconds: number[] = [];
  let eventsPerSecond = 0;
  for (const [nth, person] of persons.entries()) {
    // Where nothing is found before, nothing is proved after.
    expect(find(person.traces).map((each) => each.split(' ')[0])).toEqual(expect.arrayContaining([...person.traces]));
    const { status, body } = await erase(person);
    expect(status).toBe(200);
    const deleting = performance.now();
    const deleted = until(async () => {
      const { body: receipt } = await erase(person);
      return receipt.complete === true && receipt.erasedTime === body.erasedTime;
    });
    milliseconds.push(await goneAfter(person.traces, patience));
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
  books,
  persons,
}: Pick<Populated, 'served' | 'server' | 'books' | 'persons'>) => {
  const answers = new Set<string>();
  for (const person of persons) {
    for (const answer of await person.retry(served.url)) answers.add(answer);
    const { body } = await books.ask(served.url, 'searchContact', {
      tokenUUID: server,
      contactEmailaddress: person.address,
    });
    if (body.contact.length > 0) answers.add('revived');
  }
  return [...answers].sort();
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

/** Puts the backup in the place of the database, and serves it. */
const restore = async ({ name, path }: Populated, main?: string) => {
  copyFileSync(join(folder, `${name}-backup.db`), path);
  return start(path, main);
};

test('an erased contact is in no file and no log, whatever reads go on, and no retry and no backup brings it back', async (context) => {
  const populated = await populate('ours', counts);
  const { path, persons, books } = populated;
  const { milliseconds, eventsPerSecond, find } = await eraseAll(populated);
  expect(Math.max(...milliseconds)).toBeLessThan(maxMilliseconds);
  expect(eventsPerSecond).toBeGreaterThan(leastEventsPerSecond);
  const duplicatesBefore = books.counts.duplicates;
  expect(await retryAll(populated)).toEqual(['410', 'duplicate']);
  expect(find(everyTrace(persons))).toEqual([]);
  await stopServed(populated.served);
  expect(find(everyTrace(persons))).toEqual([]);
  expect(differences(books, path)).toEqual([]);
  expect(integrity(path)).toBe('ok');
  const contactUUIDs = persons.flatMap((person) => person.contactUUIDs);
  expect(find(contactUUIDs)).not.toEqual([]);
  forgetAudit(path);
  expect(find(contactUUIDs)).toEqual([]);

  const served = await restore(populated);
  const restored = { ...populated, served };
  const again = (traces: readonly string[]) =>
    findTraces(readFiles(folder, `${populated.name}.db`), traces, served.log());
  // To search so many files for so many texts takes longer than to erase.
  expect(await until(() => isComplete(path), 60_000)).toBeLessThan(60_000);
  expect(again(everyTrace(persons))).toEqual([]);
  expect(await retryAll(restored)).toEqual(['410', 'duplicate']);
  expect(again(everyTrace(persons))).toEqual([]);
  await stopServed(served);
  expect(integrity(path)).toBe('ok');
  forgetAudit(path);
  expect(again(contactUUIDs)).toEqual([]);

  const weakened = await weaken();
  const slowest = Math.round(Math.max(...milliseconds));
  const repeats = books.counts.duplicates - duplicatesBefore;
  report(context, {
    fault: 'erasure',
    count: `${persons.length} people among ${counts.bystanders} others, read without a pause; one with ${counts.events} events; each sent again, and again after a backup was restored`,
    result: `0 bytes found after ${Math.round(quantile(milliseconds, 0.5))} ms, at most ${slowest} ms; ${Math.round(eventsPerSecond)} events deleted a second; ${repeats} repeats and every createContact refused`,
    weakened,
  });
  console.info(`erased after at most ${slowest} ms; ${Math.round(eventsPerSecond)} events deleted a second`);
});

const weakenings = [
  { name: 'nothing overwritten, no record', changes: withoutOverwriting },
  { name: 'the log left as it is, and the unused space', changes: keepingLogAndUnusedSpace },
];

/** Each weakened server leaves something; answers what. */
const weaken = async (): Promise<string> => {
  const results: string[] = [];
  const few = times({ quick: 1, full: weakenings.length });
  for (const [nth, { name, changes }] of weakenings.slice(0, few).entries()) {
    const main = changeServer(folder, `weakened-${nth}`, changes);
    const populated = await populate(`weak-${nth}`, { people: 2, bystanders: 20, events: 5 }, main);
    const { find } = await eraseAll(populated, 50);
    const left = find(populated.persons.flatMap(({ traces }) => traces)).length;
    expect(left).toBeGreaterThan(0);
    results.push(`${name}: ${left} traces`);
    await stopServed(populated.served);
    if (nth > 0) continue;
    const served = await restore(populated, main);
    expect(await retryAll({ ...populated, served })).toContain('revived');
    await stopServed(served);
  }
  return results.join('; ');
};
