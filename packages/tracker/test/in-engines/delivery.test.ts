/**
 * Tests that nothing is lost or stored twice, in real browsers against the real server. Each case is repeated
 * DELIVERY_TIMES times, 3 by default. `DELIVERY_TIMES=200 npm run test:delivery` runs the full test and prints a table.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, type TestContext, test } from 'vitest';
import type { Tracker } from '../../src/index.ts';
import type { Session, Tab } from '../engines/engine.ts';
import { describeEngines } from '../engines/engines.ts';
import { waitFor } from '../engines/processes.ts';
import type { Account } from './service.ts';
import { openShop, pause, type Shop, waitForTracker } from './shop.ts';
import { countEvents, countStored, expectAllOnce, readStored } from './tally.ts';

declare const tracker: Tracker;

const times = Number(process.env.DELIVERY_TIMES ?? 3);
const nths = Array.from({ length: times }, (_, nth) => nth);

/** An event that arrives after this time counts as late, even on a busy machine. */
const timeoutMilliseconds = 30_000;
/** How long to wait for possible duplicates. */
const duplicateWaitMilliseconds = 500;

/** Splits the repetitions into rounds; the `perRound` repetitions in a round run in parallel. */
const splitIntoRounds = (perRound: number): number[][] =>
  nths.flatMap((nth) => (nth % perRound === 0 ? [nths.slice(nth, nth + perRound)] : []));

let shop: Shop;

beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop?.close());

