import { expect, test } from 'vitest';
import { readMigrations } from '../../migrations.ts';
import { eventsOf } from '../event-log/event-log.ts';
import { type Connection, openConnection } from './connection.ts';
import { migrate } from './migrate.ts';

const migrations = readMigrations(new URL('../migrations/', import.meta.url));

/** Opens a database with this schema version. */
const openAt = (number: number): Connection => {
  const db = openConnection(':memory:', 'write');
  for (const { sql } of migrations.slice(0, number)) db.exec(sql);
  db.pragma(`user_version = ${number}`);
  return db;
};

test('converts event rows to blocks, from which the view returns the same rows', () => {
  const db = openAt(2);
  const insert = db.prepare('INSERT INTO event VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)');
  const texts = ['{}', '{"path":"/"}', '{"path":"/","quote \\" and é":"{\\"a\\":[1]}"}', '{"1":"","__proto__":"x"}'];
  for (let nth = 0; nth < 150; nth += 1) {
    const [user, contact] = nth % 3 === 0 ? [null, 7] : [nth % 5, nth % 2 ? null : 8];
    const times = [86_400_000 * 3 - (nth % 4) * 1000, 86_400_000 * 3 + nth * nth];
    const sequence = 2 * nth + (nth % 2);
    insert.run(
      sequence,
      2 + (nth > 100 ? 1 : 0),
      1,
      user,
      contact,
      1 + (nth % 3),
      `event-${nth}`,
      ...times,
      nth % 2,
      texts[nth % 4],
    );
  }
  const rows = () =>
    db
      .prepare(`
        SELECT sequence, day, account, user, contact, eventID, eventUUID, eventTime, receivedTime, timeReplaced, attributes
        FROM event ORDER BY sequence`)
      .all();
  const before = rows();
  migrate(db, ':memory:');
  expect(rows()).toEqual(before);
  expect(db.prepare('SELECT clockDay FROM position').pluck().get()).toBe(3);
  const blocks = db.prepare<[], string>('SELECT events FROM event_block ORDER BY through').pluck().all();
  expect(blocks).toHaveLength(3);
  expect(
    blocks
      .flatMap((events) => eventsOf(JSON.parse(events)))
      .map(({ attributes, server, ...event }) => ({
        ...event,
        attributes: JSON.stringify(Object.fromEntries(attributes)),
      })),
  ).toEqual(before);
});

test('keeps token numbers and references when the table is recreated', () => {
  const db = openAt(11);
  db.exec(`
    INSERT INTO account (account, accountUUID, accountName, accountOrigin, accountTimezone, strict, createdTime)
      VALUES (1, 'account-1', 'A shop', '[]', 'UTC', 0, 5);
    INSERT INTO token VALUES (3, 'token-3', 1, 'server', '', 'hash-3', NULL, 5, 6), (7, 'token-7', 1, 'browser', '', 'hash-7', 'text', 5, NULL);
    INSERT INTO refused_count (token, listed, listedBytes, evicted, erased, replayed) VALUES (7, 0, 0, 0, 0, 0);`);
  const { access } = db.prepare('SELECT access FROM position').get() as { access: number };
  migrate(db, ':memory:');
  expect(db.prepare('SELECT token, tokenID, kind, text, revokedTime, createdBy, expiresTime FROM token').all()).toEqual(
    [
      { token: 3, tokenID: 'token-3', kind: 'server', text: null, revokedTime: 6, createdBy: null, expiresTime: null },
      {
        token: 7,
        tokenID: 'token-7',
        kind: 'browser',
        text: 'text',
        revokedTime: null,
        createdBy: null,
        expiresTime: null,
      },
    ],
  );
  expect(db.pragma('foreign_key_check')).toEqual([]);
  expect(db.pragma('foreign_keys', { simple: true })).toBe(1);
  const accessNow = () => db.prepare<[], number>('SELECT access FROM position').pluck().get();
  const before = accessNow();
  expect(before).toBeGreaterThanOrEqual(access);
  db.exec('UPDATE token SET lastUsedTime = 9');
  expect(accessNow()).toBe(before);
  db.exec('UPDATE token SET revokedTime = 9 WHERE token = 7');
  expect(accessNow()).toBe((before as number) + 1);
  expect(() =>
    db.exec(
      'INSERT INTO refused_count (token, listed, listedBytes, evicted, erased, replayed) VALUES (8, 0, 0, 0, 0, 0)',
    ),
  ).toThrow('FOREIGN KEY');
});

test('deletes a contact’s oldest surplus claims, except accepted claims and those with a verified link', () => {
  const db = openAt(13);
  db.pragma('foreign_keys = OFF');
  // Contact 1 has 1,100 claims: claim 1 is accepted, and claim 2's link is verified. Contact 2 has 900 claims, within
  // the limit.
  db.exec(`
    WITH RECURSIVE nth (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM nth WHERE n < 2000)
    INSERT INTO claim
    SELECT n, 'handle-' || n, 1, 1, n, iif(n <= 1100, 1, 2), '{}', n = 1, 0, 0, 0 FROM nth;
    INSERT INTO statement (sequence, user, contact, verified, voided, claim, token, erased, time)
    SELECT 10 + claim, user, contact, claim = 2, 0, claim, 1, 0, 0 FROM claim;
    UPDATE position SET sequence = 3000;`);
  migrate(db, ':memory:');
  const of = (table: string) =>
    db.prepare<[], number>(`SELECT claim FROM ${table} WHERE contact = 1 ORDER BY claim`).pluck().all();
  expect(of('claim')).toEqual([1, 2, ...Array.from({ length: 1_000 }, (_, nth) => 101 + nth)]);
  expect(of('statement')).toEqual(of('claim'));
  expect(db.prepare('SELECT count(*) FROM claim WHERE contact = 2').pluck().get()).toBe(900);
});

