// What is between the moment of an erasure and the last of its deletions, which no test through a store can hold still.
import { beforeEach, describe, expect, test } from 'vitest';
import { newAccount, newContact, newEvent, newToken } from '../../../../test/fixtures/store.ts';
import type { EventPage, LinkDetail, RefusedCount, RefusedPage, Store } from '../../store.ts';
import type { Connection } from '../database/connection.ts';
import { openMemory } from '../database/memory.ts';
import { createReadEngine, createWriteEngine, type ReadEngine, type WriteEngine } from '../engine.ts';
import type { ErasureProgress } from './acknowledging.ts';

let db: Connection;
let engine: WriteEngine;
let reads: ReadEngine;

type RequestOf<Name extends keyof Store> = Parameters<Store[Name]>[0];
const write = <Name extends keyof Store>(name: Name, request: RequestOf<Name>): Awaited<ReturnType<Store[Name]>> => {
  const [outcome] = engine.write([{ name, request }]);
  if (outcome && 'value' in outcome) return outcome.value as Awaited<ReturnType<Store[Name]>>;
  throw outcome?.error;
};

const asker = { account: 1, token: 1, browser: false };
const userUUID = 'laptop-0123456789';
const log = (eventUUID: string) =>
  write('logEvents', { ...asker, receivedTime: 0, events: [newEvent({ userUUID, eventUUID })] });
const create = (name: string) => {
  const address = `${name}@example.com`;
  return write('createContact', { ...newContact({ userUUID, address }), ...asker, verified: true }).contactUUID;
};
const unlink = () => write('unlinkUser', { account: 1, token: 1, userUUID, time: 0 }).linkID;
const linkOf = async (contactUUID: string) => {
  const detail = await reads({ name: 'getContact', request: { ...asker, contactUUID, include: ['link'] } });
  return (detail as { links: LinkDetail[] }).links[0]?.linkID as string;
};
const mark = (linkID: string, restore: boolean) =>
  write('voidLinks', { account: 1, restore, links: { linkID }, time: 0 });
const erase = (contactUUID: string) => write('eraseContact', { account: 1, contactUUID, time: 0 });
/** Rows that are changed while this is done. */
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

describe('events that are erased and not yet deleted', () => {
  test('stay out of reads when a second erasure meets the same part of a user’s history', async () => {
    const first = create('first');
    const second = create('second');
    const linkID = await linkOf(second);
    const unlinkID = unlink();
    mark(linkID, false);
    mark(unlinkID, false);
    log('event-of-first');
    erase(first);
    expect(await events()).toEqual([]);
    // The second contact's link now reaches back to where the first one's was.
    mark(linkID, true);
    mark(unlinkID, true);
    erase(second);
    expect(await events()).toEqual([]);
    while (engine.maintain() !== null);
    expect(await events()).toEqual([]);
    expect(erase(first)).toMatchObject({ deletedEvents: 1, complete: true });
  });

  test('take nothing along of what their user does meanwhile', async () => {
    const contactUUID = create('first');
    log('event-before');
    erase(contactUUID);
    log('event-after');
    expect(await events()).toEqual(['event-after']);
    while (engine.maintain() !== null);
    expect(await events()).toEqual(['event-after']);
  });

  test('are left to it by retention, and counted once', async () => {
    const contactUUID = create('first');
    log('event-1');
    log('event-2');
    erase(contactUUID);
    expect(write('deleteEventsBefore', { time: 1, most: 1 })).toBe(1);
    while (engine.maintain() !== null);
    expect(erase(contactUUID)).toMatchObject({ complete: true });
    expect(await events()).toEqual([]);
    const detail = (await reads({ name: 'getAccount', request: 1 })) as { usage: { events: number } };
    expect(detail.usage.events).toBe(0);
  });
});

