import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { newAccount, newContact, newEvent, newToken } from '../../../../test/fixtures/store.ts';
import { backupDatabase } from '../database/backup.ts';
import { type Connection, openConnection } from '../database/connection.ts';
import { ensureFile } from '../database/file.ts';
import { openMemory } from '../database/memory.ts';
import { createReadEngine, createWriteEngine, type WriteEngine } from '../engine.ts';
import { createEraseContact } from './erase-contact.ts';

vi.mock('node:fs', { spy: true });

let folder: string;
let path: string;
let db: Connection;
let engine: WriteEngine;
/** A backup that is older than the account. */
let empty: string;

const caller = { account: 1, token: 1, browser: false };

const open = () => {
  db = openConnection(path, 'serve');
  engine = createWriteEngine(db);
};
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'firsthand-'));
  path = join(folder, 'firsthand.db');
  ensureFile(path);
  open();
  empty = backUp();
  write('createAccount', newAccount({ tokens: [newToken('server')] }));
});
afterEach(() => {
  db.close();
  rmSync(folder, { recursive: true });
});

const write = (name: string, request: object) => {
  const [outcome] = engine.write([{ name, request }]);
  if (outcome && 'value' in outcome) return outcome.value;
  throw outcome?.error;
};
const create = (name: string, requestUUID: string | null = null) => {
  const address = `${name}@example.com`;
  const userUUID = `browser-of-${name}`;
  const contact = { ...newContact({ userUUID, address, requestUUID }), ...caller, verified: true };
  return (write('createContact', contact) as { contactUUID: string }).contactUUID;
};
const log = (name: string) =>
  write('logEvents', { ...caller, receivedTime: 0, events: [newEvent({ userUUID: `browser-of-${name}` })] });
const erase = (contactUUID: string) => write('eraseContact', { account: 1, contactUUID, time: 5 });
const finish = () => {
  while (engine.maintain() !== null);
};
const read = (name: string, request: unknown) => createReadEngine(db)({ name, request });
const events = async () =>
  ((await read('getEvents', { account: 1, order: 'asc', limit: 100 })) as { events: unknown[] }).events.length;

const backUp = () => {
  const file = join(folder, `backup-${readdirSync(folder).length}.db`);
  backupDatabase(path, file);
  return file;
};
/** Restores a backup manually: stops the server and replaces the file. */
const restore = (backup: string) => {
  db.close();
  copyFileSync(backup, path);
  open();
};

test('repeats the erasures that are missing in a restored backup, and erases nothing else', async () => {
  const ann = create('ann');
  const ben = create('ben');
  const cleo = create('cleo');
  for (const name of ['ann', 'ben', 'cleo']) log(name);
  // The two contacts are merged at the time of the backup, but no longer when one of them is erased.
  write('mergeContact', { account: 1, contactUUID: ann, otherContactUUID: cleo, time: 1 });
  const backup = backUp();
  write('unmergeContact', { account: 1, otherContactUUID: cleo, time: 0 });
  erase(ann);
  finish();

  restore(backup);
  engine.eraseAgain();
  await expect(read('getContact', { ...caller, contactUUID: ann, include: [] })).rejects.toMatchObject({
    code: 'erased_contact',
  });
  for (const contactUUID of [ben, cleo]) {
    expect(await read('getContact', { ...caller, contactUUID, include: [] })).toMatchObject({ contactUUID });
  }
  expect(await events()).toBe(2);
  finish();
  expect(erase(ann)).toMatchObject({ erasedTime: 5, deletedEvents: 1, complete: true });
  expect(readFileSync(path).includes('ann@example.com')).toBe(false);
  expect(readFileSync(path).includes('cleo@example.com')).toBe(true);
});

test('keeps what the original erasure kept because it was only claimed', async () => {
  // Ann's browser has claimed this value, and the server has written it to the contact of Ben's browser.
  const claimed = { userUUID: 'browser-of-ann', address: 'ben@example.com' };
  write('createContact', { ...newContact(claimed), ...caller, browser: true, verified: false });
  const ben = create('ben');
  log('ann');
  log('ben');
  const backup = backUp();
  write('eraseContact', { account: 1, contactUUID: ben, verifiedOnly: true, time: 5 });
  finish();
  expect(await events()).toBe(1);

  restore(backup);
  expect(await events()).toBe(2);
  engine.eraseAgain();
  finish();
  expect(await events()).toBe(1);
});

test('recognizes an erased contact that the backup never had, and refuses a late retry', async () => {
  const backup = backUp();
  const ann = create('ann', 'request-of-ann');
  erase(ann);
  restore(backup);
  engine.eraseAgain();
  await expect(read('getContact', { ...caller, contactUUID: ann, include: [] })).rejects.toMatchObject({
    code: 'erased_contact',
  });
  expect(() => create('ann', 'request-of-ann')).toThrow(expect.objectContaining({ code: 'erased_contact' }));
  expect(create('ann')).not.toBe(ann);
});

