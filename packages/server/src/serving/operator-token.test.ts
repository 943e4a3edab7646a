import pino from 'pino';
import { expect, test } from 'vitest';
import { newDatabaseURL } from '../../test/fixtures/database.ts';
import { hashToken } from '../ingest/token.ts';
import { openStore } from '../store/open.ts';
import { registerOperatorToken } from './operator-token.ts';

test('registers OPERATOR_TOKEN once under its name, and rejects it once it is revoked', async () => {
  const store = await openStore({ databaseURL: await newDatabaseURL(), role: 'server', onFatal: () => {} });
  const text = 'operator_of-a-test-0123456789abc';
  const register = () => registerOperatorToken(store, text, { log: pino({ level: 'silent' }), time: 1 });
  await register();
  await register();
  const { tokenID } = (await store.findAccess(hashToken(text))) ?? {};
  expect(await store.listTokens({})).toMatchObject([{ tokenID, kind: 'operator', tokenName: 'OPERATOR_TOKEN' }]);
  await store.revokeToken({ account: null, tokenID: tokenID as string, time: 2 });
  await expect(register()).rejects.toThrow('OPERATOR_TOKEN is a token that was revoked');
  await store.close();
});

test('passes on other errors unchanged', async () => {
  const fault = new Error('disk');
  const store = { findAccess: async () => undefined, createToken: () => Promise.reject(fault) };
  const registering = registerOperatorToken(store, 'operator_of-a-test-0123456789abc', {
    log: pino({ level: 'silent' }),
    time: 1,
  });
  await expect(registering).rejects.toBe(fault);
});
