// Tests the states between an erasure and its last deletion, in which a test that uses a store can't stop.
import { beforeEach, describe, expect, test } from 'vitest';
import { contactChange, newAccount, newContact, newEvent, newToken } from '../../../../test/fixtures/store.ts';
import type { EventPage, LinkDetail, RefusedCount, RefusedPage, Store } from '../../store.ts';
import type { Connection } from '../database/connection.ts';
import { openMemory } from '../database/memory.ts';
import { createReadEngine, createWriteEngine, type ReadEngine, type WriteEngine } from '../engine.ts';
import type { ErasureProgress } from './erase-contact.ts';

let db: Connection;
let engine: WriteEngine;
let reads: ReadEngine;

type RequestOf<Name extends keyof Store> = Parameters<Store[Name]>[0];
const write = <Name extends keyof Store>(name: Name, request: RequestOf<Name>): Awaited<ReturnType<Store[Name]>> => {
  const [outcome] = engine.write([{ name, request }]);
  if (outcome && 'value' in outcome) return outcome.value as Awaited<ReturnType<Store[Name]>>;
  throw outcome?.error;
};

const caller = { account: 1, token: 1, browser: false };
const userUUID = 'laptop-0123456789';
const log = (eventUUID: string) =>
  write('logEvents', { ...caller, receivedTime: 0, events: [newEvent({ userUUID, eventUUID })] });
const create = (name: string) => {
  const address = `${name}@example.com`;
  return write('createContact', { ...newContact({ userUUID, address }), ...caller, verified: true }).contactUUID;
};
const unlink = () => write('unlinkUser', { account: 1, token: 1, userUUID, time: 0 }).linkID;
const linkOf = async (contactUUID: string) => {
  const detail = await reads({ name: 'getContact', request: { ...caller, contactUUID, include: ['link'] } });
  return (detail as { links: LinkDetail[] }).links[0]?.linkID as string;
};
const setRestored = (linkID: string, restore: boolean) =>
  write('voidLinks', { account: 1, restore, links: { linkID }, time: 0 });
const erase = (contactUUID: string) => write('eraseContact', { account: 1, contactUUID, time: 0 });
/** Returns the number of rows that `work` changes. */
const changesOf = (work: () => unknown): number => {
  const changes = db.prepare<[], number>('SELECT total_changes()').pluck();
  const before = changes.get() as number;
  work();
  return (changes.get() as number) - before;
};
const events = async () => {
  const page = await reads({ name: 'getEvents', request: { account: 1, order: 'asc', limit: 100 } });
  return (page as EventPage).events.map(({ eventUUID }) => eventUUID);
};

beforeEach(() => {
  db = openMemory();
  engine = createWriteEngine(db);
  reads = createReadEngine(db);
  write('createAccount', newAccount({ tokens: [newToken('server'), newToken('browser')] }));
});

describe('erased events that are not deleted yet', () => {
  test('are excluded from reads if a second erasure covers the same part of a user’s history', async () => {
    const first = create('first');
    const second = create('second');
    const linkID = await linkOf(second);
    const unlinkID = unlink();
    setRestored(linkID, false);
    setRestored(unlinkID, false);
    log('event-of-first');
    erase(first);
    expect(await events()).toEqual([]);
    // Makes the second contact's link also cover the events of the first contact's link.
    setRestored(linkID, true);
    setRestored(unlinkID, true);
    erase(second);
    expect(await events()).toEqual([]);
    while (engine.maintain() !== null);
    expect(await events()).toEqual([]);
    expect(erase(first)).toMatchObject({ deletedEvents: 1, complete: true });
  });

  test('do not affect later events of their user', async () => {
    const contactUUID = create('first');
    log('event-before');
    erase(contactUUID);
    log('event-after');
    expect(await events()).toEqual(['event-after']);
    while (engine.maintain() !== null);
    expect(await events()).toEqual(['event-after']);
  });

  test('are counted once if retention also deletes them', async () => {
    const contactUUID = create('first');
    log('event-1');
    log('event-2');
    erase(contactUUID);
    expect(write('deleteEventsBefore', { time: 1, limit: 1 })).toBe(1);
    while (engine.maintain() !== null);
    expect(erase(contactUUID)).toMatchObject({ complete: true });
    expect(await events()).toEqual([]);
    const detail = (await reads({ name: 'getAccount', request: 1 })) as { usage: { events: number } };
    expect(detail.usage.events).toBe(0);
  });
});

