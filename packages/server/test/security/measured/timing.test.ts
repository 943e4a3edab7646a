/** Tests that a browser token's createContact takes the same time for known and unknown e-mail addresses. */
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { respondInSteps } from '../../../src/http/responses/constant-time.ts';
import type { Store } from '../../../src/store/store.ts';
import { newUserUUID } from '../../fixtures/requests.ts';
import { openScene } from '../../fixtures/scene.ts';
import { createRandom, quantile, times } from '../../tools/counts.ts';
import { freePort } from '../../tools/ports.ts';
import { report } from '../../tools/report.ts';
import {
  browserToken,
  createTestAccount,
  startServerProcess,
  stopServerProcess,
  withoutLimits,
} from '../../tools/server-process.ts';
import { changeServer } from '../../tools/weakened-server.ts';
import { slowerForKnownAddresses } from '../../weaknesses/http.ts';
import { computeT } from '../tools/welch.ts';

const pairs = times({ quick: 50, full: 5_000 });
const weakenedPairs = times({ quick: 50, full: 1_000 });
/**
 * The delay that the weakened server adds for a known address. Larger in quick runs, so that a few pairs show it on a
 * busy machine.
 */
const delayMilliseconds = times({ quick: 150, full: 1 });
/**
 * The threshold of t. Equal distributions exceed it once in a hundred full runs, and once in a hundred thousand quick
 * runs.
 */
const threshold = times({ quick: 5, full: 2.58 });

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'firsthand-timing-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Sends requests one by one over one connection. `send` resolves with the microseconds that a request took. */
const createSender = (url: string) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let count = 0;
  const send = (contactEmailaddress: string): Promise<number> =>
    new Promise((resolve, reject) => {
      count += 1;
      const userUUID = `visitor-${String(count).padStart(12, '0')}`;
      const fields = { tokenUUID: browserToken, userUUID, contactEmailaddress, contactProfileID: 'customer' };
      const body = JSON.stringify(fields);
      const headers = { 'Content-Type': 'text/plain', 'Content-Length': body.length };
      const started = performance.now();
      request(`${url}/createContact`, { method: 'POST', agent, headers }, (response) => {
        response.resume().on('end', () => {
          if (response.statusCode === 200) resolve((performance.now() - started) * 1_000);
          else reject(new Error(`expected 200, got ${response.statusCode}`));
        });
      })
        .on('error', reject)
        .end(body);
    });
  return { send, close: () => agent.destroy() };
};

interface Timing {
  readonly known: readonly number[];
  readonly unknown: readonly number[];
  readonly t: number;
}

/** Measures pairs of requests, one for each kind of address, in random order. Computes t without the slowest tenth. */
const timePairs = async (name: string, count: number, main?: string): Promise<Timing> => {
  const path = join(folder, `${name}.db`);
  await createTestAccount(path);
  const served = await startServerProcess(path, await freePort(), { main, env: { RATE_LIMIT: withoutLimits() } });
  const { send, close } = createSender(served.url);
  const random = createRandom(17);
  const known: number[] = [];
  const unknown: number[] = [];
  for (let nth = 0; nth < count; nth++) await send(`known${nth}@example.com`);
  for (let sent = 0; sent < count; sent++) {
    const both = [
      async () => known.push(await send(`known${Math.floor(random() * count)}@example.com`)),
      async () => unknown.push(await send(`nobody${sent}@example.com`)),
    ];
    if (random() < 0.5) both.reverse();
    for (const each of both) await each();
  }
  close();
  await stopServerProcess(served);
  const slowest = quantile([...known, ...unknown], 0.9);
  const withoutSlowest = (list: readonly number[]) => list.filter((time) => time < slowest);
  return { known, unknown, t: computeT(withoutSlowest(known), withoutSlowest(unknown)) };
};

const describeTiming = ({ known, unknown, t }: Timing) =>
  `median ${quantile(known, 0.5).toFixed(0)} µs for a known address, ` +
  `${quantile(unknown, 0.5).toFixed(0)} µs for an unknown one, t = ${t.toFixed(2)}`;

const printTiming = (what: string, timing: Timing) =>
  process.stdout.write(`${what}: ${timing.known.length} pairs, ${describeTiming(timing)}\n`);