test('events that lie one to a block, or together in blocks, go in short steps', () => {
  const other = (nth: number) => newEvent({ userUUID: 'phone-0123456789a', eventUUID: `other-${nth}` });
  const contactUUID = create('first');
  for (let nth = 0; nth < 150; nth += 1) {
    const own = newEvent({ userUUID, eventUUID: `event-${nth}` });
    const events = [own, ...Array.from({ length: 40 }, (_, index) => other(100 * nth + index))];
    write('logEvents', { ...asker, receivedTime: 0, events });
  }
  const together = Array.from({ length: 900 }, (_, nth) => newEvent({ userUUID, eventUUID: `together-${nth}` }));
  write('logEvents', { ...asker, receivedTime: 0, events: together });
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

describe('a contact that very many users have claimed', () => {
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

  test('is erased in commits that change few rows each, and not in one for each user', () => {
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

  test('is gone for every read and write from the first commit on, and after each of the others', async () => {
    erase(contactUUID);
    const erased = expect.objectContaining({ code: 'erased_contact' });
    for (let rest: number | null = 0, nth = 0; rest !== null; nth += 1) {
      expect(await events()).toEqual([]);
      const askAs = (asked: object) => reads({ name: 'getContact', request: { include: [], ...asked } });
      await expect(askAs({ ...asker, contactUUID })).rejects.toEqual(erased);
      await expect(askAs({ ...page, contactUUID: handleOf(users - 1) })).rejects.toEqual(erased);
      const search = { name: 'searchContact', request: { account: 1, limit: 10 } };
      expect(await reads(search)).toEqual({ contacts: [], next: null });
      expect(() => write('acceptClaim', { account: 1, claimID: handleOf(users - 1), time: 0 })).toThrow('erased');
      expect(() => claim(users - 1, 'ann@example.com')).toThrow('erased');
      rest = nth < 20 ? engine.maintain() : null;
    }
  });

  test('is named by nothing: what is left of its row is no contact', async () => {
    erase(contactUUID);
    const left = db.prepare<[], string>('SELECT contactUUID FROM contact').pluck().all();
    expect(left).toHaveLength(1);
    const unknown = expect.objectContaining({ code: 'unknown_contact' });
    for (const name of left) {
      const request = { ...asker, include: [], contactUUID: name };
      await expect(reads({ name: 'getContact', request })).rejects.toEqual(unknown);
      expect(() => erase(name)).toThrow(unknown);
    }
  });

  test('leaves what its users do meanwhile to others', async () => {
    erase(contactUUID);
    logAs(1, 'event-after');
    claim(users - 1, 'ben@example.com', 'handle-of-ben-1');
    logAs(users - 1, 'event-of-ben');
    while (engine.maintain() !== null);
    expect(await events()).toEqual(['event-after', 'event-of-ben']);
  });

  test('takes the same events, whatever is accepted, voided or displaced before its users are detached', async () => {
    claim(2, 'ben@example.com', 'handle-of-ben-2');
    logAs(2, 'event-of-ben');
    erase(contactUUID);
    // Without Ben's claim, Ann's would reach on to this event; but by now Ann's is an unlink.
    write('voidClaim', { account: 1, claimID: 'handle-of-ben-2', restore: false, time: 0 });
    expect(await events()).toEqual(['event-of-ben']);
    while (engine.maintain() !== null);
    expect(await events()).toEqual(['event-of-ben']);
  });

  test('is no reason to detach its users when links of a token are voided, but for those with another such link', async () => {
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

  test('is erased to the end after another start in the middle', async () => {
    erase(contactUUID);
    engine.maintain();
    engine = createWriteEngine(db);
    while (engine.maintain() !== null);
    expect(remaining()).toEqual([0, 0, 0, 0, 0]);
    expect(await events()).toEqual([]);
  });

  test('is acknowledged when only hashes are left of its claims and requests, also after another start', () => {
    const isAcknowledged = () => !(erase(contactUUID) as ErasureProgress).hasNames;
    const hasNames = () => remaining()[0] !== 0 || remaining()[2] !== 0;
    expect(isAcknowledged()).toBe(false);
    engine = createWriteEngine(db);
    while (!isAcknowledged()) {
      expect(hasNames()).toBe(true);
      engine.maintain();
    }
    expect(hasNames()).toBe(false);
    // A handle and a claim of each user, a request, and the contact.
    expect(db.prepare('SELECT count(*) FROM erased_identifier').pluck().get()).toBe(3 * users + 1);
  });

  test('is erased once: a contact that is erased meanwhile takes what was its own', async () => {
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

test('a contact into which many were merged, each with many tags and attributes, is erased in commits of few rows', () => {
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
  // Each contact's row, its UUID, and two marks that it is being erased.
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

describe('refused requests that name an erased contact', () => {
  const namingEach = 100;
  const bytesOfEach = 20_000;
  let contactUUID: string;

  const refuse = (token: number, name: string) => {
    const input = { name, text: 'x'.repeat(bytesOfEach) };
    const said = { operation: 'logEvent', input, address: null, code: 'invalid_field', message: '' } as const;
    write('keepRefused', { account: 1, token, time: 0, sender: 0, requests: [said] });
  };
  const replay = (refused: number) => {
    const request = { ...asker, receivedTime: 0, events: [newEvent({ userUUID: 'phone-0123456789a' })] };
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

  test('are deleted in commits of few bytes each, however many there are, before the erasure is acknowledged', async () => {
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

  test('are not listed nor sent again from its first commit on, unlike others', async () => {
    expect(isAcknowledged()).toBe(false);
    expect(replay(2 + namingEach)).toEqual([{ kept: true }]);
    while (!isAcknowledged()) {
      expect(await listed()).toEqual(['somebody']);
      expect(replay(2 * (1 + namingEach))).toBeUndefined();
      engine.maintain();
    }
    expect(await listed()).toEqual(['somebody']);
  });

  test('stay where they were refused after it', async () => {
    erase(contactUUID);
    refuse(1, userUUID);
    expect(await listed()).toEqual(['somebody', 'somebody', userUUID]);
    while (!isAcknowledged()) engine.maintain();
    expect(await listed()).toEqual(['somebody', 'somebody', userUUID]);
  });

  test('go with it when their user becomes somebody else meanwhile, also after another start', async () => {
    erase(contactUUID);
    create('ben');
    expect(await listed()).toEqual(['somebody', 'somebody']);
    engine = createWriteEngine(db);
    while (!isAcknowledged()) engine.maintain();
    expect(await listed()).toEqual(['somebody', 'somebody']);
  });
});
