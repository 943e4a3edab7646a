import { expect, onTestFinished, test } from 'vitest';
import type { ContactSearch, SearchPosition } from '../../store.ts';
import { type Connection, openConnection } from '../database/connection.ts';
import { openMemory } from '../database/memory.ts';
import { createContactIndex } from './contact-index.ts';
import { createContactFeed, createContactSearch } from './contact-reader.ts';

const day = 86_400_000;

/** Opens a database of contacts with a current index. One in 1,000 has the tag `rare`. */
const openContacts = (contacts = 3_000): Connection => {
  const bytes = filled.get(contacts) ?? fill(contacts);
  filled.set(contacts, bytes);
  const db = openConnection(bytes, 'write');
  onTestFinished(() => void db.close());
  return db;
};
const filled = new Map<number, Buffer>();

const fill = (contacts: number): Buffer => {
  const db = openMemory();
  db.exec(`
    INSERT INTO account (accountUUID, accountName, accountOrigin, accountTimezone, strict, createdTime) VALUES ('a', 'a', '[]', 'UTC', 0, 0);
    WITH RECURSIVE nth (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM nth WHERE n < ${contacts})
    INSERT INTO contact (contact, account, contactUUID, contactEmailaddress, contactProfileID, contactStatus, verified, lastDay, createdTime, updatedTime)
    SELECT n, 1, 'contact-' || n, n || '@example.com', 'retail', 'active', 1, 20000 + n % 500, n * 1000, 0 FROM nth;
    INSERT INTO contact_tag SELECT contact, 'common', 1 FROM contact;
    INSERT INTO contact_tag SELECT contact, 'rare', 1 FROM contact WHERE contact % 1000 = 7;
    INSERT INTO contact_tag SELECT contact, 'Rare', 1 FROM contact WHERE contact % 1000 IN (7, 8);
    INSERT INTO contact_attr SELECT contact, 'size', iif(contact % 2, 'M', 'L') FROM contact`);
  const { step } = createContactIndex(db);
  while (step() > 0);
  const bytes = db.serialize();
  db.close();
  return bytes;
};

/** Runs a search. Returns the number of contacts on its page and the number of steps. */
const count = (db: Connection, search: Partial<ContactSearch>) => {
  const reading = createContactSearch(db)({ account: 1, limit: 100, ...search });
  for (let steps = 1; ; steps += 1) {
    const { done, value } = reading.next();
    if (done) return { found: value.contacts.length, steps };
  }
};

/** Returns the row numbers of all contacts that match a search, in ascending order. */
const findAll = (db: Connection, search: Partial<ContactSearch>): number[] => {
  const found: number[] = [];
  const searching = createContactSearch(db);
  for (let beyond: SearchPosition | null | undefined; beyond !== null; ) {
    const reading = searching({ account: 1, limit: 100, beyond, ...search });
    let step = reading.next();
    while (!step.done) step = reading.next();
    found.push(...step.value.contacts.map(({ contactUUID }) => Number(contactUUID.slice('contact-'.length))));
    beyond = step.value.next;
  }
  return found.sort((a, b) => a - b);
};

