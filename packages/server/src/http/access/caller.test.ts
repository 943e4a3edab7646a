import { expect, test } from 'vitest';
import type { Access } from '../../store/store.ts';
import { accountOf, type Caller, toStoreCaller } from './caller.ts';

const access: Access = {
  token: 7,
  tokenID: 'token-7',
  kind: 'browser',
  account: 3,
  accountOrigin: [],
  accountTimezone: 'UTC',
  enrich: true,
  defaultProfileID: '',
  userIDIsEmailaddress: false,
};
const caller: Caller = { access, tokenUUID: 'browser_of-a-test', time: 0 };

test('returns the caller’s account and token', () => {
  expect(toStoreCaller(caller)).toEqual({ account: 3, token: 7, browser: true });
  expect(toStoreCaller({ ...caller, access: { ...access, kind: 'server' } })).toMatchObject({ browser: false });
});

test('refuses an operator token, which has no account', () => {
  const operator: Caller = { ...caller, access: { ...access, kind: 'operator', account: null } };
  for (const read of [accountOf, toStoreCaller]) {
    expect(() => read(operator)).toThrow(expect.objectContaining({ code: 'token_kind' }));
  }
});