test('deletes events in short steps, whether they are scattered over blocks or adjacent', () => {
  const other = (nth: number) => newEvent({ userUUID: 'phone-0123456789a', eventUUID: `other-${nth}` });
  const contactUUID = create('first');
  for (let nth = 0; nth < 150; nth += 1) {
    const erasedEvent = newEvent({ userUUID, eventUUID: `event-${nth}` });
    const events = [erasedEvent, ...Array.from({ length: 40 }, (_, index) => other(100 * nth + index))];
    write('logEvents', { ...caller, receivedTime: 0, events });
  }
  const adjacent = Array.from({ length: 900 }, (_, nth) => newEvent({ userUUID, eventUUID: `adjacent-${nth}` }));
  write('logEvents', { ...caller, receivedTime: 0, events: adjacent });
  let deleted = 0;
  let complete = false;
  for (let steps = 0; !complete; steps += 1) {
    const receipt = erase(contactUUID);
    expect(receipt.deletedEvents - deleted).toBeLessThanOrEqual(400);
    ({ deletedEvents: deleted, complete } = receipt);
    expect(steps).toBeLessThan(60);
    engine.maintain();
  }
  expect(deleted).toBe(1_050);
});

const importContact = (changes: Parameters<typeof newContact>[0]) => {
  const fingerprint = 'a'.repeat(64);
  const created = { importID: 'import-of-contacts', kind: 'contacts', importName: 'a.csv', fingerprint } as const;
  const { importID } = write('createImport', { account: 1, ...created, time: 0 });
  const contact = { ...newContact(changes), ...caller, verified: true };
  write('addToImport', {
    ...{ ...caller, importID, kind: 'contacts', position: 0, records: 1, isLast: true, receivedTime: 0 },
    ...{ defaultProfileID: 'customer', replaces: true, steps: [{ contact }] },
  });
};
const storedChanges = () => db.prepare<[], string>('SELECT changes FROM import_contact').pluck().all();

test('erases the values that imports stored about the contact', () => {
  const contactUUID = create('ann');
  importContact({ address: 'ann@example.com', fields: { contactFirstname: 'Ann' } });
  expect(storedChanges()).toEqual([expect.stringContaining('Ann')]);
  erase(contactUUID);
  expect(storedChanges()).toEqual([]);
});

test('erases the contact’s keys from what imports stored about an earlier contact', () => {
  const former = { address: 'ann@example.com', externalID: 'customer-1' };
  const { contactUUID } = write('createContact', { ...newContact(former), ...caller, verified: true });
  importContact({ address: 'new@example.com', externalID: 'customer-1' });
  write('updateContact', { account: 1, ...contactChange({ contactUUID, externalID: 'customer-2' }) });
  const successor = create('ann');
  expect(storedChanges()).toEqual([expect.stringContaining('ann@example.com')]);
  erase(successor);
  expect(storedChanges()).toEqual([expect.not.stringContaining('ann@')]);
  expect(db.serialize().includes('ann@example.com')).toBe(false);
});

