/** That a visitor who has not consented leaves no trace, in the browser or at the service. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Tracker } from '../../src/index.ts';
import type { Session, Tab } from '../engines/engine.ts';
import { describeEngines } from '../engines/engines.ts';
import { waitFor } from '../engines/processes.ts';
import type { Account } from './service.ts';
import { openShop, pause, ready, type Shop } from './shop.ts';
import { countEvents, readStored } from './tally.ts';

declare const tracker: Tracker;

/** Long enough for what should not come. */
const soonMilliseconds = 1_000;

let shop: Shop;

beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop?.close());

describeEngines('consent', (engine) => {
  let session: Session;
  let account: Account;
  let tab: Tab;

  beforeEach(async () => {
    session = await engine.launch();
    account = await shop.service.createAccount();
    const page = shop.site.publish('/asking', {
      token: account.browserToken,
      attributes: 'data-consent="required"',
      after: '<script>tracker.log(1, { line: 0, nth: 0 })</script>',
    });
    shop.gate.requests.length = 0;
    tab = await ready(await session.openTab(page));
  });
  afterEach(async () => {
    await session?.close();
    expect(shop.site.errors.splice(0)).toEqual([]);
  });

  /** Everything of this site that the browser keeps. */
  const keptInBrowser = async () => {
    await tab.run(() => {
      const kept: { [where: string]: number } = { local: localStorage.length, session: sessionStorage.length };
      Object.assign(window, { kept });
      // Safari before 14 can't list its databases.
      const databases = indexedDB.databases?.().then(({ length }) => length) ?? 0;
      Promise.all([databases, caches.keys()]).then(([databases, caches]) => {
        Object.assign(kept, { databases, caches: caches.length });
      });
    });
    const kept = await waitFor('the list of databases', () =>
      tab.run(() => {
        const { kept } = window as unknown as { kept: { [where: string]: number } };
        return 'caches' in kept ? kept : undefined;
      }),
    );
    return { ...kept, cookies: (await tab.cookies()).length };
  };
  const nothing = { local: 0, session: 0, databases: 0, caches: 0, cookies: 0 };

  const posts = () => shop.gate.requests.filter((request) => !request.startsWith('GET /tracker'));
  const arrived = (count: number) =>
    waitFor('the events', async () => (await countEvents(account.api)) >= count || undefined);

  test('before it: no cookie, nothing stored, no request, whatever the page does', async () => {
    await tab.run(() => {
      tracker.log(1);
      tracker.createContact({ contactEmailaddress: 'ann@shop.example', contactProfileID: 'customer' });
      tracker.reset();
      dispatchEvent(new Event('online'));
      dispatchEvent(new Event('pagehide'));
      document.dispatchEvent(new Event('visibilitychange'));
    });
    await pause(soonMilliseconds);
    expect(await keptInBrowser()).toEqual(nothing);
    await tab.goto(`${shop.site.url}/elsewhere`);
    await pause(soonMilliseconds);
    expect(await keptInBrowser()).toEqual(nothing);
    expect(posts()).toEqual([]);
  });

  test('given: what was logged before it comes first', async () => {
    await tab.run(() => {
      tracker.log(1, { line: 0, nth: 1 });
      tracker.consent(true);
      tracker.log(1, { line: 0, nth: 2 });
    });
    await arrived(3);
    const stored = await readStored(account.api);
    expect(stored.map(({ nth }) => nth)).toEqual([0, 1, 2]);
    const [cookie, ...others] = await tab.cookies();
    expect(others).toEqual([]);
    expect(stored.map(({ userUUID }) => userUUID)).toEqual(Array(3).fill(cookie?.value));
  });

  test('taken back: removes all of it, and what is waiting', async () => {
    await tab.run(() => tracker.consent(true));
    await arrived(1);
    shop.gate.isBusy = true;
    try {
      const before = shop.gate.refused.length;
      await tab.run(() => void tracker.log(1, { line: 0, nth: 1 }));
      await waitFor('the request', () => shop.gate.refused.length > before || undefined);
      await tab.run(() => tracker.consent(false));
      // What was on its way then arrives.
      await pause(soonMilliseconds);
    } finally {
      shop.gate.isBusy = false;
    }
    shop.gate.requests.length = 0;
    await tab.run(() => void tracker.log(1, { line: 0, nth: 2 }));
    await pause(3 * soonMilliseconds);
    expect(await keptInBrowser()).toEqual(nothing);
    expect(posts()).toEqual([]);
    expect((await readStored(account.api)).map(({ nth }) => nth)).toEqual([0]);
  });
});
