import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
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
import { withoutCountingBytes } from '../weaknesses/http.ts';

const tries = times({ quick: 40, full: 2_000 });
/** The only limit that takes effect, in bytes per IP address: low enough to be reached in a short run. */
const limit = { perSecond: 10_000, burst: 300_000 };

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'firsthand-bytes-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

// Trusts the client as a proxy, so that the server does not delay a 429 by a second.
const env = {
  TRUST_PROXY: '127.0.0.1',
  RATE_LIMIT: `${withoutLimits()},addressBytes=${limit.perSecond}/${limit.burst}`,
};

const fields = { tokenUUID: browserToken };
const note = [{ attrID: 'note', attrValue: 'x'.repeat(700) }];

/**
 * Requests that are small on the network and large on disk: new users, new contacts, and attributes that compress well.
 */
const requests: readonly (readonly [path: string, body: () => object])[] = [
  [
    '/event/logEvents',
    () => ({
      ...fields,
      event: Array.from({ length: 150 }, (_, nth) => ({
        eventID: 1,
        userUUID: `${randomUUID()}-${nth}`,
        eventAttrArray: note,
      })),
    }),
  ],
  [
    '/createContact',
    () => ({
      ...fields,
      userUUID: randomUUID(),
      contactEmailaddress: `${randomBytes(8).toString('hex')}@shop.example`,
      contactProfileID: 'customer',
      contactAttr: Array.from({ length: 20 }, (_, nth) => ({ attrID: `attr-${nth}`, attrValue: 'x'.repeat(2_000) })),
    }),
  ],
];

/** Sends each kind of request `count` times. Returns the size of the file and the number of bytes sent. */
const flood = async (name: string, count: number, main?: string) => {
  const path = join(folder, `${name}.db`);
  await createTestAccount(path);
  const served = await startServerProcess(path, await freePort(), { main, env });
  const began = performance.now();
  let sent = 0;
  const statuses = new Set<number>();
  const client = async ([endpoint, body]: (typeof requests)[number]) => {
    for (let nth = 0; nth < count; nth += 1) {
      const bytes = gzipSync(JSON.stringify(body()));
      const headers = { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' };
      const response = await fetch(served.url + endpoint, { method: 'POST', body: bytes as never, headers });
      await response.arrayBuffer();
      sent += bytes.length;
      statuses.add(response.status);
    }
  };
  await Promise.all(requests.map(client));
  const seconds = (performance.now() - began) / 1_000;
  await stopServerProcess(served);
  return { fileBytes: statSync(path).size, sent, seconds, statuses };
};

const toKB = (bytes: number) => `${Math.round(bytes / 1_000)} KB`;

test('limits file growth to the bytes that one IP address is allowed to send', async (context) => {
  const { fileBytes, sent, seconds, statuses } = await flood('ours', tries);
  const allowed = limit.burst + limit.perSecond * seconds;
  expect([...statuses].sort()).toEqual([200, 429]);
  // 400 kB for an empty database, plus half of the allowed bytes for partly filled pages.
  expect(fileBytes).toBeLessThan(400_000 + 1.5 * allowed);

  const weakened = await flood('weakened', 40, changeServer(folder, 'uncounted', withoutCountingBytes));
  expect(weakened.fileBytes).toBeGreaterThan(400_000 + 1.5 * (limit.burst + limit.perSecond * weakened.seconds));
  report(context, {
    fault: 'file growth at the limits',
    count: `${2 * tries} gzip requests with new users, contacts and attributes from one address in ${Math.round(seconds)} s (${toKB(sent)} sent)`,
    result: `files grew by ${toKB(fileBytes)}; ${toKB(allowed)} were allowed`,
    weakened: `does not count bytes: grew by ${toKB(weakened.fileBytes)} with ${toKB(weakened.sent)} sent`,
  });
});