test('refuses all retried requests for an erased contact on a backup, even after an immediate kill', async () => {
  const users = 60;
  const claim = (nth: number) => {
    const sent = { userUUID: `visitor-number-${nth}`, requestUUID: `request-${nth}`, newHandle: `handle-${nth}` };
    const contact = {
      ...newContact({ ...sent, address: 'ann@example.com' }),
      ...caller,
      browser: true,
      verified: false,
    };
    return write('createContact', contact);
  };
  const claimAll = (from: number, to: number) => {
    for (let nth = from; nth < to; nth += 1) claim(nth);
  };
  const backups = [backUp()];
  const ann = create('ann', 'request-of-ann');
  claimAll(0, users / 2);
  backups.push(backUp());
  claimAll(users / 2, users);
  const eraseContact = createEraseContact(async ({ name, request }) => {
    const result = write(name, request as object);
    engine.maintain();
    return result;
  });
  await eraseContact({ account: 1, contactUUID: ann, time: 5 });
  const erased = expect.objectContaining({ code: 'erased_contact' });
  for (const backup of backups) {
    const record = readFileSync(`${path}-erased`);
    restore(backup);
    engine.eraseAgain();
    expect(() => create('ann', 'request-of-ann')).toThrow(erased);
    for (let nth = 0; nth < users; nth += 1) {
      expect(() => claim(nth)).toThrow(erased);
      const query = { ...caller, browser: true, contactUUID: `handle-${nth}`, include: [] };
      await expect(read('getContact', query)).rejects.toEqual(erased);
    }
    expect(readFileSync(`${path}-erased`)).toEqual(record);
  }
});

test('restores a lost or truncated record, which contains no names', () => {
  const ann = create('ann', 'request-of-ann');
  erase(ann);
  const record = readFileSync(`${path}-erased`, 'utf8');
  expect(record).not.toMatch(/ann/i);
  expect(record).not.toContain(ann);
  const lines = (text: string) => text.split('\n').filter(Boolean).sort();
  for (const left of ['', record.slice(0, 20), record.slice(0, -20)]) {
    writeFileSync(`${path}-erased`, left);
    engine.eraseAgain();
    expect(lines(readFileSync(`${path}-erased`, 'utf8'))).toEqual(expect.arrayContaining(lines(record)));
  }
  rmSync(`${path}-erased`);
  engine.eraseAgain();
  expect(lines(readFileSync(`${path}-erased`, 'utf8'))).toEqual(lines(record));
});

test('refuses to start with another database’s record', () => {
  writeFileSync(`${path}-erased`, `erased from ${'0'.repeat(64)}\n`);
  expect(() => engine.eraseAgain()).toThrow(/is the record of erasures of another database: move it away/);
});

test('starts with a backup that is older than the account, and has nothing to erase', async () => {
  erase(create('ann'));
  restore(empty);
  engine.eraseAgain();
  expect(await read('listAccounts', undefined)).toEqual([]);
});

test('refuses to start if an erasure cannot be repeated', () => {
  const ann = create('ann');
  const backup = backUp();
  erase(ann);
  restore(backup);
  db.exec(`CREATE TEMP TRIGGER fault BEFORE UPDATE ON contact BEGIN SELECT RAISE(ABORT, 'broken'); END`);
  expect(() => engine.eraseAgain()).toThrow('broken');
});

test('acknowledges no erasure that cannot be recorded because the disk is full, but stores the rest of the commit', async () => {
  const ann = create('ann');
  vi.mocked(writeSync).mockImplementationOnce(() => {
    throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
  });
  const outcomes = engine.write([
    { name: 'eraseContact', request: { account: 1, contactUUID: ann, time: 5 } },
    { name: 'logEvents', request: { ...caller, receivedTime: 0, events: [newEvent()] } },
  ]);
  expect(outcomes).toEqual([
    { error: expect.objectContaining({ code: 'unavailable', retryAfterSeconds: 5 }) },
    { value: [{ kept: true }] },
  ]);
  // Expects that the contact is already hidden from reads.
  await expect(read('getContact', { ...caller, contactUUID: ann, include: [] })).rejects.toThrow();
  expect(readFileSync(`${path}-erased`, 'utf8')).toBe('');
  expect(erase(ann)).toMatchObject({ contactUUID: ann, erasedTime: 5 });
  const [, ...lines] = readFileSync(`${path}-erased`, 'utf8').split('\n').filter(Boolean);
  expect(lines.length).toBeGreaterThan(0);
});

test('records an erasure once there is disk space, even if the request is not repeated', () => {
  const ann = create('ann', 'request-of-ann');
  for (let times = 0; times < 2; times += 1) {
    vi.mocked(writeSync).mockImplementationOnce(() => {
      throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    });
  }
  expect(() => erase(ann)).toThrow(expect.objectContaining({ code: 'unavailable' }));
  expect(engine.maintain()).toBeGreaterThanOrEqual(0);
  expect(readFileSync(`${path}-erased`, 'utf8')).toBe('');
  finish();
  expect(readFileSync(`${path}-erased`, 'utf8').split('\n').filter(Boolean)).toHaveLength(3);
});

test('throws if the record cannot be written', () => {
  const ann = create('ann');
  mkdirSync(`${path}-erased`);
  expect(() => erase(ann)).toThrow('EISDIR');
});

test('erases without a record in memory', () => {
  const inMemory = openMemory();
  const other = createWriteEngine(inMemory);
  other.eraseAgain();
  const contact = { ...newContact(), ...caller, verified: true };
  const [, , erased] = other.write([
    { name: 'createAccount', request: newAccount({ tokens: [newToken('server')] }) },
    { name: 'createContact', request: contact },
    { name: 'eraseContact', request: { account: 1, contactUUID: contact.newContactUUID, time: 0 } },
  ]);
  expect(erased).toMatchObject({ value: {} });
  inMemory.close();
});
