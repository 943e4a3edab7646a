import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { newAccount, newContact, newEvent, newToken } from '../../../../test/fixtures/store.ts';
import { Refusal } from '../../../shared/refusal.ts';
import { type Connection, openConnection } from '../database/connection.ts';
import { ensureFile } from '../database/file.ts';
import { createWriteEngine, type WriteEngine } from '../engine.ts';
import { createMaintenance, type MaintenanceParts } from './maintenance.ts';

let folder: string;
let path: string;
let db: Connection;
let engine: WriteEngine;

const caller = { account: 1, token: 1, browser: false };
const events = () => db.prepare('SELECT count(*) FROM event').pluck().get();

/** Creates an erased contact with an event that is not deleted yet. */
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'firsthand-'));
  path = join(folder, 'firsthand.db');
  ensureFile(path);
  db = openConnection(path, 'serve');
  engine = createWriteEngine(db);
  const contact = { ...newContact({ userUUID: 'laptop-0123456789' }), ...caller, verified: true };
  engine.write([
    { name: 'createAccount', request: newAccount({ tokens: [newToken('server')] }) },
    { name: 'createContact', request: contact },
    { name: 'logEvents', request: { ...caller, receivedTime: 0, events: [newEvent({ userUUID: contact.userUUID })] } },
  ]);
  engine.write([{ name: 'eraseContact', request: { account: 1, contactUUID: contact.newContactUUID, time: 0 } }]);
  expect(events()).toBe(1);
});
afterEach(() => {
  db.close();
  rmSync(folder, { recursive: true });
});

test('retries a deletion that failed because the database was locked', () => {
  db.pragma('busy_timeout = 0');
  const other = openConnection(path, 'write');
  other.exec('BEGIN IMMEDIATE');
  try {
    expect(engine.maintain()).toBeGreaterThan(0);
    db.pragma('busy_timeout = 0');
    expect(engine.maintain()).toBeGreaterThan(0);
  } finally {
    other.close();
  }
  for (let step = 0; events() !== 0 && step < 10; step += 1) expect(engine.maintain()).not.toBeNull();
  expect(events()).toBe(0);
});

test('completes a previous server’s erasures', () => {
  db.close();
  db = openConnection(path, 'serve');
  engine = createWriteEngine(db);
  while (engine.maintain() !== null);
  expect(events()).toBe(0);
  expect(db.prepare('SELECT complete FROM erasure').pluck().get()).toBe(1);
});

test('throws unexpected errors', () => {
  db.exec(`CREATE TEMP TRIGGER fault BEFORE DELETE ON event_block BEGIN SELECT RAISE(ABORT, 'broken'); END`);
  expect(() => {
    for (let step = 0; step < 10; step += 1) engine.maintain();
  }).toThrow('broken');
});

describe('a step', () => {
  const idleErasures = {
    isErasing: () => false,
    detachSome: () => false,
    continueErasures: () => false,
    completeErasures: () => {},
  };
  /**
   * Creates a function that runs transactions, which fail if the next entry in `busy` is true, as if another process
   * had locked the database.
   */
  const runUnless = (busy: boolean[]): MaintenanceParts['transactions'] => ({
    runAlone(work) {
      if (busy.shift()) throw new Refusal('unavailable');
      return work();
    },
  });
  /** Creates maintenance whose parts have nothing to do by default. */
  const createIdle = (parts: Partial<MaintenanceParts>) =>
    createMaintenance({
      transactions: { runAlone: (work) => work() },
      contactIndex: { pause: () => null, step: () => 0 },
      writeAheadLog: { holdsErased: () => {}, mayHoldErased: () => false, maintain: () => null },
      unusedSpace: { begin: () => {}, step: () => null },
      erasures: idleErasures,
      indexing: {
        isDue: () => false,
        behind: () => 0,
        step: () => false,
        written: () => 0,
        writtenBytes: () => 0,
      },
      day: () => 0,
      forgetRepeats: () => false,
      ...parts,
    });

  test('returns no pause while there are pages to clear, and deletes no repeats in the meantime', () => {
    const pauses = [0, 0, null];
    const forgetRepeats = vi.fn(() => false);
    const { step } = createIdle({
      unusedSpace: { begin: () => {}, step: () => pauses.shift() as number | null },
      forgetRepeats,
    });
    expect([step(), step()]).toEqual([0, 0]);
    expect(forgetRepeats).not.toHaveBeenCalled();
    expect(step()).toBeNull();
    expect(forgetRepeats).toHaveBeenCalledOnce();
  });

  test('deletes as many repeats as events were stored since the last step, within limits', () => {
    let written = 0;
    const forgetRepeats = vi.fn((_most: number) => true);
    const { step } = createIdle({
      indexing: {
        isDue: () => false,
        behind: () => 0,
        step: () => false,
        written: () => written,
        writtenBytes: () => 0,
      },
      forgetRepeats,
    });
    for (const stored of [1_000_000, 3_000, 1_000_000, 1]) {
      written += stored;
      step();
    }
    expect(forgetRepeats.mock.calls.flat()).toEqual([1_000, 3_000, 4_000, 1_000]);
  });

  test('completes an erasure later if the database is locked', () => {
    const completeErasures = vi.fn();
    // When the erasure is completed, another process has locked the database.
    const busy = [false, true, false, false];
    const { step } = createIdle({
      erasures: { ...idleErasures, isErasing: () => true, completeErasures },
      transactions: runUnless(busy),
    });
    expect(step()).toBeGreaterThan(0);
    expect(completeErasures).not.toHaveBeenCalled();
    expect(step()).toBeNull();
    expect(completeErasures).toHaveBeenCalledOnce();
  });

  test('catches up between writes only with a backlog, and retries compaction later if the database is locked', () => {
    let behind = 0;
    const more = [true, false];
    const arrange = vi.fn(() => more.shift() as boolean);
    const busy: boolean[] = [];
    const pauses: (number | null)[] = [];
    const { step, catchUp } = createIdle({
      indexing: {
        isDue: () => true,
        behind: () => behind,
        step: arrange,
        written: () => 0,
        writtenBytes: () => 0,
      },
      unusedSpace: { begin: () => {}, step: () => pauses.shift() ?? null },
      transactions: runUnless(busy),
    });
    expect(catchUp()).toBe(false);
    expect(arrange).not.toHaveBeenCalled();
    behind = 1;
    expect([catchUp(), catchUp()]).toEqual([true, false]);
    busy.push(true);
    expect(catchUp()).toBe(false);
    busy.push(true);
    const pause = step() as number;
    expect(pause).toBeGreaterThan(0);
    busy.push(true);
    pauses.push(10);
    expect(step()).toBe(10);
    busy.push(true);
    pauses.push(2 * pause);
    expect(step()).toBe(pause);
  });

  test('catches up in proportion to the stored bytes and the backlog', () => {
    let behind = 0.1;
    let writtenBytes = 1_000_000;
    const arrange = vi.fn(() => true);
    const { catchUp } = createIdle({
      indexing: {
        isDue: () => true,
        behind: () => behind,
        step: arrange,
        written: () => 0,
        writtenBytes: () => writtenBytes,
      },
    });
    writtenBytes += 5.5 * 16 * 1024;
    expect(catchUp()).toBe(true);
    expect(arrange).toHaveBeenCalledTimes(7);
    catchUp();
    expect(arrange).toHaveBeenCalledTimes(8);
    behind = 2;
    writtenBytes += 5.5 * 16 * 1024;
    catchUp();
    expect(arrange).toHaveBeenCalledTimes(25);
  });
});