describeEngines('delivery', (engine) => {
  let session: Session;
  let account: Account;
  let page: string;
  let profileFolder: string;

  beforeEach(async () => {
    account = await shop.service.createAccount();
    page = shop.site.publish('/page', { token: account.browserToken });
    profileFolder = await mkdtemp(join(tmpdir(), 'firsthand-profile-'));
  });

  afterEach(async () => {
    await session?.close();
    await rm(profileFolder, { recursive: true, force: true, maxRetries: 5 });
    expect(shop.site.errors.splice(0)).toEqual([]);
  });

  const visit = async (url = page): Promise<Tab> => waitForTracker(await session.openTab(url));

  const log = (tab: Tab, line: number, nth: number) =>
    tab.run((line, nth) => void tracker.log(1, { line, nth }), line, nth);

  /** Waits until `count` of the account's events are stored. Returns whether they were in time. */
  const waitForEvents = (count: number, { api }: Account = account): Promise<boolean> =>
    waitFor(
      'the events to be stored',
      async () => (await countEvents(api)) >= count || undefined,
      timeoutMilliseconds,
    ).catch(() => false);

  /** Waits until all events are stored, and expects that each number of each line was stored once. */
  const expectStored = async (context: TestContext, counts: readonly number[], late: readonly string[] = []) => {
    const sum = counts.reduce((sum, count) => sum + count);
    await waitForEvents(sum);
    await pause(duplicateWaitMilliseconds);
    const tally = { times, late: late.length, ...countStored(await readStored(account.api), counts) };
    expectAllOnce(context, tally, sum, late.join('; '));
  };

  /**
   * Calls `leave`, which logs an event and leaves the page, once per repetition. An event that is stored only after the
   * next visit counts as late.
   */
  const leaveEachTime = async (context: TestContext, leave: (nth: number) => Promise<void>) => {
    const late: string[] = [];
    for (const nth of nths) {
      const before = shop.gate.requests.length;
      await leave(nth);
      if (await waitForEvents(nth + 1)) continue;
      late.push(`event ${nth} was not stored in time, after ${shop.gate.requests.slice(before).join(', ')}`);
      const tab = await visit();
      await waitForEvents(nth + 1);
      await tab.close();
    }
    await expectStored(context, [times], late);
  };

  test('survives closing the tab right after log', async (context) => {
    session = await engine.launch();
    await leaveEachTime(context, async (nth) => {
      const tab = await visit();
      await log(tab, 0, nth);
      await tab.close();
    });
  });

  test('survives following a link right after log', async (context) => {
    session = await engine.launch();
    const tab = await session.openTab(`${shop.site.url}/elsewhere`);
    await leaveEachTime(context, async (nth) => {
      await tab.goto(page);
      await waitForTracker(tab);
      await tab.run((nth) => {
        setTimeout(() => {
          tracker.log(1, { line: 0, nth });
          location.href = '/elsewhere';
        });
      }, nth);
      await waitFor('the other page', () =>
        tab.run(() => location.pathname === '/elsewhere' || undefined).catch(() => undefined),
      );
    });
  });

  test('includes events logged by pagehide listeners that run before or after the tracker’s own', async (context) => {
    session = await engine.launch();
    const stayingTab = await session.openTab(`${shop.site.url}/elsewhere`);
    await leaveEachTime(context, async (nth) => {
      const closes = engine.firesPagehideOnClose && nth % 4 < 2;
      const tab = closes ? await session.openTab(page) : stayingTab;
      if (!closes) await tab.goto(page);
      await waitForTracker(tab);
      await tab.run((nth) => {
        const log = () => void tracker.log(1, { line: 0, nth });
        if (nth % 2) addEventListener('pagehide', log);
        else Object.assign(window, { onLeave: log });
      }, nth);
      if (closes) await tab.close();
      else await tab.goto(`${shop.site.url}/elsewhere`);
    });
  });

  test('survives crashing the tab while the server is down', async (context) => {
    session = await engine.launch({ profileFolder });
    for (const round of splitIntoRounds(4)) {
      const tabs = [];
      for (const _ of round) tabs.push(await visit());
      await shop.gate.down();
      for (const [index, nth] of round.entries()) await log(tabs[index] as Tab, 0, nth);
      await session.crashTabs();
      await shop.gate.up();
      await visit();
      await waitForEvents((round.at(-1) as number) + 1);
    }
    await expectStored(context, [times]);
  });

  test('survives killing the browser while the server is down', async (context) => {
    for (const round of splitIntoRounds(50)) {
      session = await engine.launch({ profileFolder });
      const tab = await visit();
      await shop.gate.down();
      for (const nth of round) await log(tab, 0, nth);
      await pause(engine.flushMilliseconds);
      await session.kill();
      await shop.gate.up();
    }
    session = await engine.launch({ profileFolder });
    await visit();
    await expectStored(context, [times]);
  });

  test('survives a server that responds with 503 for a while', async (context) => {
    const busyMilliseconds = Math.min(60_000, Math.max(3_000, times * 300));
    const counts = [0, 1, 2, 3].map((line) => nths.filter((nth) => nth % 4 === line).length).filter(Boolean);
    session = await engine.launch();
    const tabs = await Promise.all(counts.map(() => visit()));
    shop.gate.isBusy = true;
    try {
      for (const [line, tab] of tabs.entries())
        await tab.run(
          (line, count, milliseconds) => {
            for (let nth = 0; nth < count; nth++)
              setTimeout(
                () => {
                  tracker.log(1, { line, nth });
                  Object.assign(window, { hasLogged: nth + 1 === count });
                },
                (nth * milliseconds) / count,
              );
          },
          line,
          counts[line] as number,
          busyMilliseconds,
        );
      await pause(busyMilliseconds);
      for (const tab of tabs)
        await waitFor('the last log', () => tab.run(() => ('hasLogged' in window && window.hasLogged) || undefined));
      expect(await readStored(account.api)).toEqual([]);
    } finally {
      shop.gate.isBusy = false;
    }
    // Waits for up to the longest retry delay.
    await waitFor(
      'the events to be stored',
      async () => (await countEvents(account.api)) >= times || undefined,
      2 * busyMilliseconds + 60_000,
    );
    await expectStored(context, counts);
  });

  test('survives killing the server during a request, before and after the server has stored it', async (context) => {
    // Tabs on one site send one after another. Tabs on several sites send in parallel, up to a browser's six
    // connections.
    const perRound = Math.min(4, Math.ceil(times / 2));
    const sites = await Promise.all(
      Array.from({ length: perRound }, async (_, line) => {
        const siteAccount = await shop.service.createAccount();
        return {
          siteAccount,
          line,
          page: shop.site.publish(`/page${line}`, { token: siteAccount.browserToken }),
          count: 0,
        };
      }),
    );
    session = await engine.launch();
    const tabs: Tab[] = [];
    for (const { page } of sites) tabs.push(await visit(page));
    for (const [index, round] of splitIntoRounds(perRound).entries()) {
      const busy = sites.slice(0, round.length);
      const broken = shop.gate.breakNext(round.length, index % 2 ? 'answered' : 'sent', () => shop.service.kill());
      await Promise.all(busy.map((site) => log(tabs[site.line] as Tab, site.line, site.count++)));
      await broken;
      await Promise.all(busy.map((site) => log(tabs[site.line] as Tab, site.line, site.count++)));
      await shop.service.restart();
      for (const { siteAccount, count } of busy) expect(await waitForEvents(count, siteAccount)).toBe(true);
    }
    await pause(duplicateWaitMilliseconds);
    const stored = (await Promise.all(sites.map(({ siteAccount }) => readStored(siteAccount.api)))).flat();
    const tally = countStored(
      stored,
      sites.map(({ count }) => count),
    );
    expectAllOnce(context, { times, late: 0, ...tally }, 2 * times);
  });

  test('survives a slow request', async (context) => {
    session = await engine.launch();
    const tab = await visit();
    for (const nth of nths) {
      shop.gate.delayNext(200);
      await tab.run((nth) => {
        tracker.log(1, { line: 0, nth });
        setTimeout(() => void tracker.log(1, { line: 0, nth: nth + 1 }), 50);
      }, 2 * nth);
      expect(await waitForEvents(2 * nth + 2)).toBe(true);
    }
    await expectStored(context, [2 * times]);
  });

  test('assigns one user to two tabs opened together in a new browser', async (context) => {
    // The browser is new on each of the hosts race0.localhost, race1.localhost, and so on.
    shop.site.publish('/race', {
      token: account.browserToken,
      after: `<script>
        const turns = new BroadcastChannel('turns');
        const go = (host) => { location.href = '//' + host + '/race' + location.search; };
        turns.onmessage = ({ data }) => go(data);
        const line = new URLSearchParams(location.search).get('line') * 1;
        const first = location.hostname.slice(4).split('.')[0] * 2;
        if (location.hostname !== 'race.localhost') for (const nth of [first, first + 1]) tracker.log(1, { line, nth });
      </script>`,
    });
    session = await engine.launch({ proxyPort: shop.site.port });
    const tabs: Tab[] = [];
    for (const line of [0, 1]) tabs.push(await visit(`http://race.localhost/race?line=${line}`));
    const users = [];
    for (const nth of nths) {
      const host = `race${nth}.localhost`;
      await tabs[0]?.run((host) => {
        // The message is sent through a separate channel, so this page receives it too. Both tabs navigate, once each.
        setTimeout(() => new BroadcastChannel('turns').postMessage(host));
      }, host);
      expect(await waitForEvents(4 * nth + 4)).toBe(true);
      for (const tab of tabs)
        await waitFor('the tracker in each tab', () =>
          tab
            .run((host) => (location.host === host && Object.hasOwn(tracker, 'push')) || undefined, host)
            .catch(() => undefined),
        );
      const raceEvents = (await readStored(account.api)).filter((each) => each.nth >> 1 === nth);
      users.push(new Set(raceEvents.map(({ userUUID }) => userUUID)).size);
    }
    await expectStored(context, [2 * times, 2 * times]);
    expect(users).toEqual(nths.map(() => 1));
  });

  test('survives closing one of two tabs that log concurrently', async (context) => {
    session = await engine.launch();
    const tabs = await Promise.all([visit(), visit()]);
    const begin = Date.now() + 1_000;
    await Promise.all(
      tabs.map((tab, line) =>
        tab.run(
          (line, begin, times) => {
            let count = 0;
            const logNext = () => {
              for (let twice = 0; twice < 2; twice++) tracker.log(1, { line, nth: count++ });
              if (count < 2 * times) setTimeout(logNext, 40);
              else Object.assign(window, { hasLogged: true });
            };
            setTimeout(logNext, begin - Date.now());
          },
          line,
          begin,
          times,
        ),
      ),
    );
    // Waits for each tab, because a background tab may be slow.
    for (const tab of tabs) await waitFor('the last log', () => tab.run(() => 'hasLogged' in window || undefined));
    await tabs[0]?.close();
    await expectStored(context, [2 * times, 2 * times]);
    expect(new Set((await readStored(account.api)).map(({ userUUID }) => userUUID)).size).toBe(1);
  });

  test('survives closing the tab right after log while storage is full', async (context) => {
    session = await engine.launch();
    const other = await session.openTab(`${shop.site.url}/elsewhere`);
    await other.run(() => {
      for (let size = 2 ** 20; size >= 1; size /= 2)
        try {
          for (;;) localStorage.setItem(`f${localStorage.length}`, 'x'.repeat(size));
        } catch {
          // Stops once there is no room for another item of this size.
        }
    });
    await leaveEachTime(context, async (nth) => {
      const tab = await visit();
      expect(
        await tab.run((nth) => {
          tracker.log(1, { line: 0, nth });
          return Object.keys(localStorage).filter((key) => key.startsWith('firsthand')).length;
        }, nth),
      ).toBe(0);
      await tab.close();
    });
  });
});