describe('a contact claimed by many users', () => {
  const users = 300;
  const page = { account: 1, token: 2, browser: true };
  const userOf = (nth: number) => `visitor-number-${nth}`;
  const handleOf = (nth: number) => `handle-number-${nth}`;
  let contactUUID: string;

  const claim = (nth: number, address: string, newHandle = handleOf(nth)) =>
    write('createContact', {
      ...newContact({ userUUID: userOf(nth), address, newHandle, requestUUID: newHandle }),
      ...page,
      verified: false,
    });
  const logAs = (nth: number, eventUUID: string) =>
    write('logEvents', { ...page, receivedTime: 0, events: [newEvent({ userUUID: userOf(nth), eventUUID })] });
  const remaining = () =>
    ['claim', 'contact', 'request_repeat', 'erasing_contact', 'statement WHERE contact IS NOT NULL'].map((table) =>
      db.prepare<[], number>(`SELECT count(*) FROM ${table}`).pluck().get(),
    );
  beforeEach(() => {
    for (let nth = 0; nth < users; nth += 1) claim(nth, 'ann@example.com');
    for (const nth of [0, users - 1]) logAs(nth, `event-of-${nth}`);
    contactUUID = db.prepare<[], string>('SELECT contactUUID FROM contact').pluck().get() as string;
  });

  test('is erased in small commits, but in fewer commits than it has users', () => {
    const changed = [changesOf(() => erase(contactUUID))];
    for (let rest: number | null = 0; rest !== null; ) {
      changed.push(
        changesOf(() => {
          rest = engine.maintain();
        }),
      );
    }
    expect(Math.max(...changed)).toBeLessThan(500);
    expect(changed.length).toBeLessThan(users / 4);
    expect(remaining()).toEqual([0, 0, 0, 0, 0]);
    expect(erase(contactUUID)).toMatchObject({ deletedEvents: 2, complete: true });
  });

  test('is hidden from every read and write after each commit of its erasure, starting with the first', async () => {
    erase(contactUUID);
    const erased = expect.objectContaining({ code: 'erased_contact' });
    for (let rest: number | null = 0, nth = 0; rest !== null; nth += 1) {
      expect(await events()).toEqual([]);
      const getContact = (query: object) => reads({ name: 'getContact', request: { include: [], ...query } });
      await expect(getContact({ ...caller, contactUUID })).rejects.toEqual(erased);
      await expect(getContact({ ...page, contactUUID: handleOf(users - 1) })).rejects.toEqual(erased);
      const search = { name: 'searchContact', request: { account: 1, limit: 10 } };
      expect(await reads(search)).toEqual({ contacts: [], next: null });
      expect(() => write('acceptClaim', { account: 1, claimID: handleOf(users - 1), time: 0 })).toThrow('erased');
      expect(() => claim(users - 1, 'ann@example.com')).toThrow('erased');
      rest = nth < 20 ? engine.maintain() : null;
    }
  });

  test('cannot be found by the contactUUID that remains in its row', async () => {
    erase(contactUUID);
    const left = db.prepare<[], string>('SELECT contactUUID FROM contact').pluck().all();
    expect(left).toHaveLength(1);
    const unknown = expect.objectContaining({ code: 'unknown_contact' });
    for (const name of left) {
      const request = { ...caller, include: [], contactUUID: name };
      await expect(reads({ name: 'getContact', request })).rejects.toEqual(unknown);
      expect(() => erase(name)).toThrow(unknown);
    }
  });

  test('does not affect later events of its users', async () => {
    erase(contactUUID);
    logAs(1, 'event-after');
    claim(users - 1, 'ben@example.com', 'handle-of-ben-1');
    logAs(users - 1, 'event-of-ben');
    while (engine.maintain() !== null);
    expect(await events()).toEqual(['event-after', 'event-of-ben']);
  });

  test('loses the same events, no matter what is accepted, voided or replaced before its users are detached', async () => {
    claim(2, 'ben@example.com', 'handle-of-ben-2');
    logAs(2, 'event-of-ben');
    erase(contactUUID);
    // Without Ben's claim, Ann's would extend to this event if it were not already an unlink.
    write('voidClaim', { account: 1, claimID: 'handle-of-ben-2', restore: false, time: 0 });
    expect(await events()).toEqual(['event-of-ben']);
    while (engine.maintain() !== null);
    expect(await events()).toEqual(['event-of-ben']);
  });

  test('keeps its users attached when a token’s links are voided, except users with another link by that token', async () => {
    claim(2, 'ben@example.com', 'handle-of-ben-2');
    logAs(2, 'event-of-ben');
    erase(contactUUID);
    const tokenID = db.prepare<[], string>('SELECT tokenID FROM token WHERE token = 2').pluck().get() as string;
    const changed = changesOf(() => {
      expect(write('voidLinks', { account: 1, restore: false, links: { tokenID }, time: 0 })).toBe(1);
    });
    expect(changed).toBeLessThan(10);
    while (engine.maintain() !== null);
    expect(await events()).toEqual(['event-of-ben']);
    expect(write('voidLinks', { account: 1, restore: true, links: { tokenID }, time: 0 })).toBe(1);
  });

  test('is erased completely after a restart', async () => {
    erase(contactUUID);
    engine.maintain();
    engine = createWriteEngine(db);
    while (engine.maintain() !== null);
    expect(remaining()).toEqual([0, 0, 0, 0, 0]);
    expect(await events()).toEqual([]);
  });

  test('is acknowledged once only hashes of its claims and requests remain, even after a restart', () => {
    const isAcknowledged = () => !(erase(contactUUID) as ErasureProgress).hasNames;
    const hasNames = () => remaining()[0] !== 0 || remaining()[2] !== 0;
    expect(isAcknowledged()).toBe(false);
    engine = createWriteEngine(db);
    while (!isAcknowledged()) {
      expect(hasNames()).toBe(true);
      engine.maintain();
    }
    expect(hasNames()).toBe(false);
    // Expects a handle, a claim and a request for each user, plus the contact.
    expect(db.prepare('SELECT count(*) FROM erased_identifier').pluck().get()).toBe(3 * users + 1);
  });

  test('is erased independently of a contact that is erased in the meantime', async () => {
    claim(3, 'ben@example.com', 'handle-of-ben-3');
    logAs(3, 'event-of-ben');
    erase(contactUUID);
    const ben = db
      .prepare<[], string>("SELECT contactUUID FROM contact WHERE contactEmailaddress LIKE 'ben%'")
      .pluck()
      .get();
    erase(ben as string);
    expect(await events()).toEqual([]);
    while (engine.maintain() !== null);
    expect(await events()).toEqual([]);
    expect(remaining()).toEqual([0, 0, 0, 0, 0]);
  });
});

