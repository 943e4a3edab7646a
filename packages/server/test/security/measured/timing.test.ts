/** A browser token's createContact takes the same time for an address that is known as for one that is not. */
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answerInSteps } from '../../../src/http/answers/constant-time.ts';
import type { Store } from '../../../src/store/store.ts';
import { newUserUUID } from '../../fixtures/requests.ts';
import { openScene } from '../../fixtures/scene.ts';
import { createRandom, quantile, times } from '../../tools/counts.ts';
import { freePort } from '../../tools/ports.ts';
import { report } from '../../tools/report.ts';
import { browserToken, makeAccount, startServed, stopServed, withoutLimits } from '../../tools/served.ts';
import { changeServer } from '../../tools/weakened.ts';
import { slowerForKnownAddresses } from '../../weaknesses/http.ts';
import { welch } from '../tools/welch.ts';

const pairs = times({ quick: 50, full: 5_000 });
const weakenedPairs = times({ quick: 50, full: 1_000 });
/** How much longer the weakened server takes for a known address: seen in few pairs too, on a busy machine. */
const longerMilliseconds = times({ quick: 150, full: 1 });
/** Beyond this two lists differ: of as many as are promised but one time in a hundred, of few pairs but one in a hundred thousand. */
const different = times({ quick: 5, full: 2.58 });

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'firsthand-timing-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Sends over one connection, one request after the other; answers microseconds. */
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
          else reject(new Error(`answered ${response.statusCode}`));
        });
      })
        .on('error', reject)
        .end(body);
    });
  return { send, close: () => agent.destroy() };
};

interface Timed {
  readonly known: readonly number[];
  readonly unknown: readonly number[];
  readonly t: number;
}

/** Times pairs of requests, one for each kind of address, in random order. The slowest tenth of all is left out. */
const timePairs = async (name: string, count: number, main?: string): Promise<Timed> => {
  const path = join(folder, `${name}.db`);
  await makeAccount(path);
  const served = await startServed(path, await freePort(), { main, env: { RATE_LIMIT: withoutLimits() } });
  const { send, close } = createSender(served.url);
  const random = createRandom(17);
  const known: number[] = [];
  const unknown: number[] = [];
  for (let made = 0; made < count; made++) await send(`known${made}@example.com`);
  for (let sent = 0; sent < count; sent++) {
    const both = [
      async () => known.push(await send(`known${Math.floor(random() * count)}@example.com`)),
      async () => unknown.push(await send(`nobody${sent}@example.com`)),
    ];
    if (random() < 0.5) both.reverse();
    for (const each of both) await each();
  }
  close();
  await stopServed(served);
  const slowest = quantile([...known, ...unknown], 0.9);
  const usual = (list: readonly number[]) => list.filter((time) => time < slowest);
  return { known, unknown, t: welch(usual(known), usual(unknown)) };
};

const inWords = ({ known, unknown, t }: Timed) =>
  `median ${quantile(known, 0.5).toFixed(0)} µs for a known address, ` +
  `${quantile(unknown, 0.5).toFixed(0)} µs for an unknown one, t = ${t.toFixed(2)}`;

const told = (what: string, timed: Timed) =>
  process.stdout.write(`${what}: ${timed.known.length} pairs, ${inWords(timed)}\n`);

/** Ours, once it is known to tell nothing. */
let ours: Timed | undefined;

it(`tells nothing by its time, over ${pairs} pairs`, async () => {
  let timed = await timePairs('ours', pairs);
  told('ours', timed);
  // Sometimes chance alone goes that far: what is no chance goes there again.
  if (Math.abs(timed.t) >= different) {
    timed = await timePairs('again', pairs);
    told('ours, again', timed);
  }
  expect(Math.abs(timed.t)).toBeLessThan(different);
  ours = timed;
});

it('tells much when a server does more for known addresses', async (context) => {
  const timed = await timePairs(
    'telling',
    weakenedPairs,
    changeServer(folder, 'telling', slowerForKnownAddresses(longerMilliseconds)),
  );
  told('telling', timed);
  expect(timed.t).toBeGreaterThan(different);
  if (ours === undefined) return;
  report(context, {
    fault: 'timing of createContact',
    count: `${ours.known.length} pairs of requests, for an address that is known and one that is not`,
    result: `${inWords(ours)} (${different} would tell)`,
    weakened: `answers at once, and takes ${longerMilliseconds} ms more for a known address: t = ${timed.t.toFixed(2)} after ${timed.known.length} pairs`,
  });
});

describe('what is done', () => {
  /** What the store is asked for a browser's createContact, random names left out, for either kind of address. */
  const askedFor = async (
    weaken: (store: Store) => Store = (store) => store,
    key: 'contactEmailaddress' | 'contactExternalID' = 'contactEmailaddress',
  ) => {
    const asked: string[] = [];
    const recording = (store: Store): Store =>
      new Proxy(store, {
        get: (target, name: keyof Store) => {
          const call = target[name] as (...args: unknown[]) => unknown;
          return (...args: unknown[]) => {
            const told = JSON.stringify(args).replace(/"(?:newHandle|newContactUUID|time)":[^,}]*,?/g, '');
            // findAccess is given the time as it is.
            asked.push(`${name} ${told.replace(/\b1\d{12}\b/g, 'now')}`);
            return call(...args);
          };
        },
      });
    const scene = await openScene({ wrap: (store) => weaken(recording(store)) });
    const { tokens, post } = scene;
    const userUUID = newUserUUID();
    const create = async (value: string, by: 'browser' | 'server') => {
      asked.length = 0;
      const fields = { tokenUUID: tokens[by], userUUID, [key]: value, contactProfileID: 'customer' };
      expect((await post('/createContact', fields)).status).toBe(200);
      return asked.map((call) => call.replaceAll(value, 'value'));
    };
    await create('known@example.com', 'server');
    // The first look at a token is a guess, and a guess counts.
    await create('first@example.com', 'browser');
    const both = [await create('known@example.com', 'browser'), await create('nobody@example.com', 'browser')];
    await scene.close();
    return both;
  };

  it.each(['contactEmailaddress', 'contactExternalID'] as const)(
    'is the same calls of the store, by %s',
    async (key) => {
      const [known, unknown] = await askedFor(undefined, key);
      expect(known).toEqual(unknown);
      expect(known?.map((call) => call.split(' ')[0])).toEqual(['wasMade', 'findAccess', 'createContact']);
    },
  );

  it('is seen to differ when it does', async () => {
    const looking = (store: Store): Store => ({
      ...store,
      createContact: async (asked) => {
        if (asked.address?.startsWith('known')) await store.listAccounts();
        return store.createContact(asked);
      },
    });
    const [known, unknown] = await askedFor(looking);
    expect(known).not.toEqual(unknown);
  });

  it('is answered at a step of time, whatever it takes', async () => {
    const order: string[] = [];
    const work = async (name: string, turns: number) => {
      for (let turn = 0; turn < turns; turn++) await null;
      order.push(`${name} done`);
    };
    const both = ['short', 'long'].map((name, index) =>
      answerInSteps(work(name, index * 50)).then(() => order.push(`${name} answered`)),
    );
    await Promise.all(both);
    expect(order).toEqual(['short done', 'long done', 'short answered', 'long answered']);
  });
});
