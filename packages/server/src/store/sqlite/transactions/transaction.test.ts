// Tests calls that share a commit in which one of them, or the disk, fails.
import { beforeEach, describe, expect, test } from 'vitest';
import { accountContact, newAccount, newContact, newEvent, newToken } from '../../../../test/fixtures/store.ts';
import { Refusal } from '../../../shared/refusal.ts';
import type { NewAccount } from '../../store.ts';
import type { Call } from '../calls.ts';
import type { Connection } from '../database/connection.ts';
import { openMemory } from '../database/memory.ts';
import { createReadEngine, createWriteEngine, type ReadEngine, type WriteEngine } from '../engine.ts';
import { createTransactions, type Outcome } from './transaction.ts';

let db: Connection;
let engine: WriteEngine;
let reads: ReadEngine;
let account: NewAccount;

beforeEach(() => {
  db = openMemory();
  engine = createWriteEngine(db);
  reads = createReadEngine(db);
  account = newAccount({ tokens: [newToken('server')] });
  engine.write([{ name: 'createAccount', request: account }]);
});

const caller = { account: 1, token: 1, browser: false };
const log = (eventUUID: string, length = 1): Call => ({
  name: 'logEvents',
  request: {
    ...caller,
    receivedTime: 0,
    events: [newEvent({ eventUUID, attributes: [['note', 'x'.repeat(length)]] })],
  },
});
const stored = { value: [{ kept: true }] };
const usage = async () => ((await reads({ name: 'getAccount', request: 1 })) as { usage: object }).usage;
const errorOf = (outcome: Outcome | undefined) => (outcome && 'error' in outcome ? outcome.error : undefined);

describe('calls that share a commit', () => {
  test('are isolated from a call that is refused', async () => {
    const refused = {
      name: 'linkUser',
      request: { account: 1, token: 1, userUUID: 'x', contactUUID: 'nobody', time: 0 },
    };
    const outcomes = engine.write([log('event-1'), refused, log('event-2')]);
    expect(outcomes).toEqual([stored, { error: expect.any(Refusal) }, stored]);
    expect(await usage()).toEqual({ contacts: 0, users: 1, events: 2 });
  });

  test('are isolated from a call that throws', async () => {
    const contact = { ...newContact({ userUUID: 'laptop-of-somebody', time: 0 }), ...caller, verified: true };
    const outcomes = engine.write([
      log('event-1'),
      { name: 'createAccount', request: account },
      { name: 'createContact', request: contact },
      log('event-1'),
    ]);
    expect(outcomes).toEqual([
      stored,
      { error: expect.objectContaining({ code: 'SQLITE_CONSTRAINT_UNIQUE' }) },
      { value: { exists: false, contactUUID: contact.newContactUUID } },
      { value: [{ kept: false, duplicate: true }] },
    ]);
    expect(await usage()).toEqual({ contacts: 1, users: 2, events: 1 });
  });

  test('completely roll back a call that throws halfway, but not a call with a refused part', async () => {
    db.exec(`CREATE TEMP TRIGGER fault BEFORE INSERT ON contact WHEN NEW.contactUUID = 'faulty'
      BEGIN SELECT RAISE(ABORT, 'broken'); END`);
    const contacts = ['whole', 'faulty'].map((newContactUUID) =>
      accountContact({ newContactUUID, address: `${newContactUUID}@example.com` }),
    );
    const request = newAccount({ accountName: 'Faulty', tokens: [newToken('server')], contacts });
    const outcomes = engine.write([{ name: 'createAccount', request }, log('event-1')]);
    expect(outcomes).toEqual([{ error: expect.objectContaining({ message: 'broken' }) }, stored]);
    expect(await reads({ name: 'listAccounts', request: undefined })).toMatchObject([{ account: 1 }]);
  });

  test('get no outcome when the state on disk is unknown', () => {
    const transactions = createTransactions(db, [], () => {});
    const failing = (code: string) => ({
      execute() {
        throw Object.assign(new Error(code), { code });
      },
      mayThrowRefusal: false,
    });
    // Checks that this also holds if the commit fails only when each call is retried alone.
    expect(() => transactions.run([failing('SQLITE_CONSTRAINT'), failing('SQLITE_IOERR_FSYNC')])).toThrow('IOERR');
    expect(() => transactions.run([failing('SQLITE_CORRUPT')])).toThrow('CORRUPT');
  });

  test('are refused while the disk is full and stored once there is space', async () => {
    db.pragma(`max_page_count = ${(db.pragma('page_count', { simple: true }) as number) + 3}`);
    const outcomes = engine.write([log('event-1'), log('event-2', 100_000)]);
    for (const outcome of outcomes) {
      expect(errorOf(outcome)).toBeInstanceOf(Refusal);
      expect(errorOf(outcome)).toMatchObject({ code: 'unavailable', retryAfterSeconds: expect.any(Number) });
    }
    expect(await usage()).toEqual({ contacts: 0, users: 0, events: 0 });
    db.pragma('max_page_count = 100000');
    expect(engine.write([log('event-1'), log('event-2', 100_000)])).toEqual([stored, stored]);
    expect(await usage()).toEqual({ contacts: 0, users: 1, events: 2 });
    expect(db.prepare('SELECT sequence FROM event ORDER BY sequence').pluck().all()).toEqual([1, 2]);
  });
});