test('reads every part of the index in the part’s order, without a sort or a scan', () => {
  const db = openContacts();
  const statements: string[] = [];
  const recordingDB = new Proxy(db, {
    get: (target, name) =>
      name === 'prepare'
        ? (sql: string) => {
            statements.push(sql);
            return target.prepare(sql);
          }
        : Reflect.get(target, name),
  });
  const search = createContactSearch(recordingDB);
  const readAll = (query: Partial<ContactSearch>) => [...search({ account: 1, limit: 100, ...query })];
  const ranges = [
    { createdFrom: 2_000_000, createdTo: 2_010_000, sort: 'seen' as const },
    { seenFrom: 20_100 * day, seenTo: 20_101 * day },
  ];
  const sources = [
    {},
    { sort: 'seen' as const },
    { contactTagID: 'rare' },
    { contactTagID: 'rare', sort: 'seen' as const },
  ];
  for (const descending of [false, true])
    for (const source of [...sources, ...ranges]) readAll({ ...source, descending });
  // Makes many contacts stale, which are found by a scan.
  db.exec('UPDATE contact SET contactStatus = contactStatus WHERE contact <= 2_010');
  for (const descending of [false, true]) readAll({ descending });
  const parts = statements.filter((sql) => sql.includes('CAST($2 AS bigint)'));
  expect(parts).toHaveLength(19);
  for (const sql of parts) {
    // Small parts are sorted instead.
    const isSorted = sql.includes('CROSS JOIN contact_found');
    const parameters = Array.from({ length: 11 }, (_, nth) => [nth + 1, 0]);
    const plan = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(Object.fromEntries(parameters)) as { detail: string }[];
    const details = plan
      .map(({ detail }) => detail)
      .filter((detail) => !/^(SCAN|CO-ROUTINE) \(?(subquery|SUBQUERY)/i.test(detail));
    expect(details.join()).toMatch(/SEARCH (contact\w*|[pc]) USING (COVERING INDEX|PRIMARY KEY|INDEX)/);
    expect(details.join()).not.toMatch(isSorted ? /SCAN / : /SCAN |TEMP B-TREE/);
  }
});

test.each<[string, Partial<ContactSearch>, number]>([
  ['few contacts have a tag', { contactTagID: 'rare' }, 3],
  ['few contacts have a tag, sorted by last seen', { contactTagID: 'rare', sort: 'seen' }, 3],
  ['few contacts match one of two filters', { contactTagID: 'rare', attrID: 'size', attrValue: 'M' }, 3],
  ['few contacts were created in a range', { createdFrom: 2_000_000, createdTo: 2_010_000 }, 10],
  [
    'few contacts were created in a range, sorted by last seen',
    { createdFrom: 2_000_000, createdTo: 2_010_000, sort: 'seen' },
    10,
  ],
  ['few contacts were last seen on a day', { seenFrom: 20_100 * day, seenTo: 20_101 * day }, 6],
  ['no contact has a value', { attrID: 'size', attrValue: 'XL' }, 0],
])('takes one step if %s', (_, search, found) => {
  expect(count(openContacts(), search)).toEqual({ found, steps: 1 });
});

test('finds contacts with either of two merged tags in one step, sorted and without duplicates', () => {
  const db = openContacts();
  db.exec(`
    INSERT INTO catalogue (account, kind, id, name, browser, byBrowser, type, mergedInto)
    VALUES (1, 'tag', 'rare', 'rare', 1, 0, '', NULL), (1, 'tag', 'Rare', 'Rare', 1, 0, '', 'rare')`);
  const search = createContactSearch(db);
  const created = (order: Partial<ContactSearch>) => {
    const { done, value } = search({ account: 1, limit: 100, contactTagID: 'Rare', ...order }).next();
    return done
      ? value.contacts.map(({ createdTime, tags }) => [createdTime, tags.map(({ tagID }) => tagID).includes('rare')])
      : [];
  };
  const found = created({});
  expect(found).toHaveLength(6);
  expect(found.every(([, hasTag]) => hasTag)).toBe(true);
  expect(found.map(([time]) => time)).toEqual(found.map(([time]) => time).sort((a, b) => Number(a) - Number(b)));
  expect(created({ descending: true })).toEqual(found.toReversed());
  expect(created({ sort: 'seen' })).toHaveLength(6);
  expect(created({ attrID: 'size', attrValue: 'M' })).toHaveLength(3);
});

test('takes few steps per page if most contacts match', () => {
  const db = openContacts();
  for (const search of [{ contactTagID: 'common' }, { attrID: 'size', attrValue: 'L', sort: 'seen' as const }]) {
    const { found, steps } = count(db, search);
    expect(found).toBe(100);
    expect(steps).toBeLessThanOrEqual(3);
  }
});

test('ends a page early if many contacts were examined, but never returns an empty page', () => {
  const db = openContacts(6_000);
  // Searches for text, which is not indexed, so all contacts are examined.
  db.exec("UPDATE contact SET contactLastname = 'Wanted' WHERE contact IN (3, 5900)");
  const search = { text: 'wanted' };
  expect(count(db, search)).toMatchObject({ found: 1 });
  expect(count(db, { ...search, beyond: { key: 3_000, contact: 3 } })).toMatchObject({ found: 1 });
});

test('finds few or many stale contacts by their current values', () => {
  const db = openContacts();
  const changeTo = (changed: number) =>
    db.exec(`UPDATE contact_tag SET opt = 0 WHERE tagID = 'rare'; INSERT INTO contact_tag SELECT contact, 'new', 1 FROM contact
      WHERE contact <= ${changed} ON CONFLICT DO NOTHING`);
  // 2,010 is more than `maxStaleContacts`, but few enough to fit on one page.
  for (const changed of [50, 2_010]) {
    changeTo(changed);
    expect(count(db, { contactTagID: 'rare' }).found).toBe(0);
    expect(count(db, { contactTagID: 'new', limit: 5_000 }).found).toBe(changed);
    expect(count(db, { contactTagID: 'new', limit: 5_000, sort: 'seen' }).found).toBe(changed);
  }
});

/** Returns the contacts on all of a search's pages. Calls `between` between the steps. */
const readAll = (db: Connection, search: Partial<ContactSearch>, between: () => void): string[] => {
  const found: string[] = [];
  const read = createContactSearch(db);
  for (let beyond: SearchPosition | null | undefined; beyond !== null; ) {
    const reading = read({ account: 1, limit: 100, ...search, beyond });
    for (;;) {
      const { done, value } = reading.next();
      between();
      if (!done) continue;
      found.push(...value.contacts.map(({ contactUUID }) => contactUUID));
      beyond = value.next;
      break;
    }
  }
  return found;
};

test.each<[string, number, boolean]>([
  ['few', 1_500, false],
  ['many', 2_800, false],
  ['many, which are indexed between the steps of a search,', 2_800, true],
])('lists each contact once, in order, while %s contacts are stale', (_, changed, isIndexed) => {
  const db = openContacts();
  db.exec(`
    UPDATE contact SET lastDay = 20000 + contact * 7 % 600 WHERE contact <= ${changed};
    UPDATE contact SET contactStatus = 'archived' WHERE contact <= ${changed} AND contact % 3 = 0;
    UPDATE contact_tag SET opt = 0 WHERE tagID = 'common' AND contact <= ${changed} AND contact % 2 = 0;
    INSERT INTO contact_tag SELECT contact, 'merged', 1 FROM contact WHERE contact <= ${changed} AND contact % 50 = 0;
    UPDATE contact SET mergedInto = contact - 1 WHERE contact <= ${changed} AND contact % 50 = 0;
    UPDATE contact SET mergedInto = contact WHERE contact <= ${changed} AND contact % 501 = 2;`);
  const { step } = createContactIndex(db);
  const searches: Partial<ContactSearch>[] = [
    { contactTagID: 'common', limit: 1_000 },
    { contactTagID: 'merged', descending: true, limit: 10 },
    { contactStatus: 'archived', attrID: 'size', attrValue: 'L', sort: 'seen', limit: 700 },
    { createdFrom: 1_000_000, createdTo: 2_500_000, seenFrom: 20_050 * day, seenTo: 20_100 * day },
    { sort: 'seen', descending: true, limit: 2_000 },
  ];
  const pagesWhileStale = searches.map((search) => {
    const found = readAll(db, search, () => void (isIndexed && step()));
    // Makes all contacts stale again for the next search.
    if (isIndexed) db.exec('INSERT INTO contact_changed SELECT contact FROM contact WHERE true ON CONFLICT DO NOTHING');
    return found;
  });
  while (step() > 0);
  expect(pagesWhileStale).toEqual(searches.map((search) => readAll(db, search, () => {})));
});

test('does not load more stale contacts than fit on a page', () => {
  const db = openContacts();
  db.exec('INSERT INTO contact_changed SELECT contact FROM contact');
  expect(count(db, { sort: 'seen', descending: true })).toMatchObject({ found: 100 });
  // The first stale contacts alone fill the page.
  expect(count(db, { contactTagID: 'common' }).steps).toBeLessThanOrEqual(2);
});

test('removes merged and erased contacts from the index, and follows changes', () => {
  const db = openContacts();
  const { step, pause } = createContactIndex(db);
  const indexed = (contact: number) =>
    db
      .prepare(
        'SELECT (SELECT count(*) FROM contact_term WHERE contact = @contact) + count(*) FROM contact_found WHERE contact = @contact',
      )
      .pluck()
      .get({ contact });
  expect(pause()).toBeNull();
  db.exec(
    'UPDATE contact SET mergedInto = 2 WHERE contact = 1; UPDATE contact SET mergedInto = contact WHERE contact = 3',
  );
  expect(indexed(3)).toBe(0);
  expect(pause()).toBe(0);
  while (step() > 0);
  expect([indexed(1), indexed(3)]).toEqual([0, 0]);
  expect(indexed(2)).toBeGreaterThan(0);
  db.exec('UPDATE contact SET mergedInto = NULL WHERE contact = 1');
  while (step() > 0);
  expect(indexed(1)).toBeGreaterThan(0);
});

test.each([10, 2_500])('gives reports the same contacts as searches, with %i stale contacts', (changed) => {
  const db = openContacts();
  db.exec(`
    UPDATE contact_tag SET opt = 0 WHERE tagID = 'common' AND contact <= ${changed} AND contact % 2;
    UPDATE contact SET contactProfileID = 'other' WHERE contact <= ${changed} AND contact % 3 = 0;
    UPDATE contact SET mergedInto = contact + 1 WHERE contact = 1007`);
  const conditions = [
    { contactTagID: 'common' },
    { contactTagID: 'Rare', contactProfileID: 'retail' },
    { createdFrom: 5_000, createdTo: 2_900_000, attrID: 'size', attrValue: 'M' },
  ];
  const feed = createContactFeed(db);
  const matches = conditions.map((): number[] => []);
  for (let beyond: SearchPosition | null | undefined; beyond !== null; ) {
    const reading = feed({ account: 1, conditions, beyond: beyond ?? null, limit: 700 });
    let step = reading.next();
    while (!step.done) step = reading.next();
    for (const [nth, contacts] of step.value.contacts.entries()) matches[nth]?.push(...contacts);
    beyond = step.value.next;
  }
  expect(matches.map((contacts) => contacts.toSorted((a, b) => a - b))).toEqual(
    conditions.map((condition) => findAll(db, condition)),
  );
});
