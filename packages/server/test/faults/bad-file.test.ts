import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import Database from '../../src/store/sqlite/database/better-sqlite3.ts';
import { createRandom, times } from '../tools/counts.ts';
import { freePort } from '../tools/ports.ts';
import { report } from '../tools/report.ts';
import { EndedEarly, makeAccount, startServed, stopServed } from '../tools/served.ts';
import { changeServer } from '../tools/weakened.ts';
import { replacingForeignFiles, withoutChecksums } from '../weaknesses/store.ts';
import { createLedger, readEverything } from './tools/ledger.ts';

const mutations = times({ quick: 16, full: 500 });

let folder: string;
let good: Buffer;
let token: string;
let known: ReadonlySet<string>;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'firsthand-bad-'));
  const path = join(folder, 'good.db');
  token = await makeAccount(path);
  const served = await startServed(path, await freePort());
  const ledger = createLedger(0);
  for (let sent = 0; sent < 300; sent += 1) await ledger.sendOne(served.url, token);
  known = ledger.acknowledged;
  await stopServed(served);
  good = readFileSync(path);
});
afterAll(() => rmSync(folder, { recursive: true }));

const random = createRandom(815);
const below = (most: number) => Math.floor(random() * most);

/** One of the ways in which files go bad. */
const damage = (): { how: string; bytes: Buffer } => {
  const bytes = Buffer.from(good);
  const kind = below(5);
  if (kind === 0) return { how: 'cut off', bytes: bytes.subarray(0, 1 + below(bytes.length - 1)) };
  if (kind === 1) {
    const at = below(bytes.length);
    bytes.writeUInt8(below(256), at);
    return { how: 'a byte changed', bytes };
  }
  if (kind === 2) {
    for (let at = 0; at < 100; at += 1) bytes.writeUInt8(below(256), below(bytes.length));
    return { how: '100 bytes changed', bytes };
  }
  const at = below(bytes.length / 512) * 512;
  if (kind === 3) return { how: 'a sector of zeros', bytes: bytes.fill(0, at, at + 512) };
  for (let offset = 0; offset < 4096; offset += 1) bytes.writeUInt8(below(256), (at + offset) % bytes.length);
  return { how: 'a page of noise', bytes };
};

type Outcome = 'refused at the start' | 'refused when asked' | 'served whole' | 'served changed';

interface Found {
  readonly outcome: Outcome;
  /** What was there was overwritten by something new and empty. */
  readonly afresh: boolean;
}

let cases = 0;
const serveBad = async (bytes: Buffer, main?: string): Promise<Found> => {
  const home = join(folder, `case-${cases++}`);
  mkdirSync(home);
  const path = join(home, 'firsthand.db');
  writeFileSync(path, bytes);
  try {
    const served = await startServed(path, await freePort(), { main });
    const held = await readEverything(served.url, token).catch((error: Error) => error);
    await stopServed(served);
    const afresh = isAfresh(bytes, path);
    if (held instanceof Error) return { outcome: 'refused when asked', afresh };
    const whole = held.length === known.size && held.every((key) => known.has(key));
    return { outcome: whole ? 'served whole' : 'served changed', afresh };
  } catch (refusal) {
    if (!(refusal instanceof EndedEarly)) throw refusal;
    // Somebody else has taken the port that was free.
    if (refusal.complaints.includes('listens there already')) return await serveBad(bytes, main);
    // 1: it would not begin. 70: what it found when it had begun is nothing to go on with.
    expect([1, 70], refusal.complaints).toContain(refusal.exitCode);
    expect(refusal.complaints).toMatch(/firsthand\.db|the store has failed/);
    expect(refusal.complaints).not.toMatch(/^ {4}at /m);
    return { outcome: 'refused at the start', afresh: readFileSync(path).length < bytes.length };
  } finally {
    rmSync(home, { recursive: true });
  }
};

/** What held events of ours holds none of them any more; what held none is a database now, with nothing in it. */
const isAfresh = (before: Buffer, path: string): boolean => {
  const events = [...known]
    .map((key) => key.slice(key.indexOf(' ') + 1))
    .filter((eventUUID) => before.includes(eventUUID));
  if (events.length === 0) return isEmpty(path);
  const after = readFileSync(path);
  return !events.some((eventUUID) => after.includes(eventUUID));
};

/** Has neither events nor tokens. */
const isEmpty = (path: string): boolean => {
  const db = new Database(path, { readonly: true });
  try {
    return db.prepare('SELECT (SELECT count(*) FROM token) + (SELECT count(*) FROM event)').pluck().get() === 0;
  } catch {
    return false;
  } finally {
    db.close();
  }
};

/** An event has another eventUUID than the one that was sent, and nothing else is wrong. */
const withAnotherEvent = (): Buffer => {
  const bytes = Buffer.from(good);
  const before = '"eventUUID":["';
  const place = bytes.indexOf(before);
  expect(place).toBeGreaterThan(0);
  return bytes.fill('X', place + before.length, place + before.length + 1);
};

test(`refuses a damaged file or serves it as it was, and never begins afresh, through ${mutations} damages`, async (context) => {
  const outcomes = new Map<string, number>();
  for (let nth = 0; nth < mutations; nth += 1) {
    const { how, bytes } = damage();
    const { outcome, afresh } = await serveBad(bytes);
    expect(afresh, how).toBe(false);
    expect(outcome, `${how}, damage ${nth}`).not.toBe('served changed');
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  }
  const cut = good.subarray(0, 50);
  const weakened = await serveBad(cut, changeServer(folder, 'afresh', replacingForeignFiles));
  expect(weakened.afresh).toBe(true);
  expect((await serveBad(withAnotherEvent())).outcome).not.toBe('served changed');
  const believed = await serveBad(withAnotherEvent(), changeServer(folder, 'believing', withoutChecksums));
  expect(believed.outcome).toBe('served changed');
  report(context, {
    fault: 'bad file',
    count: `${mutations} mutations and truncations`,
    result: `never begun afresh; ${[...outcomes].map(([outcome, count]) => `${outcome} ${count}`).join(', ')}`,
    weakened: 'starts afresh over what it cannot read: found out; asks for no checksum: served changed',
  });
});

describe('refuses, and leaves as it is,', () => {
  const foreign: Record<string, (path: string) => void> = {
    'an empty file': (path) => writeFileSync(path, ''),
    'a text': (path) => writeFileSync(path, 'Dear diary, '.repeat(1_000)),
    'another program’s database': (path) => {
      const db = new Database(path);
      db.exec('CREATE TABLE diary (entry TEXT); INSERT INTO diary VALUES (1)');
      db.close();
    },
    'the beginning of a database': (path) => writeFileSync(path, good.subarray(0, 1_000)),
  };
  for (const [name, make] of Object.entries(foreign)) {
    test(name, async () => {
      const path = join(folder, `foreign-${cases++}.db`);
      make(path);
      const before = join(folder, 'before');
      copyFileSync(path, before);
      const start = startServed(path, await freePort());
      await expect(start).rejects.toMatchObject({ exitCode: 1, complaints: expect.stringContaining(path) });
      expect(readFileSync(path)).toEqual(readFileSync(before));
    });
  }
});
