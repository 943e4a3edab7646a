/**
 * That nothing is lost and nothing is kept twice, in real browsers against the real server. Each case is done DELIVERY_TIMES
 * times: a few unless said; `DELIVERY_TIMES=200 npx vitest run …/delivery.test.ts` is the proof.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, createClient } from '@firsthand/client';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { freePort, type Served, startServed } from '../../../server/test/faults/served.ts';
import type { Tracker } from '../../src/index.ts';
import type { Session, Tab } from '../engines/engine.ts';
import { describeEngines } from '../engines/engines.ts';
import { waitFor } from '../engines/processes.ts';
import { type Gate, openGate } from './gate.ts';
import { openSite, type Site } from './site.ts';

declare const tracker: Tracker;

const times = Number(process.env.DELIVERY_TIMES ?? 3);
const nths = Array.from({ length: times }, (_, nth) => nth);
const timeout = 60_000 + times * 5_000;

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

let folder: string;
let databasePath: string;
let served: Served;
let gate: Gate;
let site: Site;
let operator: Client;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'firsthand-delivery-'));
  databasePath = join(folder, 'firsthand.db');
  process.env.OPERATOR_TOKEN = 'operator_of_the_delivery_tests_0';
  served = await startServed(databasePath, await freePort());
  gate = await openGate(Number(new URL(served.url).port));
  site = await openSite(gate.url);
  operator = createClient({ url: served.url, token: process.env.OPERATOR_TOKEN });
});

afterAll(async () => {
  site?.close();
  await gate?.down();
  served?.process.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

const killServer = () =>
  new Promise((resolve) => {
    served.process.once('exit', resolve);
    served.process.kill('SIGKILL');
  });

const restartServer = async () => {
  served = await startServed(databasePath, Number(new URL(served.url).port));
};

describeEngines('delivery', (engine) => {
  let session: Session;
  let api: Client;
  let page: string;
  let profileFolder: string;

  beforeEach(async () => {
    const account = await operator.createAccount({ accountName: engine.name });
    api = createClient({ url: served.url, token: account.serverTokenUUID });
    page = `${site.url}/page?token=${account.browserTokenUUID}`;
    profileFolder = await mkdtemp(join(tmpdir(), 'firsthand-profile-'));
  });

  afterEach(async () => {
    await session?.close();
    await rm(profileFolder, { recursive: true, force: true, maxRetries: 5 });
    expect(site.errors.splice(0)).toEqual([]);
  });

  const ready = async (tab: Tab): Promise<Tab> => {
    await waitFor('the tracker', async () => (await tab.run(() => Object.hasOwn(tracker, 'push'))) || undefined);
    return tab;
  };

  const visit = async (): Promise<Tab> => ready(await session.openTab(page));

  /** The numbers that were logged, as they are stored: read in order of eventTime, then eventUUID. */
  const stored = async (attrID = 'nth') => {
    const { event } = await api.getEvent({ limit: 1000 });
    return event
      .sort((a, b) => Date.parse(a.eventTime) - Date.parse(b.eventTime) || (a.eventUUID < b.eventUUID ? -1 : 1))
      .flatMap(({ eventAttrArray }) => eventAttrArray.filter((attr) => attr.attrID === attrID))
      .map(({ attrValue }) => Number(attrValue));
  };

  /** Waits until so many are stored. Answers whether they were in time. */
  const arrived = async (count: number, milliseconds: number): Promise<boolean> =>
    waitFor('them to be stored', async () => (await stored()).length >= count || undefined, milliseconds).catch(
      () => false,
    );

  /** Waits until all are stored, a little longer for what might come twice, and says what there is. */
  const expectStored = async (numbers: readonly number[], milliseconds: number) => {
    await arrived(numbers.length, milliseconds);
    await pause(500);
    expect(await stored()).toEqual(numbers);
  };

  /** Leaves a page so many times. What is stored only after the next visit, or never, is late. */
  const leaveEachTime = async (leave: (nth: number) => Promise<void>) => {
    const late: number[] = [];
    for (const nth of nths) {
      await leave(nth);
      if (!(await arrived(nth + 1 - late.length, 3_000))) late.push(nth);
    }
    await pause(500);
    expect({ late, stored: await stored() }).toEqual({ late: [], stored: nths });
  };

  test('log, then close the tab at once', { timeout }, async () => {
    session = await engine.launch();
    await leaveEachTime(async (nth) => {
      const tab = await visit();
      await tab.run((nth) => tracker.log(1, { nth }), nth);
      await tab.close();
    });
  });

  test('log, then follow a link at once', { timeout }, async () => {
    session = await engine.launch();
    const tab = await session.openTab(`${site.url}/elsewhere`);
    await leaveEachTime(async (nth) => {
      await tab.goto(page);
      await ready(tab);
      await tab.run((nth) => {
        tracker.log(1, { nth });
        location.href = '/elsewhere';
      }, nth);
      await waitFor('the other page', () =>
        tab.run(() => location.pathname === '/elsewhere' || undefined).catch(() => undefined),
      );
    });
  });

  test('log in pagehide, before and after the tracker hears of it', { timeout }, async () => {
    session = await engine.launch();
    await leaveEachTime(async (nth) => {
      const tab = await visit();
      await tab.run((nth) => {
        const log = () => tracker.log(1, { nth });
        if (nth % 2) addEventListener('pagehide', log);
        else Object.assign(window, { onLeave: log });
      }, nth);
      if (nth % 4 < 2) await tab.close();
      else await tab.goto(`${site.url}/elsewhere`);
    });
  });

  test('log while the server is away, the tab crashes, a later visit', { timeout }, async () => {
    session = await engine.launch({ profileFolder });
    for (const nth of nths) {
      const tab = await visit();
      await gate.down();
      await tab.run((nth) => tracker.log(1, { nth }), nth);
      await session.crashTabs();
      await gate.up();
    }
    await visit();
    await expectStored(nths, 20_000);
  });

  test('log while the server is away, the browser is killed, a later visit', { timeout }, async () => {
    const perKill = 10;
    for (let start = 0; start < times; start += perKill) {
      session = await engine.launch({ profileFolder });
      const tab = await visit();
      await gate.down();
      await tab.run(
        (numbers) => numbers.map((nth) => tracker.log(1, { nth })).length,
        nths.slice(start, start + perKill),
      );
      await pause(engine.flushMilliseconds);
      await session.kill();
      await gate.up();
    }
    session = await engine.launch({ profileFolder });
    await visit();
    await expectStored(nths, 20_000);
  });

  test('the server answers 503 for a while', { timeout: timeout + 120_000 }, async () => {
    const busyMilliseconds = Math.min(60_000, Math.max(3_000, times * 300));
    session = await engine.launch();
    const tab = await visit();
    gate.isBusy = true;
    try {
      await tab.run(
        (count, milliseconds) => {
          for (let nth = 0; nth < count; nth++) setTimeout(() => tracker.log(1, { nth }), (nth * milliseconds) / count);
        },
        times,
        busyMilliseconds,
      );
      await pause(busyMilliseconds);
      expect(await stored()).toEqual([]);
    } finally {
      gate.isBusy = false;
    }
    await expectStored(nths, 2 * busyMilliseconds + 20_000);
  });

  test('the server is killed in the middle of a request, before and after it has kept it', { timeout }, async () => {
    session = await engine.launch();
    const tab = await visit();
    for (const nth of nths) {
      const killed = new Promise<void>((resolve) => {
        gate.breakNext(nth % 2 ? 'answered' : 'sent', () => killServer().then(() => resolve()));
      });
      await tab.run((nth) => tracker.log(1, { nth }), 2 * nth);
      await killed;
      await tab.run((nth) => tracker.log(1, { nth }), 2 * nth + 1);
      await restartServer();
      expect(await arrived(2 * nth + 2, 30_000)).toBe(true);
    }
    await expectStored(
      Array.from({ length: 2 * times }, (_, nth) => nth),
      0,
    );
  });

  test('a request is slow on its way', { timeout }, async () => {
    session = await engine.launch();
    const tab = await visit();
    for (const nth of nths) {
      gate.delayNext(300);
      await tab.run((nth) => {
        tracker.log(1, { nth });
        setTimeout(() => tracker.log(1, { nth: nth + 1 }), 50);
      }, 2 * nth);
      expect(await arrived(2 * nth + 2, 5_000)).toBe(true);
    }
    await expectStored(
      Array.from({ length: 2 * times }, (_, nth) => nth),
      0,
    );
  });

  test('two tabs of a new browser race, and are one user', { timeout }, async () => {
    session = await engine.launch();
    const tabs = await Promise.all([visit(), visit()]);
    const begin = Date.now() + 1_000;
    await Promise.all(
      tabs.map((tab, index) =>
        tab.run(
          (index, begin, times) => {
            let count = 0;
            const logNext = () => {
              for (let twice = 0; twice < 2; twice++) tracker.log(1, { [`tab${index}`]: count++ });
              if (count < 2 * times) setTimeout(logNext, 40);
              else Object.assign(window, { hasLogged: true });
            };
            setTimeout(logNext, begin - Date.now());
          },
          index,
          begin,
          times,
        ),
      ),
    );
    // A tab in the background may be slow.
    for (const tab of tabs)
      await waitFor('the last log', () => tab.run(() => 'hasLogged' in window || undefined), 20_000 + 2_000 * times);
    await tabs[0]?.close();
    await waitFor('all', async () => (await api.getEvent({ limit: 1000 })).event.length >= 4 * times || undefined);
    await pause(500);
    const numbers = Array.from({ length: 2 * times }, (_, nth) => nth);
    expect({ tab0: await stored('tab0'), tab1: await stored('tab1') }).toEqual({ tab0: numbers, tab1: numbers });
    const { event } = await api.getEvent({ limit: 1000 });
    expect(new Set(event.map(({ userUUID }) => userUUID)).size).toBe(1);
  });

  test('log with the storage full, then close the tab at once', { timeout }, async () => {
    session = await engine.launch();
    const other = await session.openTab(`${site.url}/elsewhere`);
    await other.run(() => {
      for (let size = 2 ** 20; size >= 1; size /= 2)
        try {
          for (;;) localStorage.setItem(`f${localStorage.length}`, 'x'.repeat(size));
        } catch {
          // No room for one more of this size.
        }
    });
    await leaveEachTime(async (nth) => {
      const tab = await visit();
      expect(
        await tab.run((nth) => {
          tracker.log(1, { nth });
          return Object.keys(localStorage).filter((key) => key.startsWith('firsthand')).length;
        }, nth),
      ).toBe(0);
      await tab.close();
    });
  });
});
