import { Hono } from 'hono';
import { describe, expect, it } from 'vitest';
import { hashToken } from '../../ingest/token.ts';
import type { Refusal } from '../../shared/refusal.ts';
import type { Access } from '../../store/store.ts';
import { createAuthentication, proofOf } from './authentication.ts';
import { createRateLimit, defaultRateLimits } from './rate-limits.ts';

describe('the token of a request', () => {
  const headers = (authorization?: string) => new Headers(authorization ? { Authorization: authorization } : {});

  it.each([
    ['its field', { tokenUUID: 'a' }, undefined, 'a'],
    ['its field rather than its header', { tokenUUID: 'a' }, 'Bearer b', 'a'],
    ['its header', {}, 'Bearer b', 'b'],
    ['its header, in any case', { tokenUUID: '' }, 'bearer  b ', 'b'],
    ['its header, where the field is null', { tokenUUID: null }, 'Bearer b', 'b'],
  ])('is %s', (_, given, authorization, expected) => {
    expect(proofOf(given, headers(authorization))).toEqual({ text: expected, isSession: false });
  });

  it.each([
    ['nothing', {}, undefined, 'missing_token'],
    ['another scheme', {}, 'Basic b', 'missing_token'],
    ['no text', { tokenUUID: 5 }, 'Bearer b', 'invalid_field'],
    ['a list', { tokenUUID: ['a'] }, undefined, 'invalid_field'],
    ['a session of the console', { tokenUUID: 'session_abc' }, undefined, 'token_kind'],
  ])('is not %s', (_, given, authorization, code) => {
    expect(() => proofOf(given, headers(authorization))).toThrow(expect.objectContaining({ code, field: 'tokenUUID' }));
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
};

/** Addresses are what the test says, tokens are good while they are in `good`, and lookups are counted. */
const authentication = () => {
  const good = new Set(['good', 'another good one']);
  /** What the store remembers of tokens without a look; more are good. */
  const made = new Set<string>();
  const looked: string[] = [];
  let now = 0;
  let commit = () => {};
  const store = {
    findAccess: async (hash: string) => {
      looked.push(hash);
      await new Promise((resolve) => setImmediate(resolve));
      return [...good].some((token) => hashToken(token) === hash) ? access : undefined;
    },
    wasMade: async (hash: string) => [...made].some((token) => hashToken(token) === hash),
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
  const ask = async (token: string) => (await app.request(`/?${new URLSearchParams({ token })}`)).text();
  const guess = (from: number, to: number) =>
    Promise.all(Array.from({ length: to - from }, (_, index) => ask(`guess ${from + index}`)));
  const revoke = (token: string) => {
    good.delete(token);
    commit();
  };
  return { good, made, looked, ask, guess, revoke, pass: (seconds: number) => (now += seconds * 1_000) };
};

describe('authentication', () => {
  it('knows good tokens from others', async () => {
    const { ask } = authentication();
    expect(await ask('good')).toBe('good');
    expect(await ask('bad')).toBe('invalid_token');
  });

  it('stops a token that is revoked at once', async () => {
    const { ask, revoke } = authentication();
    await ask('good');
    revoke('good');
    expect(await ask('good')).toBe('invalid_token');
  });

  it('stops one that is revoked beside the server in the next turn, and looks it up once in each', async () => {
    const { ask, good, looked } = authentication();
    expect(await Promise.all([ask('good'), ask('good')])).toEqual(['good', 'good']);
    expect(await ask('good')).toBe('good');
    expect(looked).toHaveLength(1);
    good.delete('good');
    await new Promise((resolve) => setImmediate(resolve));
    expect(await ask('good')).toBe('invalid_token');
  });

  it('looks at no more than 20 of 1,000 guesses from an address in a minute, and says 429 to the rest', async () => {
    const { guess, looked, pass } = authentication();
    const answers = await guess(0, 500);
    for (let second = 0; second < 59; second++) {
      pass(1);
      answers.push(...(await guess(500 + second * 10, 510 + second * 10)));
    }
    expect(looked.length).toBeLessThanOrEqual(20);
    expect(answers.filter((answer) => answer === 'invalid_token')).toHaveLength(looked.length);
    expect(new Set(answers)).toEqual(new Set(['invalid_token', 'too_many_requests']));
  });

  it('lets good tokens from that address go on', async () => {
    const { ask, guess } = authentication();
    await ask('good');
    await guess(0, 100);
    for (let times = 0; times < 100; times++) expect(await ask('good')).toBe('good');
  });

  it('lets one go on that was made, where this process has not seen it yet', async () => {
    const { ask, guess, made, revoke } = authentication();
    made.add('good');
    await guess(0, 100);
    expect(await ask('another good one')).toBe('too_many_requests');
    expect(await ask('good')).toBe('good');
    revoke('good');
    for (let times = 0; times < 100; times++) expect(await ask('good')).toBe('invalid_token');
  });

  it('counts good tokens as no guesses', async () => {
    const { ask, good } = authentication();
    for (let token = 0; token < 100; token++) {
      good.add(`good ${token}`);
      expect(await ask(`good ${token}`)).toBe('good');
    }
  });

  it('takes many first requests with one token as one guess', async () => {
    const { ask, looked } = authentication();
    const answers = await Promise.all(Array.from({ length: 100 }, () => ask('good')));
    expect(new Set(answers)).toEqual(new Set(['good']));
    expect(looked).toHaveLength(1);
  });

  it('lets go of the good tokens that it remembers longest when they are many, and finds them again', async () => {
    const { ask, good, guess } = authentication();
    await ask('good');
    for (let token = 0; token < 10_000; token++) {
      good.add(`good ${token}`);
      await ask(`good ${token}`);
      good.delete(`good ${token}`);
    }
    expect(await ask('good')).toBe('good');
    await ask('another good one');
    await guess(0, 100);
    expect(await ask('another good one')).toBe('good');
  });
});