test('deletes a user’s oldest surplus claimed links, except accepted and verified links', () => {
  const db = openAt(15);
  db.pragma('foreign_keys = OFF');
  // User 1 has 150 links to 150 contacts: claim 1 is accepted, and link 2 is verified. User 2 alternates between two
  // contacts.
  db.exec(`
    WITH RECURSIVE nth (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM nth WHERE n < 152)
    INSERT INTO claim SELECT n, 'handle-' || n, 1, 1, iif(n <= 150, 1, 2), n, '{}', n = 1, 0, 0, 0 FROM nth;
    INSERT INTO statement (sequence, user, contact, verified, voided, claim, token, erased, time)
    SELECT claim, user, contact, claim = 2, 0, claim, 1, 0, 0 FROM claim WHERE user = 1;
    WITH RECURSIVE nth (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM nth WHERE n < 129)
    INSERT INTO statement (sequence, user, contact, verified, voided, claim, token, erased, time)
    SELECT 1000 + n, 2, 151 + n % 2, 0, 0, 151 + n % 2, 1, 0, 0 FROM nth;
    UPDATE position SET sequence = 3000;`);
  migrate(db, ':memory:');
  const list = (sql: string) => db.prepare<[], number>(sql).pluck().all();
  const left = [1, 2, ...Array.from({ length: 100 }, (_, nth) => 51 + nth)];
  expect(list('SELECT sequence FROM statement WHERE user = 1 ORDER BY sequence')).toEqual(left);
  expect(list('SELECT claim FROM claim ORDER BY claim')).toEqual([...left, 151, 152]);
  expect(list('SELECT sequence FROM statement WHERE user = 2 ORDER BY sequence')).toEqual(
    Array.from({ length: 100 }, (_, nth) => 1_030 + nth),
  );
});

test('deletes a contact’s oldest surplus claimed links, except accepted and verified links', () => {
  const db = openAt(21);
  db.pragma('foreign_keys = OFF');
  // Contact 1 has 1,200 links of 24 users in rotation: user 1's claim is accepted, and user 2's links are verified.
  // User 3 is also linked to contact 3, which is being erased. Contact 2 has 900 links of user 25.
  db.exec(`
    WITH RECURSIVE nth (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM nth WHERE n < 25)
    INSERT INTO claim SELECT n, 'handle-' || n, 1, 1, n, iif(n < 25, 1, 2), '{}', n = 1, 0, 0, 0 FROM nth;
    WITH RECURSIVE nth (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM nth WHERE n < 1199)
    INSERT INTO statement (sequence, user, contact, verified, voided, claim, token, erased, time)
    SELECT 1 + n, 1 + n % 24, 1, n % 24 = 1, 0, 1 + n % 24, 1, 0, 0 FROM nth;
    WITH RECURSIVE nth (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM nth WHERE n < 900)
    INSERT INTO statement (sequence, user, contact, verified, voided, claim, token, erased, time)
    SELECT 2000 + n, 25, 2, 0, 0, 25, 1, 0, 0 FROM nth;
    -- The only link of user 26 to contact 1, older than all others.
    INSERT INTO claim VALUES (26, 'handle-26', 1, 1, 26, 1, '{}', 0, 0, 0, 0);
    INSERT INTO statement VALUES (0, 26, 1, 0, 0, 26, 1, 0, 0), (1500, 3, 3, 1, 0, NULL, 1, 0, 0);
    INSERT INTO erasing_contact VALUES (3, 1, 1600, 1);
    UPDATE position SET sequence = 3000;`);
  migrate(db, ':memory:');
  const left = db
    .prepare<[], number>('SELECT sequence FROM statement WHERE contact = 1 ORDER BY sequence')
    .pluck()
    .all();
  // 1,101 links come only from open claims, which is 101 too many: the link of user 26 and the first 100 other links.
  const isProtected = (sequence: number) => [1, 2].includes(1 + ((sequence - 1) % 24));
  const all = Array.from({ length: 1_200 }, (_, nth) => 1 + nth);
  const surplus = all.filter((sequence) => !isProtected(sequence)).slice(0, 100);
  const ofUser3 = (sequence: number) => (sequence - 1) % 24 === 2;
  expect(left).toEqual(all.filter((sequence) => !surplus.includes(sequence) || ofUser3(sequence)));
  expect(db.prepare('SELECT claim FROM claim ORDER BY claim').pluck().all()).toEqual(
    Array.from({ length: 25 }, (_, nth) => 1 + nth),
  );
  expect(db.prepare('SELECT count(*) FROM statement WHERE contact = 2').pluck().get()).toBe(900);
});

test('makes the audit log append-only', () => {
  const db = openConnection(':memory:', 'write');
  migrate(db, ':memory:');
  db.exec(`INSERT INTO audit (action, subject, time) VALUES ('backup', '{}', 5)`);
  expect(() => db.exec('UPDATE audit SET time = 6')).toThrow('append-only');
  expect(() => db.exec('DELETE FROM audit')).toThrow('append-only');
  expect(db.prepare('SELECT time FROM audit').pluck().all()).toEqual([5]);
});
