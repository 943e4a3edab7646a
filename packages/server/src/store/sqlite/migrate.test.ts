import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { openConnection } from './connection.ts';
import { eventsOf } from './event-block.ts';
import { migrate } from './migrate.ts';

const migration = (name: string) => readFileSync(new URL(`migrations/${name}`, import.meta.url), 'utf8');

test('events that were rows become blocks, and are shown as the same rows', () => {
  const db = openConnection(':memory:', 'write');
  db.exec(migration('0001-first.sql'));
  db.exec(migration('0002-refused-requests.sql'));
  db.pragma('user_version = 2');
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
