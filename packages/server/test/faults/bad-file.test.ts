import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import Database from '../../src/store/sqlite/database/better-sqlite3.ts';
import { createRandom, times } from '../tools/counts.ts';
import { freePort } from '../tools/ports.ts';
import { report } from '../tools/report.ts';
import { createTestAccount, EarlyExitError, startServerProcess, stopServerProcess } from '../tools/server-process.ts';
import { changeServer } from '../tools/weakened-server.ts';
import { replacingForeignFiles, withoutChecksums } from '../weaknesses/store.ts';
import { createLedger, readEverything } from './tools/ledger.ts';

const mutations = times({ quick: 10, full: 500 });

let folder: string;
let validFile: Buffer;
let token: string;
let acknowledged: ReadonlySet<string>;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'firsthand-bad-'));
  const path = join(folder, 'good.db');
  token = await createTestAccount(path);
  const served = await startServerProcess(path, await freePort());
  const ledger = createLedger(0);
  for (let sent = 0; sent < 300; sent += 1) await ledger.sendOne(served.url, token);
  acknowledged = ledger.acknowledged;
  await stopServerProcess(served);
  validFile = readFileSync(path);
});
afterAll(() => rmSync(folder, { recursive: true }));

const random = createRandom(815);
const below = (limit: number) => Math.floor(random() * limit);

/** Damages a copy of the file in a random way. */
const damage = (): { how: string; bytes: Buffer } => {
  const bytes = Buffer.from(validFile);
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

type Outcome = 'refused at startup' | 'reads refused' | 'served intact' | 'served altered';

interface Result {
  readonly outcome: Outcome;
  /** Whether the file was overwritten with a new, empty database. */
  readonly isReplaced: boolean;
}

let cases = 0;
const serveBad = async (bytes: Buffer, main?: string): Promise<Result> => {
  const home = join(folder, `case-${cases++}`);
  mkdirSync(home);
  const path = join(home, 'firsthand.db');
  writeFileSync(path, bytes);
  try {
    const served = await startServerProcess(path, await freePort(), { main });
    const heldKeys = await readEverything(served.url, token).catch((error: Error) => error);
    await stopServerProcess(served);
    const isReplaced = wasReplaced(bytes, path);
    if (heldKeys instanceof Error) return { outcome: 'reads refused', isReplaced };
    const whole = heldKeys.length === acknowledged.size && heldKeys.every((key) => acknowledged.has(key));
    return { outcome: whole ? 'served intact' : 'served altered', isReplaced };
  } catch (refusal) {
    if (!(refusal instanceof EarlyExitError)) throw refusal;
    // Retries if another process has taken the port in the meantime.
    if (refusal.complaints.includes('is already listening there')) return await serveBad(bytes, main);
    // The exit code is 1 if the server refused to start, and 70 if it started, then found damage that prevents serving.
    expect([1, 70], refusal.complaints).toContain(refusal.exitCode);
    expect(refusal.complaints).toMatch(/firsthand\.db|the store failed/);
    expect(refusal.complaints).not.toMatch(/^ {4}at /m);
    return { outcome: 'refused at startup', isReplaced: readFileSync(path).length < bytes.length };
  } finally {
    rmSync(home, { recursive: true });
  }
};

/** Whether a file with events lost all of them, or a file without events became an empty database. */
const wasReplaced = (before: Buffer, path: string): boolean => {
  const events = [...acknowledged]
    .map((key) => key.slice(key.indexOf(' ') + 1))
    .filter((eventUUID) => before.includes(eventUUID));
  if (events.length === 0) return isEmpty(path);
  const after = readFileSync(path);
  return !events.some((eventUUID) => after.includes(eventUUID));
};

/** Whether the file is a database without events and without tokens. */
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

/** Changes one character of a stored eventUUID. The file is otherwise valid. */
const changeEventUUID = (): Buffer => {
  const bytes = Buffer.from(validFile);
  const before = '"eventUUID":["';
  const place = bytes.indexOf(before);
  expect(place).toBeGreaterThan(0);
  return bytes.fill('X', place + before.length, place + before.length + 1);
};

test(`refuses a damaged file or serves its unaltered data, but never replaces it with an empty one, ${mutations} times`, async (context) => {
  const outcomes = new Map<string, number>();
  for (let nth = 0; nth < mutations; nth += 1) {
    const { how, bytes } = damage();
    const { outcome, isReplaced } = await serveBad(bytes);
    expect(isReplaced, how).toBe(false);
    expect(outcome, `${how}, damage ${nth}`).not.toBe('served altered');
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  }
  const cut = validFile.subarray(0, 50);
  const weakened = await serveBad(cut, changeServer(folder, 'afresh', replacingForeignFiles));
  expect(weakened.isReplaced).toBe(true);
  expect((await serveBad(changeEventUUID())).outcome).not.toBe('served altered');
  const unchecked = await serveBad(changeEventUUID(), changeServer(folder, 'believing', withoutChecksums));
  expect(unchecked.outcome).toBe('served altered');
  report(context, {
    fault: 'damaged data file',
    count: `${mutations} mutations and truncations`,
    result: `never replaced by an empty database; ${[...outcomes].map(([outcome, count]) => `${outcome} ${count}`).join(', ')}`,
    weakened: 'replaces a file that it cannot read: detected; compares no checksums: serves altered data',
  });
});

describe('the server', () => {
  const foreign: Record<string, (path: string) => void> = {
    'an empty file': (path) => writeFileSync(path, ''),
    'a text file': (path) => writeFileSync(path, 'Dear diary, '.repeat(1_000)),
    'another program’s database': (path) => {
      const db = new Database(path);
      db.exec('CREATE TABLE diary (entry TEXT); INSERT INTO diary VALUES (1)');
      db.close();
    },
    'a truncated database': (path) => writeFileSync(path, validFile.subarray(0, 1_000)),
  };
  for (const [name, write] of Object.entries(foreign)) {
    test(`refuses ${name} and leaves it unchanged`, async () => {
      const path = join(folder, `foreign-${cases++}.db`);
      write(path);
      const before = join(folder, 'before');
      copyFileSync(path, before);
      const start = startServerProcess(path, await freePort());
      await expect(start).rejects.toMatchObject({ exitCode: 1, complaints: expect.stringContaining(path) });
      expect(readFileSync(path)).toEqual(readFileSync(before));
    });
  }
});
