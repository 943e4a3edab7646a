import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStore } from '../../src/store/open.ts';
import { times } from '../tools/counts.ts';
import { freePort } from '../tools/ports.ts';
import { report } from '../tools/report.ts';
import {
  browserToken,
  createTestAccount,
  startServerProcess,
  stopServerProcess,
  withoutLimits,
} from '../tools/server-process.ts';
import { changeServer } from '../tools/weakened-server.ts';
import { mixingSenders } from '../weaknesses/http.ts';

const rounds = times({ quick: 3, full: 100 });
const visitors = 20;
const userUUID = 'visitor-0123456789';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'firsthand-refused-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const env = {
  TRUST_PROXY: '127.0.0.1',
  RATE_LIMIT: withoutLimits(),
};

/** A batch with only invalid events. */
const badBatch = gzipSync(
  JSON.stringify({ tokenUUID: browserToken, userUUID, event: Array(1_000).fill({ eventID: 0 }) }),
  {
    level: 9,
  },
);

/**
 * Sends bad batches from one IP address. Returns how many of the other visitors' refused requests are still listed, and
 * the stored counts of listed and evicted requests.
 */
const attack = async (name: string, count: number, main?: string) => {
  const path = join(folder, `${name}.db`);
  await createTestAccount(path);
  const served = await startServerProcess(path, await freePort(), { main, env });
  const post = async (body: string | Buffer, from: string, headers: Record<string, string> = {}) => {
    const response = await fetch(`${served.url}/event/logEvents`, {
      method: 'POST',
      body: body as never,
      headers: { 'Content-Type': 'application/json', 'X-Forwarded-For': from, ...headers },
    });
    await response.arrayBuffer();
    expect(response.status).toBe(200);
  };
  for (let visitor = 0; visitor < visitors; visitor += 1) {
    const event = [{ eventID: 0, eventUUID: `of-visitor-${visitor}` }];
    await post(JSON.stringify({ tokenUUID: browserToken, userUUID, event }), `198.51.100.${visitor}`);
  }
  for (let round = 0; round < count; round += 1) await post(badBatch, '203.0.113.9', { 'Content-Encoding': 'gzip' });
  await stopServerProcess(served);
  const store = await openStore({
    databaseURL: `sqlite:${path}`,
    role: 'command',
    onFatal: (error) => {
      throw error;
    },
  });
  const { requests } = await store.listRefused({ beyond: 0, limit: 2_000 });
  const [counts] = await store.countRefused({});
  await store.close();
  return { remaining: requests.filter(({ input }) => JSON.stringify(input).includes('of-visitor')).length, counts };
};

test('keeps other clients’ refused requests listed when one IP address sends bad batches', async (context) => {
  const { remaining, counts } = await attack('ours', rounds);
  expect(remaining).toBe(visitors);
  expect(counts).toMatchObject({ listed: 1_000, evicted: visitors + rounds * 1_000 - 1_000 });

  const weakened = await attack('weakened', 1, changeServer(folder, 'by-age', mixingSenders));
  expect(weakened.remaining).toBe(0);
  report(context, {
    fault: 'flooded list of refused requests',
    count: `${rounds} batches of 1,000 bad events, ${badBatch.length} bytes each, from one address`,
    result: `all ${visitors} requests of other addresses still listed; every one counted`,
    weakened: `does not distinguish senders: ${weakened.remaining} of ${visitors} left after one batch`,
  });
});
