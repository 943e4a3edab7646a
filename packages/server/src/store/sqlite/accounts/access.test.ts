import { expect, test } from 'vitest';
import { newAccount, newToken } from '../../../../test/fixtures/store.ts';
import { openMemory } from '../database/memory.ts';
import { createWriteEngine } from '../engine.ts';
import { createAccess } from './access.ts';

test('caches the hash of every created token, and no other hashes', () => {
  const db = openMemory();
  const engine = createWriteEngine(db);
  const [first, second, unknown] = [newToken('server'), newToken('browser'), newToken('server')];
  engine.write([{ name: 'createAccount', request: newAccount({ tokens: [first] }) }]);
  const { wasTokenCreated } = createAccess(db);
  expect([first, second, unknown].map(({ hash }) => wasTokenCreated(hash))).toEqual([true, false, false]);
  engine.write([{ name: 'createToken', request: { ...second, account: 1 } }]);
  engine.write([{ name: 'revokeToken', request: { account: 1, tokenID: first.tokenID, time: 1 } }]);
  expect([first, second, unknown].map(({ hash }) => wasTokenCreated(hash))).toEqual([true, true, false]);
});

test('rejects a token that was revoked while the database was busy', () => {
  const db = openMemory();
  const engine = createWriteEngine(db);
  const token = newToken('server');
  engine.write([{ name: 'createAccount', request: newAccount({ tokens: [token] }) }]);

  // Simulates another connection, which notices a commit once, through data_version, and finds the database busy at
  // that moment.
  let data = 1;
  let busy = false;
  const reader = {
    readonly: true,
    prepare: (sql: string) => {
      if (/data_version/.test(sql)) return { pluck: () => ({ get: () => data }) };
      const statement = db.prepare(sql);
      if (!/SELECT access/.test(sql)) return statement;
      statement.pluck();
      return {
        pluck: () => ({
          get: () => {
            if (busy) throw Object.assign(new Error('database is locked'), { code: 'SQLITE_BUSY' });
            return statement.get();
          },
        }),
      };
    },
  };
  const { findAccess } = createAccess(reader as never);
  expect(findAccess(token.hash, 1)).toBeDefined();
  engine.write([{ name: 'revokeToken', request: { account: 1, tokenID: token.tokenID, time: 1 } }]);
  data += 1;
  busy = true;
  expect(() => findAccess(token.hash, 1)).toThrow('locked');
  busy = false;
  expect(findAccess(token.hash, 1)).toBeUndefined();
});
