import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { newAccount, newContact, newEvent, newToken } from '../../../test/fixtures/store.ts';
import { type Connection, openConnection } from './connection.ts';
import { createWriteEngine, type WriteEngine } from './engine.ts';
import { ensureFile } from './file.ts';

let folder: string;
let path: string;
let db: Connection;
let engine: WriteEngine;

const asker = { account: 1, token: 1, browser: false };
const events = () => db.prepare('SELECT count(*) FROM event').pluck().get();

/** With a contact that is erased, and an event of its that is still to be deleted. */
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'firsthand-'));
  path = join(folder, 'firsthand.db');
  ensureFile(path);
  db = openConnection(path, 'serve');
  engine = createWriteEngine(db);
  const contact = { ...newContact({ userUUID: 'laptop-0123456789' }), ...asker, verified: true };
  engine.write([
    { name: 'createAccount', request: newAccount({ tokens: [newToken('server')] }) },
    { name: 'createContact', request: contact },
    { name: 'logEvents', request: { ...asker, receivedTime: 0, events: [newEvent({ userUUID: contact.userUUID })] } },
  ]);
  engine.write([{ name: 'eraseContact', request: { account: 1, contactUUID: contact.newContactUUID, time: 0 } }]);
  expect(events()).toBe(1);
});
afterEach(() => {
  db.close();
  rmSync(folder, { recursive: true });
});

test('what cannot be deleted now is deleted later', () => {
  db.pragma('busy_timeout = 0');
  const other = openConnection(path, 'write');
  other.exec('BEGIN IMMEDIATE');
  try {
    expect(engine.tidy()).toBeGreaterThan(0);
    db.pragma('busy_timeout = 0');
    expect(engine.tidy()).toBeGreaterThan(0);
  } finally {
    other.close();
  }
  for (let step = 0; events() !== 0 && step < 10; step += 1) expect(engine.tidy()).not.toBeNull();
  expect(events()).toBe(0);
});

test('a fault in the background is not passed over', () => {
  db.exec(`CREATE TEMP TRIGGER fault BEFORE DELETE ON event_block BEGIN SELECT RAISE(ABORT, 'broken'); END`);
  expect(() => {
    for (let step = 0; step < 10; step += 1) engine.tidy();
  }).toThrow('broken');
});
