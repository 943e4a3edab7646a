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

const asker = { account: 1, token: 1, browser: false };
const createAccount: Call = { name: 'createAccount', request: newAccount({ tokens: [newToken('server')] }) };
const log = (event: Partial<NewEvent>): Call => ({
  name: 'logEvents',
  request: { ...asker, receivedTime: 0, events: [newEvent(event)] },
});
const kept = { value: [{ kept: true }] };

/** What another connection reads meanwhile. */
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

/** Overwrites all but the first page, while the database is open. */
const damage = () => {
  const bytes = readFileSync(path);
  writeFileSync(path, bytes.fill('damage', 4_096));
};

test('what it answers is committed', async () => {
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
        kept,
        { error: expect.objectContaining({ message: 'the store has no operation no-such-call here' }) },
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

test('what was erased goes while nothing is asked, and after a rest as well', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const { port, send } = openPort();
  start(port, path);
  send({ id: 1, calls: [createAccount] });
  for (const userUUID of ['laptop-0123456789', 'phone-0123456789a']) {
    const contact = { ...newContact({ userUUID }), ...asker, verified: true };
    const erase: Call = { name: 'eraseContact', request: { account: 1, contactUUID: contact.newContactUUID, time: 0 } };
    send({ id: 2, calls: [{ name: 'createContact', request: contact }, log({ userUUID })] });
    send({ id: 3, calls: [erase] });
    expect(await countEvents()).toBe(1);
    vi.runAllTimers();
    expect(await countEvents()).toBe(0);
  }
  send('close');
});

test('closed, it lets go of the database, whatever there is to tidy up', () => {
  const { port, send, isClosed } = openPort();
  start(port, path);
  send({ id: 1, calls: [createAccount] });
  expect(existsSync(`${path}-wal`)).toBe(true);
  send('close');
  expect(isClosed()).toBe(true);
  expect(readdirSync(folder)).toEqual(['firsthand.db']);
});

describe('when it can no longer be known what is on the disk', () => {
  // The thread is gone after that, its timers with it.
  beforeEach(() => {
    vi.useFakeTimers();
  });

  test('it ends at a write, says why, and answers no call', () => {
    const { port, send, replies, isClosed } = openPort();
    start(port, path);
    damage();
    expect(() => send({ id: 1, calls: [createAccount] })).toThrow('malformed');
    expect(replies).toEqual([{ fatal: 'database disk image is malformed' }]);
    expect(isClosed()).toBe(true);
  });

  test('it ends as well while it tidies up', () => {
    const { port, replies, isClosed } = openPort();
    start(port, path);
    damage();
    expect(() => vi.runOnlyPendingTimers()).toThrow('malformed');
    expect(replies).toEqual([{ fatal: 'database disk image is malformed' }]);
    expect(isClosed()).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
  });
});
