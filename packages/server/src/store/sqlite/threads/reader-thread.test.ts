import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openPort } from '../../../../test/fixtures/port.ts';
import { hour, newAccount, newEvent, newToken } from '../../../../test/fixtures/store.ts';
import { soon } from '../../../../test/fixtures/timeouts.ts';
import { openConnection } from '../database/connection.ts';
import { ensureFile } from '../database/file.ts';
import { createWriteEngine } from '../engine.ts';
import { start } from './reader-thread.ts';

let folder: string;
let path: string;
const account = newAccount({ tokens: [newToken('server')] });

/** Creates a database with an account and three events, each of a different kind. */
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'firsthand-'));
  path = join(folder, 'firsthand.db');
  ensureFile(path);
  const db = openConnection(path, 'write');
  const events = [1, 2, 3].map((eventID) => newEvent({ eventID, eventTime: 0 }));
  createWriteEngine(db).write([
    { name: 'createAccount', request: account },
    { name: 'logEvents', request: { account: 1, token: 1, browser: false, receivedTime: 0, events } },
  ]);
  db.close();
});
afterEach(() => rmSync(folder, { recursive: true }));

test('replies to each call with a value, a refusal or an error', async () => {
  const { port, send, replies } = openPort();
  start(port, path);
  const calls = [
    { name: 'findAccount', request: account.accountUUID },
    { name: 'getAccount', request: 2 },
    { name: 'no-such-call', request: null },
  ];
  send({ id: 7, calls });
  await vi.waitFor(() => expect(replies).toHaveLength(1), soon);
  const refusal = expect.objectContaining({
    code: 'unknown_account',
    field: 'accountUUID',
    message: expect.any(String),
  });
  const fault = expect.objectContaining({ message: 'unknown store operation: no-such-call' });
  expect(replies).toEqual([{ id: 7, outcomes: [{ value: 1 }, { error: refusal }, { error: fault }] }]);
  send('close');
});

test('replies to pending calls on close, then closes the database', async () => {
  const { port, send, replies, isClosed } = openPort();
  start(port, path);
  // Counts with one step for each kind of event.
  send({ id: 1, calls: [{ name: 'countEvents', request: { account: 1, edges: [0, hour], users: false } }] });
  send('close');
  expect(replies).toEqual([]);
  await vi.waitUntil(isClosed, soon);
  expect(replies).toEqual([{ id: 1, outcomes: [{ value: [{ events: 3 }] }] }]);
  // Checks that the thread has closed its connection: only the last open connection can do this.
  const db = openConnection(path, 'write');
  expect(db.pragma('journal_mode = DELETE', { simple: true })).toBe('delete');
  db.close();
});
