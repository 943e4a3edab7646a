import { beforeEach, expect, test } from 'vitest';
import { laptop, newAccount, newContact, newEvent, newToken, phone, tablet } from '../../../../test/fixtures/store.ts';
import type { EventPage, NewEvent } from '../../store.ts';
import type { Call } from '../calls.ts';
import type { Connection } from '../database/connection.ts';
import { openMemory } from '../database/memory.ts';
import { createReadEngine, createWriteEngine, type WriteEngine } from '../engine.ts';

let db: Connection;
let engine: WriteEngine;

beforeEach(() => {
  db = openMemory();
  engine = createWriteEngine(db);
  engine.write([{ name: 'createAccount', request: newAccount({ tokens: [newToken('server')] }) }]);
});

const log = (...events: Partial<NewEvent>[]): Call => ({
  name: 'logEvents',
  request: { account: 1, token: 1, browser: false, receivedTime: 0, events: events.map(newEvent) },
});
const events = async () => {
  const page = await createReadEngine(db)({ name: 'getEvents', request: { account: 1, order: 'asc', limit: 100 } });
  return (page as EventPage).events.map(({ eventUUID }) => eventUUID);
};
const stored = { kept: true };

test('rolls back only a failed event’s batch, not the rest of the commit', async () => {
  db.exec(`
    CREATE TEMP TRIGGER fault BEFORE INSERT ON user WHEN NEW.userUUID = '${tablet}'
    BEGIN SELECT RAISE(ABORT, 'broken'); END`);
  const outcomes = engine.write([
    log({ eventUUID: 'event-before' }),
    log({ eventUUID: 'event-beside', userUUID: phone }, { eventUUID: 'event-at-fault', userUUID: tablet }),
    log({ eventUUID: 'event-after' }),
  ]);
  expect(outcomes).toEqual([
    { value: [stored] },
    { error: expect.objectContaining({ message: 'broken' }) },
    { value: [stored] },
  ]);
  expect(await events()).toEqual(['event-before', 'event-after']);
  // Sends the event again: it and its user are new, because the rollback left nothing in memory.
  db.exec('DROP TRIGGER fault');
  expect(
    engine.write([
      log({ eventUUID: 'event-beside', userUUID: phone }, { eventUUID: 'event-at-fault', userUUID: tablet }),
    ]),
  ).toEqual([{ value: [stored, stored] }]);
  expect(await events()).toEqual(['event-before', 'event-after', 'event-beside', 'event-at-fault']);
});

test('stores a commit once if it is resent after the disk was full', async () => {
  const calls = [log({ eventUUID: 'event-1', userUUID: laptop }), log({ eventUUID: 'event-2', userUUID: laptop })];
  const pages = db.pragma('page_count', { simple: true }) as number;
  engine.write([log({ eventUUID: 'event-0', userUUID: laptop })]);
  db.pragma(`max_page_count = ${pages}`);
  const long = log({ eventUUID: 'event-long', attributes: [['text', 'x'.repeat(1_000_000)]] });
  expect(engine.write([...calls, long])).toEqual(
    [1, 2, 3].map(() => ({ error: expect.objectContaining({ code: 'unavailable' }) })),
  );
  expect(await events()).toEqual(['event-0']);
  db.pragma('max_page_count = 1000000');
  expect(engine.write([...calls, long, ...calls])).toEqual([
    ...[1, 2, 3].map(() => ({ value: [stored] })),
    ...[1, 2].map(() => ({ value: [{ kept: false, duplicate: true }] })),
  ]);
  expect(await events()).toEqual(['event-0', 'event-1', 'event-2', 'event-long']);
});

test('recognizes a stored event as a repeat, even if its account would refuse it now', () => {
  const contact = { ...newContact({ userUUID: laptop }), account: 1, token: 1, browser: false, verified: true };
  engine.write([{ name: 'createContact', request: contact }]);
  const ofUser = { userUUID: laptop, eventUUID: 'event-of-a-user' };
  const ofContact = { userUUID: null, contactUUID: contact.newContactUUID, eventUUID: 'event-of-a-contact' };
  expect(engine.write([log(ofUser, ofContact)])).toEqual([{ value: [stored, stored] }]);
  // Makes the account strict, with an empty catalogue.
  db.exec('UPDATE account SET strict = 1; DELETE FROM catalogue');
  engine = createWriteEngine(db);
  const duplicate = { kept: false, duplicate: true };
  const refused = expect.objectContaining({ kept: false, refused: 'unknown_id', field: 'eventID' });
  expect(
    engine.write([
      log(ofUser, ofContact, { userUUID: laptop }, { ...ofContact, eventUUID: 'event-of-today' }, { userUUID: tablet }),
    ]),
  ).toEqual([{ value: [duplicate, duplicate, refused, refused, refused] }]);
});