test('erases a contact with many merged contacts, tags and attributes in small commits', () => {
  const merged = 40;
  const ids = Array.from({ length: 50 }, (_, nth) => `id-${nth}`);
  const contactUUID = create('ann');
  const attributes = ids.map((id) => [id, 'value'] as const);
  for (let nth = 0; nth < merged; nth += 1) {
    const otherContactUUID = create(`ann-${nth}`);
    const change = { fields: {}, addedTags: ids, removedTags: [], attributes, time: 0 };
    write('updateContact', { account: 1, contactUUID: otherContactUUID, ...change });
    write('mergeContact', { account: 1, contactUUID, otherContactUUID, time: 0 });
  }
  // Allows for each contact: its row, its UUID, and two rows that mark the erasure.
  const first = changesOf(() => erase(contactUUID));
  expect(first).toBeLessThan(4 * (merged + 1) + 200);
  for (let rest: number | null = 0; rest !== null; ) {
    const changed = changesOf(() => {
      rest = engine.maintain();
    });
    expect(changed).toBeLessThan(500);
  }
  expect(db.prepare('SELECT count(*) FROM contact').pluck().get()).toBe(0);
});

describe('refused requests that refer to an erased contact', () => {
  const namingEach = 100;
  const bytesOfEach = 20_000;
  let contactUUID: string;

  const refuse = (token: number, name: string) => {
    const input = { name, text: 'x'.repeat(bytesOfEach) };
    const refused = { operation: 'logEvent', input, address: null, code: 'invalid_field', message: '' } as const;
    write('addRefused', { account: 1, token, time: 0, sender: 0, requests: [refused] });
  };
  const replay = (refused: number) => {
    const request = { ...caller, receivedTime: 0, events: [newEvent({ userUUID: 'phone-0123456789a' })] };
    return write('replayRefused', { refused, tokenID: 'any', write: 'logEvents', request });
  };
  const listed = async () => {
    const page = (await reads({ name: 'listRefused', request: { beyond: 0, limit: 1_000 } })) as RefusedPage;
    return page.requests.map(({ input }) => (input as { name: string }).name);
  };
  const count = (table: string) => db.prepare<[], number>(`SELECT count(*) FROM ${table}`).pluck().get();
  const isAcknowledged = () => !(erase(contactUUID) as ErasureProgress).hasNames;

  beforeEach(() => {
    contactUUID = create('ann');
    const names = [contactUUID, 'ann@example.com', userUUID];
    for (const token of [1, 2]) {
      refuse(token, 'somebody');
      for (let nth = 0; nth < namingEach; nth += 1) refuse(token, names[nth % 3] as string);
    }
  });

  test('are deleted in small commits before the erasure is acknowledged', async () => {
    const bytes = db.prepare<[], number>('SELECT sum(listedBytes) FROM refused_count').pluck();
    const left = [bytes.get() as number];
    for (let done = false; !done; engine.maintain()) {
      done = isAcknowledged();
      left.push(bytes.get() as number);
    }
    const deleted = left.slice(1).map((after, nth) => (left[nth] as number) - after);
    expect(Math.max(...deleted)).toBeLessThan(20 * bytesOfEach);
    expect(left.at(-1)).toBeLessThan(3 * bytesOfEach);
    const counts = (await reads({ name: 'countRefused', request: {} })) as RefusedCount[];
    expect(counts).toMatchObject(counts.map(() => ({ listed: 1, erased: namingEach })));
    while (engine.maintain() !== null);
    expect(['erasing_refused', 'erasing_user', 'erasing_contact'].map(count)).toEqual([0, 0, 0]);
  });

  test('are neither listed nor replayed after the first commit, unlike others', async () => {
    expect(isAcknowledged()).toBe(false);
    expect(replay(2 + namingEach)).toEqual([{ kept: true }]);
    while (!isAcknowledged()) {
      expect(await listed()).toEqual(['somebody']);
      expect(replay(2 * (1 + namingEach))).toBeUndefined();
      engine.maintain();
    }
    expect(await listed()).toEqual(['somebody']);
  });

  test('stay listed if they were refused after the erasure', async () => {
    erase(contactUUID);
    refuse(1, userUUID);
    expect(await listed()).toEqual(['somebody', 'somebody', userUUID]);
    while (!isAcknowledged()) engine.maintain();
    expect(await listed()).toEqual(['somebody', 'somebody', userUUID]);
  });

  test('are deleted if their user is linked to another contact in the meantime, even after a restart', async () => {
    erase(contactUUID);
    create('ben');
    expect(await listed()).toEqual(['somebody', 'somebody']);
    engine = createWriteEngine(db);
    while (!isAcknowledged()) engine.maintain();
    expect(await listed()).toEqual(['somebody', 'somebody']);
  });
});
