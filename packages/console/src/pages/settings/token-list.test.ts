import { describe, expect, test } from 'vitest';
import { groupTokens, liveDescendants, nameOfActor, nameOfToken, stateOf, type Token } from './token-list.ts';

const now = Date.parse('2026-11-25T12:00:00Z');
const token: Token = {
  tokenID: 'first-token',
  tokenKind: 'server',
  tokenName: '',
  createdTime: '2026-11-01T00:00:00.000Z',
  createdBy: '',
};
const past = '2026-11-20T00:00:00.000Z';
const future = '2026-12-20T00:00:00.000Z';

test.each([
  [{}, 'live'],
  [{ expiresTime: future }, 'live'],
  [{ expiresTime: past }, 'expired'],
  [{ expiresTime: past, revokedTime: past }, 'revoked'],
] as const)('treats a token with %j as %s', (fields, state) => {
  expect(stateOf({ ...token, ...fields }, now)).toBe(state);
});

test('separates live tokens, ended tokens and open sessions, newest first', () => {
  const tokens: Token[] = [
    token,
    { ...token, tokenID: 'newer', createdTime: past },
    { ...token, tokenID: 'ended', revokedTime: past },
    { ...token, tokenID: 'session', session: true, expiresTime: future },
    { ...token, tokenID: 'ended session', session: true, expiresTime: past },
    { ...token, tokenID: 'session of an ended token', session: true, expiresTime: future, createdBy: 'ended' },
  ];
  const ids = Object.values(groupTokens(tokens, now)).map((list: readonly Token[]) =>
    list.map(({ tokenID }) => tokenID),
  );
  expect(ids).toEqual([['newer', 'first-token'], ['ended'], ['session']]);
});

describe('nameOfToken and nameOfActor', () => {
  test.each([
    [{ tokenName: 'Nightly report' }, 'Nightly report'],
    [{}, 'Server token first-'],
    [{ tokenName: 'Console', session: true as const }, 'Console session'],
  ])('name a token with %j', (fields, name) => {
    expect(nameOfToken({ ...token, ...fields })).toBe(name);
  });

  test.each([
    ['', 'the command line'],
    ['command', 'the command line'],
    ['first-token', 'Server token first-'],
    ['unknown-token', 'token unknow'],
  ])('name the actor “%s”', (actor, name) => {
    expect(nameOfActor(actor, [token])).toBe(name);
  });

  test('name a session after the token or link that started it', () => {
    const session = { ...token, tokenID: 'session', session: true } as const;
    const nameOf = (createdBy: string) => nameOfActor('session', [token, { ...session, createdBy }]);
    expect([nameOf('first-token'), nameOf('')]).toEqual(['Server token first-', 'a one-time link']);
  });
});

test('finds live tokens that a token created, including through a revoked token', () => {
  const tokens: Token[] = [
    token,
    { ...token, tokenID: 'child', createdBy: 'first-token', revokedTime: past },
    { ...token, tokenID: 'grandchild', createdBy: 'child' },
    { ...token, tokenID: 'other' },
  ];
  expect(liveDescendants('first-token', tokens, now).map(({ tokenID }) => tokenID)).toEqual(['grandchild']);
});
