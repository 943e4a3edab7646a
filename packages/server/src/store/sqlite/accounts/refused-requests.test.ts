import { limits } from '@firsthand/contract/limits';
import { beforeEach, expect, test } from 'vitest';
import { newAccount, newToken } from '../../../../test/fixtures/store.ts';
import type { RefusedCount, RefusedPage } from '../../store.ts';
import type { Connection } from '../database/connection.ts';
import { openMemory } from '../database/memory.ts';
import { createReadEngine, createWriteEngine } from '../engine.ts';

let db: Connection;
beforeEach(() => {
  db = openMemory();
});

test('survives a wrong count, and evicts the whole list without an error', async () => {
  const engine = createWriteEngine(db);
  const reads = createReadEngine(db);
  const refused = { operation: 'logEvent', input: { eventID: 'x' }, code: 'invalid_field', message: '', address: null };
  const refuse = () =>
    engine.write([{ name: 'addRefused', request: { account: 1, token: 1, time: 0, sender: 0, requests: [refused] } }]);
  engine.write([{ name: 'createAccount', request: newAccount({ tokens: [newToken('server')] }) }]);
  refuse();
  db.prepare('UPDATE refused_count SET listed = ?').run(limits.refusedPerToken + 10);
  expect(refuse()).toEqual([{ value: undefined }]);
  const { requests } = (await reads({ name: 'listRefused', request: { beyond: 0, limit: 10 } })) as RefusedPage;
  expect(requests).toEqual([]);
  expect((await reads({ name: 'countRefused', request: {} })) as RefusedCount[]).toMatchObject([{ evicted: 2 }]);
});
