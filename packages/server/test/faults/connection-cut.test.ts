import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { spread, times } from '../tools/counts.ts';
import { freePort } from '../tools/ports.ts';
import { report } from '../tools/report.ts';
import { createTestAccount, startServerProcess, stopServerProcess } from '../tools/server-process.ts';
import { changeServer } from '../tools/weakened-server.ts';
import { storingDuplicates } from '../weaknesses/store.ts';
import { type Cut, openCuttingProxy } from './tools/cut-connection.ts';
import { readEverything } from './tools/ledger.ts';

const cutsPerShape = times({ quick: 300, full: Number.POSITIVE_INFINITY });

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'firsthand-cut-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const userUUID = 'user_0000000000000000';

/** Sends a request on a separate connection. Returns whether the whole response arrived with status 200. */
const post = (url: string, path: string, body: object): Promise<boolean> =>
  new Promise((resolve) => {
    const text = JSON.stringify(body);
    const headers = {
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(text),
      Connection: 'close',
    };
    const outgoing = request(`${url}${path}`, { method: 'POST', headers, agent: false }, (response) => {
      response.resume();
      response.once('close', () => resolve(response.complete && response.statusCode === 200));
    });
    outgoing.once('error', () => resolve(false));
    outgoing.end(text);
  });

interface Shape {
  readonly path: string;
  readonly body: (token: string, nth: number) => { readonly tokenUUID: string };
  readonly eventUUIDs: (nth: number) => readonly string[];
}

const nameOf = (nth: number, part = 'one') => `event_${part}_${String(nth).padStart(8, '0')}`;
const shapes: readonly Shape[] = [
  {
    path: '/event/logEvent',
    body: (tokenUUID, nth) => ({ tokenUUID, eventID: 1, userUUID, eventUUID: nameOf(nth) }),
    eventUUIDs: (nth) => [nameOf(nth)],
  },
  {
    path: '/event/logEvents',
    body: (tokenUUID, nth) => ({
      tokenUUID,
      userUUID,
      event: ['first', 'other'].map((part) => ({ eventID: 2, eventUUID: nameOf(nth, part) })),
    }),
    eventUUIDs: (nth) => ['first', 'other'].map((part) => nameOf(nth, part)),
  },
];

/** Cuts a connection at each byte of a request and its response. The client retries after each cut. */
const cutEverywhere = async (name: string, maxCuts: number, main?: string) => {
  const path = join(folder, `${name}.db`);
  const token = await createTestAccount(path);
  const port = await freePort();
  const served = await startServerProcess(path, port, { main });
  const proxy = await openCuttingProxy(port);
  const expected: string[] = [];
  let cuts = 0;
  let broken = 0;
  let nth = 0;
  for (const { path: operation, body, eventUUIDs } of shapes) {
    const send = async (url: string) => post(url, operation, body(token, nth));
    Object.assign(proxy.largest, { request: 0, response: 0 });
    expect(await send(proxy.url)).toBe(true);
    expected.push(...eventUUIDs(nth));
    const { largest } = proxy;
    const all = (['request', 'response'] as const).flatMap((of) =>
      Array.from({ length: largest[of] }, (_, after): Cut => ({ of, after })),
    );
    for (const cut of spread(all, maxCuts)) {
      nth += 1;
      cuts += 1;
      proxy.cut = cut;
      if (!(await send(proxy.url))) broken += 1;
      proxy.cut = null;
      expect(await send(proxy.url)).toBe(true);
      expected.push(...eventUUIDs(nth));
    }
    nth += 1;
  }
  const stored = await readEverything(served.url, token);
  proxy.close();
  await stopServerProcess(served);
  const keys = new Set(stored);
  const lost = expected.filter((eventUUID) => !keys.has(`${userUUID} ${eventUUID}`)).length;
  return { cuts, broken, lost, twice: stored.length - keys.size };
};

test('stores events exactly once when a client retries after its connection was cut', async (context) => {
  const result = await cutEverywhere('ours', cutsPerShape);
  expect(result).toEqual({ cuts: result.cuts, broken: result.cuts, lost: 0, twice: 0 });
  const weakened = await cutEverywhere('weakened', 60, changeServer(folder, 'forgetful', storingDuplicates));
  expect(weakened.twice).toBeGreaterThan(0);
  report(context, {
    fault: 'connection cut',
    count: `${result.cuts} cuts, ${cutsPerShape === Number.POSITIVE_INFINITY ? 'one at every byte' : 'spread over the bytes'} of a request and its response, single event and batch`,
    result: '0 lost, 0 twice after the client retried',
    weakened: `does not detect repeats: ${weakened.twice} twice`,
  });
});