/** The result of our own server, once its test has passed. */
let ours: Timing | undefined;

it(`takes the same time for known and unknown addresses, over ${pairs} pairs`, async () => {
  let timing = await timePairs('ours', pairs);
  printTiming('ours', timing);
  // Measures again: a gap this large can be noise, but a real leak shows it again.
  if (Math.abs(timing.t) >= threshold) {
    timing = await timePairs('again', pairs);
    printTiming('ours, again', timing);
  }
  expect(Math.abs(timing.t)).toBeLessThan(threshold);
  ours = timing;
});

it('detects a server that takes longer for known addresses', async (context) => {
  const timing = await timePairs(
    'telling',
    weakenedPairs,
    changeServer(folder, 'telling', slowerForKnownAddresses(delayMilliseconds)),
  );
  printTiming('telling', timing);
  expect(timing.t).toBeGreaterThan(threshold);
  if (ours === undefined) return;
  report(context, {
    fault: 'timing of createContact',
    count: `${ours.known.length} pairs of requests, one for a known and one for an unknown address`,
    result: `${describeTiming(ours)} (threshold ${threshold})`,
    weakened: `no fixed response time, and ${delayMilliseconds} ms more for a known address: t = ${timing.t.toFixed(2)} after ${timing.known.length} pairs`,
  });
});

describe('createContact with a browser token', () => {
  /** Records the calls to the store, without random values, for a known and for an unknown address. */
  const recordCalls = async (
    weaken: (store: Store) => Store = (store) => store,
    key: 'contactEmailaddress' | 'contactExternalID' = 'contactEmailaddress',
  ) => {
    const calls: string[] = [];
    const recording = (store: Store): Store =>
      new Proxy(store, {
        get: (target, name: keyof Store) => {
          const call = target[name] as (...args: unknown[]) => unknown;
          return (...args: unknown[]) => {
            const fixedArgs = JSON.stringify(args).replace(/"(?:newHandle|newContactUUID|time)":[^,}]*,?/g, '');
            // Replaces times, because findAccess takes the current time as a plain number.
            calls.push(`${name} ${fixedArgs.replace(/\b1\d{12}\b/g, 'now')}`);
            return call(...args);
          };
        },
      });
    const scene = await openScene({ wrap: (store) => weaken(recording(store)) });
    const { tokens, post } = scene;
    const userUUID = newUserUUID();
    const create = async (value: string, by: 'browser' | 'server') => {
      calls.length = 0;
      const fields = { tokenUUID: tokens[by], userUUID, [key]: value, contactProfileID: 'customer' };
      expect((await post('/createContact', fields)).status).toBe(200);
      return calls.map((call) => call.replaceAll(value, 'value'));
    };
    await create('known@example.com', 'server');
    // Uses the token once before, because the first use counts as a guess and causes additional calls.
    await create('first@example.com', 'browser');
    const both = [await create('known@example.com', 'browser'), await create('nobody@example.com', 'browser')];
    await scene.close();
    return both;
  };

  it.each(['contactEmailaddress', 'contactExternalID'] as const)(
    'makes the same calls to the store for known and unknown keys, by %s',
    async (key) => {
      const [known, unknown] = await recordCalls(undefined, key);
      expect(known).toEqual(unknown);
      expect(known?.map((call) => call.split(' ')[0])).toEqual(['wasTokenCreated', 'findAccess', 'createContact']);
    },
  );

  it('fails this check if the calls differ', async () => {
    const lookUpKnown = (store: Store): Store => ({
      ...store,
      createContact: async (request) => {
        if (request.address?.startsWith('known')) await store.listAccounts();
        return store.createContact(request);
      },
    });
    const [known, unknown] = await recordCalls(lookUpKnown);
    expect(known).not.toEqual(unknown);
  });

  it('responds at fixed time steps, no matter how long the work takes', async () => {
    const order: string[] = [];
    const work = async (name: string, turns: number) => {
      for (let turn = 0; turn < turns; turn++) await null;
      order.push(`${name} done`);
    };
    const both = ['short', 'long'].map((name, index) =>
      respondInSteps(work(name, index * 50)).then(() => order.push(`${name} answered`)),
    );
    await Promise.all(both);
    expect(order).toEqual(['short done', 'long done', 'short answered', 'long answered']);
  });
});
