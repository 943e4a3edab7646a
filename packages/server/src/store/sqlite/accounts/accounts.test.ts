import { expect, test } from 'vitest';
import { newAccount, newToken } from '../../../../test/fixtures/store.ts';
import { openMemory } from '../database/memory.ts';
import { createWriteEngine } from '../engine.ts';
import { createAccountReader } from './accounts.ts';

test('counts an account’s users in steps, between which other reads can run', () => {
  const db = openMemory();
  createWriteEngine(db).write([
    { name: 'createAccount', request: newAccount({ tokens: [newToken('server')] }) },
    { name: 'createAccount', request: newAccount({ accountUUID: 'another-account', tokens: [newToken('server')] }) },
  ]);
  const insert = db.prepare('INSERT INTO user (account, userUUID, createdTime) VALUES (?, ?, 0)');
  for (let nth = 0; nth < 40_001; nth++) insert.run(1, `user number ${nth}`);
  insert.run(2, 'user of another account');
  const reading = createAccountReader(db).getAccount(1);
  expect([reading.next(), reading.next()]).toEqual([{ done: false }, { done: false }]);
  expect(reading.next()).toMatchObject({ done: true, value: { usage: { users: 40_001, contacts: 0 } } });
});
