/** Tests that a visitor without consent leaves no trace in the browser or at the service. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Tracker } from '../../src/index.ts';
import type { Session, Tab } from '../engines/engine.ts';
import { describeEngines } from '../engines/engines.ts';
import { waitFor } from '../engines/processes.ts';
import type { Account } from './service.ts';
import { openShop, pause, type Shop, waitForTracker } from './shop.ts';
import { countEvents, readStored } from './tally.ts';

declare const tracker: Tracker;

/** How long to wait for something that must not happen. */
const settleMilliseconds = 1_000;

let shop: Shop;

beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop?.close());

describeEngines('the tracker', (engine) => {
  let session: Session;
  let account: Account;
  let tab: Tab;

  beforeEach(async () => {
    session = await engine.launch();
    account = await shop.service.createAccount();
    const page = shop.site.publish('/consent', {
      token: account.browserToken,
      attributes: 'data-consent="required"',
      after: '<script>tracker.log(1, { line: 0, nth: 0 })</script>',
    });
    shop.gate.requests.length = 0;
    tab = await waitForTracker(await session.openTab(page));
  });
  afterEach(async () => {
    await session?.close();
    expect(shop.site.errors.splice(0)).toEqual([]);
  });

  /** Counts everything that the browser stores for this site. */
  const countStoredItems = async () => {
    await tab.run(() => {
      const itemCounts: { [where: string]: number } = { local: localStorage.length, session: sessionStorage.length };
      Object.assign(window, { itemCounts });
      // In Safari before 14, a page can't list its databases.
      const databases = indexedDB.databases?.().then(({ length }) => length) ?? 0;
      Promise.all([databases, caches.keys()]).then(([databases, caches]) => {
        Object.assign(itemCounts, { databases, caches: caches.length });
      });
    });
    const itemCounts = await waitFor('the list of databases', () =>
      tab.run(() => {
        const { itemCounts } = window as unknown as { itemCounts: { [where: string]: number } };
        return 'caches' in itemCounts ? itemCounts : undefined;
      }),
    );
    return { ...itemCounts, cookies: (await tab.cookies()).length };
  };
  const noItems = { local: 0, session: 0, databases: 0, caches: 0, cookies: 0 };

  const listPosts = () => shop.gate.requests.filter((request) => !request.startsWith('GET /tracker'));
  const waitForEvents = (count: number) =>
    waitFor('the events', async () => (await countEvents(account.api)) >= count || undefined);

  test('sets no cookie, stores nothing and sends no request before consent', async () => {
    await tab.run(() => {
      tracker.log(1);
      tracker.createContact({ contactEmailaddress: 'ann@shop.example', contactProfileID: 'customer' });
      tracker.reset();
      dispatchEvent(new Event('online'));
      dispatchEvent(new Event('pagehide'));
      document.dispatchEvent(new Event('visibilitychange'));
    });
    await pause(settleMilliseconds);
    expect(await countStoredItems()).toEqual(noItems);
    await tab.goto(`${shop.site.url}/elsewhere`);
    await pause(settleMilliseconds);
    expect(await countStoredItems()).toEqual(noItems);
    expect(listPosts()).toEqual([]);
  });

  test('sends the events logged before consent first, in order', async () => {
    await tab.run(() => {
      tracker.log(1, { line: 0, nth: 1 });
      tracker.consent(true);
      tracker.log(1, { line: 0, nth: 2 });
    });
    await waitForEvents(3);
    const stored = await readStored(account.api);
    expect(stored.map(({ nth }) => nth)).toEqual([0, 1, 2]);
    const [cookie, ...others] = await tab.cookies();
    expect(others).toEqual([]);
    expect(stored.map(({ userUUID }) => userUUID)).toEqual(Array(3).fill(cookie?.value));
  });

  test('removes everything stored and queued when consent is withdrawn', async () => {
    await tab.run(() => tracker.consent(true));
    await waitForEvents(1);
    shop.gate.isBusy = true;
    try {
      const before = shop.gate.rejectedRequests.length;
      await tab.run(() => void tracker.log(1, { line: 0, nth: 1 }));
      await waitFor('the request', () => shop.gate.rejectedRequests.length > before || undefined);
      await tab.run(() => tracker.consent(false));
      // Gives any in-flight request time to arrive.
      await pause(settleMilliseconds);
    } finally {
      shop.gate.isBusy = false;
    }
    shop.gate.requests.length = 0;
    await tab.run(() => void tracker.log(1, { line: 0, nth: 2 }));
    await pause(3 * settleMilliseconds);
    expect(await countStoredItems()).toEqual(noItems);
    expect(listPosts()).toEqual([]);
    expect((await readStored(account.api)).map(({ nth }) => nth)).toEqual([0]);
  });
});
