import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { openPort } from '../../../../test/fixtures/port.ts';
import { newAccount, newContact, newEvent, newToken } from '../../../../test/fixtures/store.ts';
import type { NewEvent } from '../../store.ts';
import type { Call } from '../calls.ts';
import { openConnection } from '../database/connection.ts';
import { ensureFile } from '../database/file.ts';
import { createReadEngine } from '../engine.ts';
import { start } from './writer-thread.ts';

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'firsthand-'));
  path = join(folder, 'firsthand.db');
  ensureFile(path);
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(folder, { recursive: true });
});

const caller = { account: 1, token: 1, browser: false };
const createAccount: Call = { name: 'createAccount', request: newAccount({ tokens: [newToken('server')] }) };
const log = (event: Partial<NewEvent>): Call => ({
  name: 'logEvents',
  request: { ...caller, receivedTime: 0, events: [newEvent(event)] },
});
const stored = { value: [{ kept: true }] };

/** Reads on another connection. */
const read = async (call: Call) => {
  const db = openConnection(path, 'read');
  try {
    return await createReadEngine(db)(call);
  } finally {
    db.close();
  }
};
const countEvents = async () => {
  const { usage } = (await read({ name: 'getAccount', request: 1 })) as { usage: { events: number } };
  return usage.events;
};

/** Overwrites all pages except the first while the database is open. */
const damage = () => {
  const bytes = readFileSync(path);
  writeFileSync(path, bytes.fill('damage', 4_096));
};

test('commits before it replies', async () => {
  const { port, send, replies, isClosed } = openPort();
  start(port, path);
  send({ id: 1, calls: [createAccount] });
  send({
    id: 2,
    calls: [log({ eventUUID: 'event-1' }), { name: 'no-such-call', request: null }, log({ eventUUID: 'event-1' })],
  });
  expect(replies).toEqual([
    { id: 1, outcomes: [{ value: [] }], seconds: expect.any(Number), statementSeconds: expect.any(Number) },
    {
      id: 2,
      outcomes: [
        stored,
        { error: expect.objectContaining({ message: 'unknown store operation: no-such-call' }) },
        { value: [{ kept: false, duplicate: true }] },
      ],
      seconds: expect.any(Number),
      statementSeconds: expect.any(Number),
    },
  ]);
  expect(await countEvents()).toBe(1);
  expect(isClosed()).toBe(false);
  send('close');
});

test('removes erased data while idle, even after it has been idle for a while', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const { port, send } = openPort();
  start(port, path);
  send({ id: 1, calls: [createAccount] });
  for (const userUUID of ['laptop-0123456789', 'phone-0123456789a']) {
    const contact = { ...newContact({ userUUID }), ...caller, verified: true };
    const erase: Call = { name: 'eraseContact', request: { account: 1, contactUUID: contact.newContactUUID, time: 0 } };
    send({ id: 2, calls: [{ name: 'createContact', request: contact }, log({ userUUID })] });
    send({ id: 3, calls: [erase] });
    expect(await countEvents()).toBe(1);
    vi.runAllTimers();
    expect(await countEvents()).toBe(0);
  }
  send('close');
});

test('closes the database on close, even if maintenance is due', () => {
  const { port, send, isClosed } = openPort();
  start(port, path);
  send({ id: 1, calls: [createAccount] });
  expect(existsSync(`${path}-wal`)).toBe(true);
  send('close');
  expect(isClosed()).toBe(true);
  expect(readdirSync(folder)).toEqual(['firsthand.db']);
});

describe('the writer thread when the state on disk is unknown', () => {
  // Fakes timers: a real thread would exit, and its timers with it.
  beforeEach(() => {
    vi.useFakeTimers();
  });

  test('exits at a write with the reason, and does not reply to any call', () => {
    const { port, send, replies, isClosed } = openPort();
    start(port, path);
    damage();
    expect(() => send({ id: 1, calls: [createAccount] })).toThrow('malformed');
    expect(replies).toEqual([{ fatal: 'database disk image is malformed' }]);
    expect(isClosed()).toBe(true);
  });

  test('exits during maintenance', () => {
    const { port, replies, isClosed } = openPort();
    start(port, path);
    damage();
    expect(() => vi.runOnlyPendingTimers()).toThrow('malformed');
    expect(replies).toEqual([{ fatal: 'database disk image is malformed' }]);
    expect(isClosed()).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
  });
});
