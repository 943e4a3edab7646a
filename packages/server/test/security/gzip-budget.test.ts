// Tests the budget for gzip: a body of 1 KB can cost the server as much work as 1 MB, and an IP address must not cause
// more of this work than its parsing budget allows.
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { defaultRateLimits } from '../../src/http/access/rate-limits.ts';
import { noRateLimits, openScene, type Scene } from '../fixtures/scene.ts';

let scene: Scene;
beforeAll(async () => {
  // A rate that refills no budget during the test.
  const stopped = { perSecond: 1e-6 };
  const { unprovenBytes, addressBytes } = defaultRateLimits;
  scene = await openScene({
    rateLimits: {
      ...noRateLimits,
      unprovenBytes: { ...unprovenBytes, ...stopped },
      addressBytes: { ...addressBytes, ...stopped },
    },
  });
});
afterAll(() => scene.close());

const attempts = 20;

const send = (body: Buffer, headers: Record<string, string> = {}) =>
  scene.send('/event/logEvents', {
    method: 'POST',
    body,
    headers: {
      'Content-Type': 'application/json',
      'Content-Encoding': 'gzip',
      'Content-Length': String(body.length),
      ...headers,
    },
  });

/**
 * Sends bodies that are too large after decompression. Returns how many were decompressed, and therefore refused with
 * 413.
 */
const countDecompressed = async (tokenUUID: string): Promise<number> => {
  const bomb = gzipSync(JSON.stringify({ tokenUUID, padding: ' '.repeat(2 * 1024 * 1024) }));
  let decompressed = 0;
  for (let nth = 0; nth < attempts; nth += 1) {
    const { status } = await send(bomb);
    expect([413, 429]).toContain(status);
    if (status === 413) decompressed += 1;
  }
  return decompressed;
};

test('decompresses one large body from an IP address without a token, and no more after that', async () => {
  expect(await countDecompressed('browser_of_nobody')).toBe(1);
});

test('decompresses no more bytes for a page’s requests than the page is allowed to store', async () => {
  expect(await countDecompressed(scene.tokens.browser)).toBe(5);
});

test('still decompresses bodies that a server sends from the same IP address', async () => {
  const event = [{ eventID: 1, userUUID: 'visitor-0123456789' }];
  const withToken = gzipSync(JSON.stringify({ tokenUUID: scene.tokens.server, event }));
  expect((await send(withToken)).status).toBe(200);
  const authorization = { Authorization: `Bearer ${scene.tokens.server}` };
  expect((await send(gzipSync(JSON.stringify({ event })), authorization)).status).toBe(200);
  expect((await send(gzipSync('not JSON'), authorization)).status).toBe(400);
});
