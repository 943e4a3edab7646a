import { expect, test } from 'vitest';
import { openMemory } from '../database/memory.ts';
import { createUsers } from './users.ts';

test('distinguishes users with the same userUUID in two accounts, no matter which was read last', () => {
  const db = openMemory();
  db.exec(`
    INSERT INTO account (accountUUID, accountName, accountOrigin, accountTimezone, strict, createdTime)
    VALUES ('a', 'a', '[]', 'UTC', 0, 0), ('b', 'b', '[]', 'UTC', 0, 0)`);
  const users = createUsers(db);
  expect(users.find(1, 'laptop-0123456789')).toBeUndefined();
  const first = users.ensure(1, 'laptop-0123456789', 0);
  expect(users.find(2, 'laptop-0123456789')).toBeUndefined();
  const second = users.ensure(2, 'laptop-0123456789', 0);
  expect(second.user).not.toBe(first.user);
  users.addActiveDay(first, 7);
  for (let turn = 0; turn < 2; turn += 1) {
    expect(users.find(1, 'laptop-0123456789')).toMatchObject({ user: first.user, active: { firstDay: 7, lastDay: 7 } });
    expect(users.find(2, 'laptop-0123456789')).toMatchObject({ user: second.user, active: { lastDay: null } });
  }
  db.close();
});
