/**
 * Tests the tracker with pages, servers and scripts that interfere: events still reach the service, and no other
 * server.
 */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Tracker } from '../../src/index.ts';
import type { Session, Tab } from '../engines/engine.ts';
import { describeEngines } from '../engines/engines.ts';
import { waitFor } from '../engines/processes.ts';
import type { Account } from './service.ts';
import { openShop, pause, type Shop, waitForTracker } from './shop.ts';
import type { Page } from './site.ts';
import { countEvents, readStored } from './tally.ts';

declare const tracker: Tracker;

let shop: Shop;

beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop?.close());

describeEngines('the tracker on uncooperative pages', (engine) => {
  let session: Session;
  let account: Account;

  beforeAll(async () => {
    session = await engine.launch();
  });
  afterAll(() => session?.close());
  beforeEach(async () => {
    account = await shop.service.createAccount();
    shop.gate.requests.length = 0;
  });
  afterEach(async () => {
    await pause(300);
    expect(shop.site.errors.splice(0)).toEqual([]);
  });

  const publish = (path: string, page: Omit<Page, 'token'> = {}): string =>
    shop.site.publish(path, { token: account.browserToken, ...page });
  const visit = async (path: string, page?: Omit<Page, 'token'>): Promise<Tab> =>
    waitForTracker(await session.openTab(publish(path, page)));
  const log = (tab: Tab, nth: number) => tab.run((nth) => void tracker.log(1, { line: 0, nth }), nth);
  const waitForEvents = async (count: number, milliseconds?: number, { api } = account) => {
    await waitFor('the events', async () => (await countEvents(api)) >= count || undefined, milliseconds);
    return (await readStored(api)).map(({ nth }) => nth);
  };

  test('sends nothing to the URLs of elements that are named like document properties', async () => {
    await session.openTab(
      publish('/clobbered', {
        before: `<script>
          const names = ['prerendering', 'navigation', 'tracker'];
          for (let each = document; each; each = Object.getPrototypeOf(each)) names.push(...Object.getOwnPropertyNames(each));
          const images = names.map((name) => {
            const image = document.createElement('img');
            image.src = '${shop.gate.url}/evil/x/';
            image.dataset.token = '${account.browserToken}';
            image.name = image.id = name;
            return image;
          });
          document.head.append(...images);
        </script>`,
        after: '<script>tracker.log(1, { line: 0, nth: 0 })</script>',
      }),
    );
    expect(await waitForEvents(1)).toEqual([0]);
    expect(shop.gate.requests.filter((request) => /^POST.*evil/.test(request))).toEqual([]);
    const tab = await session.openTab(publish('/plain'));
    const [{ userUUID } = { userUUID: '' }] = await readStored(account.api);
    expect((await tab.cookies()).filter(({ name }) => name === 'userUUID').map(({ value }) => value)).toEqual([
      userUUID,
    ]);
  });

  test('aborts a request that gets no response, and does not delay other tabs', async () => {
    const tabs = [await visit('/unanswered'), await visit('/unanswered')];
    shop.gate.hangNext();
    const start = Date.now();
    await log(tabs[0] as Tab, 0);
    await waitFor('the request', () => shop.gate.requests.some((request) => request.startsWith('POST')) || undefined);
    await log(tabs[1] as Tab, 1);
    expect(await waitForEvents(1, 12_000)).toContain(1);
    // The first tab's request is aborted after 15 s.
    expect(Date.now() - start).toBeLessThan(14_500);
    await log(tabs[0] as Tab, 2);
    expect(await waitForEvents(3, 90_000)).toEqual([0, 1, 2]);
    expect(Date.now() - start).toBeLessThan(90_000);
  });

  test('sends events through a wrapper around fetch that accepts a string or a Request', async () => {
    const tab = await visit('/wrapped', {
      before: `<script>
        const original = fetch;
        window.fetch = (input, init) => original(typeof input === 'string' ? input : input.url, init);
      </script>`,
    });
    await log(tab, 0);
    expect(await waitForEvents(1)).toEqual([0]);
  });

  test('sends events through a wrapper around fetch whose header causes a preflight', async () => {
    const tab = await visit('/with-header', {
      before: `<script>
        const original = fetch;
        window.fetch = (input, init) => original(input, { ...init, headers: { 'X-Requested-With': 'XMLHttpRequest' } });
      </script>`,
    });
    await log(tab, 0);
    expect(await waitForEvents(1)).toEqual([0]);
    expect(shop.gate.requests.filter((request) => request.startsWith('OPTIONS'))).not.toEqual([]);
  });

  test('logs to separate accounts if two tags have different data-name values', async () => {
    const other = await shop.service.createAccount();
    const second = `<script async src="${shop.gate.url}/tracker.js" data-token="${other.browserToken}" data-name="second"></script>`;
    const tab = await visit('/two', { before: second });
    await waitFor('the second tracker', () => tab.run(() => 'second' in window || undefined));
    await tab.run(() => {
      const { second } = window as unknown as { second: Tracker };
      for (let nth = 0; nth < 30; nth++) (nth % 3 ? tracker : second).log(1, { line: 0, nth });
    });
    expect(await waitForEvents(10, undefined, other)).toEqual([0, 3, 6, 9, 12, 15, 18, 21, 24, 27]);
    expect(await waitForEvents(20)).toHaveLength(20);
  });

  test('leaves a page’s own tracker alone, and works next to a `let tracker`', async () => {
    const page = publish('/theirs', { before: '<script>window.tracker = { log: () => 7 }</script>' });
    const theirs = await session.openTab(page);
    await pause(1_000);
    expect(await theirs.run(() => [tracker.log(1), Object.keys(tracker)])).toEqual([7, ['log']]);
    publish('/let', {
      before:
        '<script>let tracker = 7; addEventListener("load", () => window.tracker.log(1, { line: 0, nth: 0 }))</script>',
    });
    await session.openTab(`${shop.site.url}/let`);
    expect(await waitForEvents(1)).toEqual([0]);
    publish('/let-later', {
      after: '<script>let tracker = 7; window.tracker.log(1, { line: 0, nth: 1 })</script>',
    });
    await session.openTab(`${shop.site.url}/let-later`);
    expect(await waitForEvents(2)).toEqual([0, 1]);
  });

  test('replaces cookies that have a longer path', async () => {
    const tab = await visit('/deep/er/page', {
      before: `<script>
        for (const path of ['/deep', '/deep/er/', '/deep/er/page'])
          document.cookie = 'userUUID=deeper_deeper_deeper_;path=' + path;
      </script>`,
    });
    await log(tab, 0);
    await waitForEvents(1);
    const cookies = (await tab.cookies()).filter(({ name }) => name === 'userUUID');
    expect(cookies.map(({ path, value }) => [path, value])).toEqual([['/', 'deeper_deeper_deeper_']]);
  });

  test('resolves flush when the service has acknowledged all logged events', async () => {
    shop.site.scriptDelayMilliseconds = 500;
    const tab = await visit('/flush', {
      src: '/stats/tracker.js',
      after: `<script>
        tracker.log(1, { line: 0, nth: 0 });
        tracker.flush().then(() => { window.hasFlushed = true; });
      </script>`,
    });
    shop.site.scriptDelayMilliseconds = 0;
    const hasFlushed = () => ('hasFlushed' in window && window.hasFlushed) || undefined;
    await waitFor('the early flush', () => tab.run(hasFlushed));
    expect(await countEvents(account.api)).toBe(1);
    shop.gate.isBusy = true;
    await tab.run(() => {
      Object.assign(window, { hasFlushed: false });
      tracker.log(1, { line: 0, nth: 1 });
      tracker.flush().then(() => Object.assign(window, { hasFlushed: true }));
    });
    await pause(500);
    expect((await tab.run(hasFlushed)) ?? false).toBe(false);
    shop.gate.isBusy = false;
    await waitFor('the late flush', () => tab.run(hasFlushed));
    expect(await countEvents(account.api)).toBe(2);
  });

  /** A site that navigates like a router: the address changes first, the title later. */
  const router = `<script>
    const show = (title, milliseconds) => new Promise((done) => setTimeout(() => { document.title = title; done(); }, milliseconds));
    self.go = (title, milliseconds) => { history.pushState({}, '', '/' + title); return show(title, milliseconds); };
    self.navigateTo = (title, milliseconds) => navigation.navigate('/' + title).finished;
    if (window.navigation) navigation.addEventListener('navigate', (event) => {
      if (event.canIntercept && event.navigationType === 'push' && self.intercepts)
        event.intercept({ handler: () => show(new URL(event.destination.url).pathname.slice(1), 150) });
    });
  </script>`;
  const waitForViews = async (count: number) => {
    await waitFor('the page views', async () => (await countEvents(account.api)) >= count || undefined);
    await pause(300);
    const { event } = await account.api.getEvent({ order: 'asc' });
    return event
      .sort((a, b) => Date.parse(a.eventTime) - Date.parse(b.eventTime) || (a.eventUUID < b.eventUUID ? -1 : 1))
      .map(({ eventAttrArray }) =>
        Object.fromEntries(eventAttrArray.map(({ attrID, attrValue }) => [attrID, attrValue])),
      )
      .map(({ path, title }) => [path, title]);
  };
  const fullPage = { src: '', attributes: 'data-page-views="9"', after: router };

  const waitForTitle = (tab: Tab, title: string) =>
    waitFor(`the title ${title}`, () => tab.run((title) => document.title === title || undefined, title));

  test('logs each page view with the title of that page, even if the title is set late', async () => {
    const tab = await visit('/first', { ...fullPage, src: `${shop.gate.url}/tracker.full.js` });
    await waitForViews(1);
    const titles = ['a', 'b', 'c', 'd', 'e', 'f'];
    for (const [nth, title] of titles.entries()) {
      await tab.run(
        (title, milliseconds) => void (window as never as { go: (...args: unknown[]) => void }).go(title, milliseconds),
        title,
        nth * 60,
      );
      await waitForTitle(tab, title);
      await pause(50);
    }
    expect((await waitForViews(7)).slice(1)).toEqual(titles.map((title) => [`/${title}`, title]));
  });

  const navigationTitles = engine.hasNavigationAPI
    ? ['logs a navigation through the Navigation API as a page view']
    : [];
  test.each(navigationTitles)('%s', async () => {
    const tab = await visit('/first', { ...fullPage, src: `${shop.gate.url}/tracker.full.js` });
    await waitForViews(1);
    const titles = Array.from({ length: 10 }, (_, nth) => `page${nth}`);
    for (const title of titles) {
      await tab.run((title) => {
        Object.assign(window, { intercepts: true });
        void (window as never as { navigateTo: (title: string) => void }).navigateTo(title);
      }, title);
      await waitForTitle(tab, title);
      await pause(50);
    }
    expect((await waitForViews(11)).slice(1)).toEqual(titles.map((title) => [`/${title}`, title]));
  });
});
