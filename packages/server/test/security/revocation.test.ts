import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import Database from '../../src/store/sqlite/database/better-sqlite3.ts';
import { firsthandJSON } from '../fixtures/command.ts';
import { quantile, times } from '../tools/counts.ts';
import { freePort } from '../tools/ports.ts';
import { report } from '../tools/report.ts';
import {
  createTestAccount,
  type ServerProcess,
  startServerProcess,
  stopServerProcess,
  withoutLimits,
} from '../tools/server-process.ts';
import { changeServer } from '../tools/weakened-server.ts';
import { cachingTokens } from '../weaknesses/store.ts';
import { createResponseCounter, findDifferences } from './tools/response-counter.ts';

const tokens = times({ quick: 2, full: 20 });
/** The time limit: generous in quick runs, which must not fail because of timing. */
const maxMilliseconds = times({ quick: 20_000, full: 1_000 });

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'firsthand-revocation-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const env = { RATE_LIMIT: withoutLimits() };

interface Call {
  readonly began: number;
  readonly ended: number;
  readonly status: number;
}

/** Returns the operations for which each kind of token is used. */
const operationsOf = (kind: string) =>
  kind === 'server'
    ? (['logEvent', 'getEvent', 'getAccount', 'searchContact'] as const)
    : (['logEvent', 'logEvents'] as const);

const fieldsOf = (operation: string) => ({
  ...(operation.startsWith('log') && { userUUID: 'visitor-0123456789', eventID: 1 }),
  ...(operation === 'logEvents' && { event: [{ eventID: 2 }] }),
});

/** Uses a token continuously for all its operations, until stopped. */
const useContinuously = (
  counter: ReturnType<typeof createResponseCounter>,
  url: string,
  tokenUUID: string,
  kind: string,
) => {
  const calls: Call[] = [];
  let stopped = false;
  const client = async (operation: ReturnType<typeof operationsOf>[number]) => {
    while (!stopped) {
      const began = performance.now();
      const { status } = await counter.call(url, operation, { tokenUUID, ...fieldsOf(operation) });
      calls.push({ began, ended: performance.now(), status });
    }
  };
  const done = Promise.all(operationsOf(kind).map(client));
  return async () => {
    stopped = true;
    await done;
    return calls;
  };
};

/** Follows events with a token. Resolves when the stream has ended. */
const follow = async (url: string, token: string): Promise<{ readonly ended: Promise<number> }> => {
  const response = await fetch(`${url}/event/streamEvents`, { headers: { Authorization: `Bearer ${token}` } });
  expect(response.status).toBe(200);
  return { ended: response.text().then(() => performance.now()) };
};

type Revoke = (served: ServerProcess, token: { accountUUID: string; tokenID: string }) => Promise<unknown>;

/** Revokes a token in another process, while the server runs. Resolves after that process has committed. */
const byCommand =
  (path: string): Revoke =>
  (_, { accountUUID, tokenID }) =>
    firsthandJSON(['token', 'revoke', '--account', accountUUID, tokenID], { DATABASE_URL: `sqlite:${path}` });

const byRequest =
  (server: string): Revoke =>
  async ({ url }, { tokenID }) => {
    const body = JSON.stringify({ tokenUUID: server, tokenID });
    expect((await fetch(`${url}/account/revokeToken`, { method: 'POST', body })).status).toBe(200);
  };

/** Whether the token is revoked in the database. */
const isRevoked = (path: string, tokenID: string): boolean => {
  const db = new Database(path, { readonly: true });
  try {
    return db.prepare('SELECT 1 FROM token WHERE tokenID = ? AND revokedTime IS NOT NULL').get(tokenID) !== undefined;
  } finally {
    db.close();
  }
};

/**
 * Revokes tokens in use, alternately by command and by request. Returns how many milliseconds after each revocation the
 * last successful request began and the stream ended.
 */
const revokeAll = async (name: string, count: number, main?: string) => {
  const path = join(folder, `${name}.db`);
  const server = await createTestAccount(path);
  const served = await startServerProcess(path, await freePort(), { main, env });
  const counter = createResponseCounter();
  const { body } = await counter.call(served.url, 'getAccount', { tokenUUID: server });
  const { accountUUID } = body.account;
  const ways = [byCommand(path), byRequest(server)];
  const lateMilliseconds: number[] = [];
  const streams: number[] = [];
  let statuses = new Set<number>();
  let requests = 0;
  for (let nth = 0; nth < count; nth += 1) {
    const tokenKind = nth % 4 < 2 ? 'server' : 'browser';
    const created = await counter.call(served.url, 'createToken', { tokenUUID: server, tokenKind });
    const { tokenID, tokenUUID } = created.body;
    const stop = useContinuously(counter, served.url, tokenUUID, tokenKind);
    const stream = tokenKind === 'server' ? await follow(served.url, tokenUUID) : undefined;
    await wait(200);
    await (ways[nth % 2] as Revoke)(served, { accountUUID, tokenID });
    expect(isRevoked(path, tokenID)).toBe(true);
    const revoked = performance.now();
    await wait(times({ quick: 300, full: 2_000 }));
    const calls = await stop();
    const successes = calls.filter(({ status }) => status === 200);
    expect(successes.length).toBeGreaterThan(0);
    lateMilliseconds.push(Math.max(0, ...successes.map(({ began }) => began - revoked)));
    statuses = new Set([...statuses, ...calls.map(({ status }) => status)]);
    requests += calls.length;
    const ended = await Promise.race([stream?.ended, wait(maxMilliseconds).then(() => Number.POSITIVE_INFINITY)]);
    if (ended !== undefined) streams.push(Math.max(0, ended - revoked));
  }
  await stopServerProcess(served);
  return {
    lateMilliseconds,
    streams,
    statuses: [...statuses].sort(),
    requests,
    differences: findDifferences(counter, path),
  };
};

test('stops accepting a revoked token immediately, and soon ends streams that were opened with it', async (context) => {
  const result = await revokeAll('ours', tokens);
  expect(result).toMatchObject({ statuses: [200, 401], differences: [] });
  expect(Math.max(...result.lateMilliseconds)).toBe(0);
  expect(Math.max(...result.streams)).toBeLessThan(maxMilliseconds);

  const weakened = await revokeAll('weakened', 1, changeServer(folder, 'remembering', cachingTokens)).catch(
    (error: Error) => error,
  );
  expect(weakened).not.toBeInstanceOf(Error);
  const { lateMilliseconds } = weakened as Exclude<typeof weakened, Error>;
  expect(Math.max(...lateMilliseconds)).toBeGreaterThan(0);
  report(context, {
    fault: 'revoked token',
    count: `${tokens} tokens in constant use (${result.requests} requests), revoked alternately by the command and by requests`,
    result: `no later request got a 200; streams ended after ${Math.round(quantile(result.streams, 0.5))} ms, at most ${Math.round(Math.max(...result.streams))} ms`,
    weakened: `caches the rights of a token: still 200 after ${Math.round(Math.max(...lateMilliseconds))} ms`,
  });
});
