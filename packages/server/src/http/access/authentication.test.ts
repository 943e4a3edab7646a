import { Hono } from 'hono';
import { describe, expect, it } from 'vitest';
import { hashToken } from '../../ingest/token.ts';
import type { Refusal } from '../../shared/refusal.ts';
import type { Access } from '../../store/store.ts';
import { createAuthentication, credentialsOf } from './authentication.ts';
import { createRateLimit, defaultRateLimits } from './rate-limits.ts';

describe('a request’s token', () => {
  const headers = (authorization?: string) => new Headers(authorization ? { Authorization: authorization } : {});

  it.each([
    ['its field', { tokenUUID: 'a' }, undefined, 'a'],
    ['the field rather than the header', { tokenUUID: 'a' }, 'Bearer b', 'a'],
    ['its header', {}, 'Bearer b', 'b'],
    ['the header, whose scheme can be in lower case', { tokenUUID: '' }, 'bearer  b ', 'b'],
    ['the header, if the field is null', { tokenUUID: null }, 'Bearer b', 'b'],
  ])('is read from %s', (_, fields, authorization, expected) => {
    expect(credentialsOf(fields, headers(authorization))).toEqual({ text: expected, isSession: false });
  });

  it.each([
    ['missing', {}, undefined, 'missing_token'],
    ['sent with another scheme', {}, 'Basic b', 'missing_token'],
    ['not text', { tokenUUID: 5 }, 'Bearer b', 'invalid_field'],
    ['a list', { tokenUUID: ['a'] }, undefined, 'invalid_field'],
    ['a console session', { tokenUUID: 'session_abc' }, undefined, 'token_kind'],
  ])('is rejected if it is %s', (_, fields, authorization, code) => {
    expect(() => credentialsOf(fields, headers(authorization))).toThrow(
      expect.objectContaining({ code, field: 'tokenUUID' }),
    );
  });
});

const access: Access = {
  token: 1,
  tokenID: 'id',
  kind: 'browser',
  account: 1,
  accountOrigin: [],
  accountTimezone: 'UTC',
  enrich: true,
  defaultProfileID: '',
  userIDIsEmailaddress: false,
};

/** Sets up authentication. The tokens in `valid` are valid, and `lookups` records each lookup. */
const setUp = () => {
  const valid = new Set(['good', 'another good one']);
  /** The tokens that the store has issued, according to `wasTokenCreated`. */
  const issued = new Set<string>();
  const lookups: string[] = [];
  let now = 0;
  let commit = () => {};
  const store = {
    findAccess: async (hash: string) => {
      lookups.push(hash);
      await new Promise((resolve) => setImmediate(resolve));
      return [...valid].some((token) => hashToken(token) === hash) ? access : undefined;
    },
    wasTokenCreated: async (hash: string) => [...issued].some((token) => hashToken(token) === hash),
    onCommit: (listener: () => void) => {
      commit = listener;
      return () => {};
    },
  };
  const addressOf = () => 'address';
  const unknownTokens = createRateLimit(defaultRateLimits.unknownToken, () => now);
  const authenticate = createAuthentication({ store, addressOf, unknownTokens });
  const app = new Hono().get('/', async (c) => {
    try {
      await authenticate(c.req.query('token') ?? '', c);
      return c.text('good');
    } catch (error) {
      return c.text((error as Refusal).code);
    }
  });
  const send = async (token: string) => (await app.request(`/?${new URLSearchParams({ token })}`)).text();
  const guess = (from: number, to: number) =>
    Promise.all(Array.from({ length: to - from }, (_, index) => send(`guess ${from + index}`)));
  const revoke = (token: string) => {
    valid.delete(token);
    commit();
  };
  return { valid, issued, lookups, send, guess, revoke, pass: (seconds: number) => (now += seconds * 1_000) };
};

describe('authentication', () => {
  it('accepts valid tokens and rejects others', async () => {
    const { send } = setUp();
    expect(await send('good')).toBe('good');
    expect(await send('bad')).toBe('invalid_token');
  });

  it('rejects a revoked token immediately', async () => {
    const { send, revoke } = setUp();
    await send('good');
    revoke('good');
    expect(await send('good')).toBe('invalid_token');
  });

  it('rejects a token on the next turn after another process revokes it, with one lookup per turn', async () => {
    const { send, valid, lookups } = setUp();
    expect(await Promise.all([send('good'), send('good')])).toEqual(['good', 'good']);
    expect(await send('good')).toBe('good');
    expect(lookups).toHaveLength(1);
    valid.delete('good');
    await new Promise((resolve) => setImmediate(resolve));
    expect(await send('good')).toBe('invalid_token');
  });

  it('looks up at most 20 of 1,000 guesses from an address in a minute and refuses the rest with 429', async () => {
    const { guess, lookups, pass } = setUp();
    const responses = await guess(0, 500);
    for (let second = 0; second < 59; second++) {
      pass(1);
      responses.push(...(await guess(500 + second * 10, 510 + second * 10)));
    }
    expect(lookups.length).toBeLessThanOrEqual(20);
    expect(responses.filter((response) => response === 'invalid_token')).toHaveLength(lookups.length);
    expect(new Set(responses)).toEqual(new Set(['invalid_token', 'too_many_requests']));
  });

  it('still accepts valid tokens from an address that guesses', async () => {
    const { send, guess } = setUp();
    await send('good');
    await guess(0, 100);
    for (let times = 0; times < 100; times++) expect(await send('good')).toBe('good');
  });

  it('accepts an issued token that this process has not seen before, even from an address that guesses', async () => {
    const { send, guess, issued, revoke } = setUp();
    issued.add('good');
    await guess(0, 100);
    expect(await send('another good one')).toBe('too_many_requests');
    expect(await send('good')).toBe('good');
    revoke('good');
    for (let times = 0; times < 100; times++) expect(await send('good')).toBe('invalid_token');
  });

  it('does not count valid tokens as guesses', async () => {
    const { send, valid } = setUp();
    for (let token = 0; token < 100; token++) {
      valid.add(`good ${token}`);
      expect(await send(`good ${token}`)).toBe('good');
    }
  });

  it('looks up a new token only once for concurrent requests', async () => {
    const { send, lookups } = setUp();
    const responses = await Promise.all(Array.from({ length: 100 }, () => send('good')));
    expect(new Set(responses)).toEqual(new Set(['good']));
    expect(lookups).toHaveLength(1);
  });

  it('evicts the oldest of many valid tokens and looks them up again', async () => {
    const { send, valid, guess } = setUp();
    await send('good');
    for (let token = 0; token < 10_000; token++) {
      valid.add(`good ${token}`);
      await send(`good ${token}`);
      valid.delete(`good ${token}`);
    }
    expect(await send('good')).toBe('good');
    await send('another good one');
    await guess(0, 100);
    expect(await send('another good one')).toBe('good');
  });
});
