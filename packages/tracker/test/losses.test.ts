/** Tests that no events are lost because of pages, other servers or wrong clocks. */
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import type { Tracker } from '../src/index.ts';
import {
  consoleTexts,
  context,
  countQueued,
  describeInChromium,
  logAll,
  openPage,
  pause,
  publish,
  recorder,
  waitFor,
} from './chromium-page.ts';

declare const tracker: Tracker;

/** Responses that another server might give at the service's URL. */
const foreignResponses = {
  'a 404 from Spring Boot': {
    status: 404,
    body: { timestamp: '2026-11-29T05:00:00Z', status: 404, error: 'Not Found', path: '/s/update' },
  },
  'a 404 from a Google service': {
    status: 404,
    body: { error: { code: 404, message: 'Not found', status: 'NOT_FOUND' } },
  },
  'a 404 with its own error code': { status: 404, body: { status: '404', error: { code: 'not_found', message: '-' } } },
  'a 405': { status: 405, body: { status: 405, error: 'Method Not Allowed' } },
  'a 200 without events': { status: 200, body: { status: '200', message: 'ok' } },
  'a 200 with events that lack an eventUUID': { status: 200, body: { status: '200', event: [{ status: '200' }] } },
  'a 401 from a gateway': { status: 401, body: { status: '401', error: { code: 'unauthorized' } } },
  'a 404 from the service for an unknown path': {
    status: 404,
    body: { status: '404', error: { code: 'unknown_operation', message: '-' } },
  },
};

/** Makes the service unavailable until `restoreService` is called. */
const stopService = () => {
  recorder.respond = () => ({ status: 503, headers: { 'Retry-After': '1' } });
};
const restoreService = () => {
  recorder.requests.length = 0;
  recorder.respond = () => undefined;
};

describeInChromium('the tracker in Chromium', () => {
  test.for(Object.entries(foreignResponses))('sends an event again after %s', async ([, response]) => {
    recorder.respond = () => (recorder.requests.length === 1 ? response : undefined);
    const page = await openPage(publish('/'));
    await page.evaluate(() => void tracker.log(1));
    await waitFor(() => expect(recorder.requests).toHaveLength(2));
    expect(recorder.events()[1]?.eventUUID).toBe(recorder.events()[0]?.eventUUID);
    await waitFor(async () => expect(await countQueued(page)).toBe(0));
  });

  test('sends the events that were logged after a contact that the service refused', async () => {
    const error = { code: 'id_not_for_browser', message: 'no' };
    recorder.respond = ({ path }) => (path === '/form' ? { status: 403, body: { status: '403', error } } : undefined);
    const page = await openPage(publish('/'));
    const code = await page.evaluate(() => {
      const refused = tracker.createContact({ contactEmailaddress: 'a@b.example', contactProfileID: 'secret' });
      tracker.log(1);
      return refused.catch((error) => error.code);
    });
    expect(code).toBe('id_not_for_browser');
    await waitFor(() => expect(recorder.eventIDs()).toEqual([1]));
    await waitFor(async () => expect(await countQueued(page)).toBe(0));
  });

  test('sends the events that follow an event that another server always refuses', async () => {
    recorder.respond = ({ body }) => (body.event?.some(({ eventID }) => eventID === 1) ? { status: 403 } : undefined);
    const page = await openPage(publish('/'));
    await logAll(page, [1]);
    await waitFor(() => expect(recorder.requests).toHaveLength(1));
    await logAll(page, [2, 3]);
    await waitFor(async () => expect(await countQueued(page)).toBe(1));
    restoreService();
    await waitFor(() => expect(recorder.eventIDs()).toEqual([1]));
  });

  test('sends an event logged before localStorage.clear()', async () => {
    const page = await openPage(publish('/'));
    await page.evaluate(() => {
      tracker.log(1);
      localStorage.clear();
    });
    await waitFor(() => expect(recorder.eventIDs()).toEqual([1]));
  });

  test.for(['clearing', 'removing all items from'])(
    'keeps queued events and their user after %s localStorage, even if the visitor leaves the page',
    async (method) => {
      const url = publish('/');
      const page = await openPage(url);
      stopService();
      await logAll(page, [1]);
      await waitFor(() => expect(recorder.requests.length).toBeGreaterThan(0));
      const userUUID = await page.evaluate((isClear) => {
        const { userUUID } = Object.fromEntries(document.cookie.split('; ').map((cookie) => cookie.split('=')));
        tracker.log(2);
        if (isClear) localStorage.clear();
        else for (const key of Object.keys(localStorage)) localStorage.removeItem(key);
        tracker.reset();
        return userUUID;
      }, method === 'clearing');
      await page.goto('about:blank');
      restoreService();
      await page.goto(url);
      await waitFor(() => expect(recorder.eventIDs()).toEqual([1, 2]));
      expect(new Set(recorder.events().map(({ user }) => user))).toEqual(new Set([userUUID]));
    },
  );

  test('keeps queued events when another tab removes every item from storage', async () => {
    const url = publish('/');
    const [page, other] = [await openPage(url), await openPage(url)];
    stopService();
    await logAll(page, [1]);
    await other.evaluate(() => {
      for (const key of Object.keys(localStorage)) localStorage.removeItem(key);
    });
    await logAll(page, [2]);
    restoreService();
    await waitFor(() => expect(recorder.eventIDs()).toEqual([1, 2]));
  });

  test('removes queued events from memory when consent is withdrawn in another tab', async () => {
    const url = publish('/');
    const [page, other] = [await openPage(url), await openPage(url)];
    stopService();
    await logAll(page, [1, 2]);
    await waitFor(() => expect(recorder.requests.length).toBeGreaterThan(0));
    await other.evaluate(() => tracker.consent(false));
    await pause(300);
    restoreService();
    await page.evaluate(() => void dispatchEvent(new Event('online')));
    await pause(2_500);
    expect(recorder.requests).toEqual([]);
    expect(await page.evaluate(() => Object.keys(localStorage))).toEqual([]);
    await page.evaluate(() => tracker.consent(true));
    await logAll(page, [3]);
    await waitFor(() => expect(recorder.eventIDs()).toEqual([3]));
  });

  test.for([
    ['reset', [1, 2]],
    ['withdrawal of consent', [2]],
  ] as const)(
    'assigns events to the right user if the page did not notice a %s in another tab',
    async ([method, eventIDs]) => {
      const withoutStorageEvents = `<script>addEventListener('storage', (event) => event.stopImmediatePropagation())</script>`;
      const page = await openPage(publish('/deaf', { before: withoutStorageEvents }));
      await waitFor(async () => expect(await context.cookies()).toHaveLength(1));
      const [first] = await context.cookies();
      stopService();
      await logAll(page, [1]);
      await waitFor(() => expect(recorder.requests.length).toBeGreaterThan(0));
      const other = await openPage(publish('/'));
      await other.evaluate(async (isReset) => {
        if (isReset) tracker.reset();
        else for (const isGiven of [false, true]) tracker.consent(isGiven);
        await tracker.getUserUUID();
      }, method === 'reset');
      const [second] = await context.cookies();
      await other.close();
      restoreService();
      await logAll(page, [2]);
      await page.evaluate(() => void dispatchEvent(new Event('online')));
      await waitFor(() => expect(recorder.eventIDs()).toContain(2));
      await waitFor(async () => expect(await countQueued(page)).toBe(0));
      expect(recorder.eventIDs()).toEqual(eventIDs);
      for (const { eventID, user } of recorder.events()) expect(user).toBe((eventID === 1 ? first : second)?.value);
      expect(second?.value).not.toBe(first?.value);
    },
  );

  test.for([30, -30])('sends an event that is queued while the clock is moved by %i days', async (days) => {
    const page = await openPage(publish('/'));
    stopService();
    await logAll(page, [1]);
    await waitFor(() => expect(recorder.requests.length).toBeGreaterThan(0));
    await page.evaluate((milliseconds) => {
      const { now } = Date;
      Date.now = () => now() + milliseconds;
    }, days * 86_400e3);
    await logAll(page, [2]);
    restoreService();
    await waitFor(() => expect(recorder.eventIDs()).toEqual([1, 2]));
  });

  test('sends all events logged in one task even if the clock shows the first second of 1970', async () => {
    const page = await openPage(publish('/', { before: '<script>Date.now = () => 5;</script>' }));
    await logAll(page, [1, 2, 3, 4]);
    await waitFor(() => expect(recorder.eventIDs()).toEqual([1, 2, 3, 4]));
  });

  test('sends three large events that are logged in one task', async () => {
    const page = await openPage(publish('/'));
    await page.evaluate(() => {
      const attrs = Object.fromEntries(Array.from({ length: 60 }, (_, nth) => [`a${nth}`, 'x'.repeat(2_000)]));
      for (const eventID of [1, 2, 3]) tracker.log(eventID, attrs);
    });
    await waitFor(() => expect(recorder.eventIDs()).toEqual([1, 2, 3]));
    expect(consoleTexts).toEqual([]);
  });

  test('warns once about cut values and once about dropped events, and counts both', async () => {
    const page = await openPage(publish('/'));
    await page.evaluate(() => {
      const many = Object.fromEntries(Array.from({ length: 99 }, (_, nth) => [`a${nth}`, 'x'.repeat(2_048)]));
      for (const eventID of [1, 2]) {
        tracker.log(eventID, { long: 'x'.repeat(2_049) });
        tracker.log(9, many);
      }
      tracker.log(3);
    });
    await waitFor(() => expect(recorder.eventIDs()).toEqual([1, 2, 3]));
    expect(consoleTexts).toEqual(['firsthand: cut 2049', expect.stringMatching(/^firsthand: too large/)]);
    expect(recorder.events()[2]?.eventAttrArray).toContainEqual({ attrID: 'dropped', attrValue: '4' });
  });

  test('sends events logged through a method captured before the script loaded, if Array.prototype is frozen', async () => {
    const page = await openPage(
      publish('/', { after: '<script>Object.freeze(Array.prototype); self.log = tracker.log; log(1);</script>' }),
    );
    await page.evaluate(() => void (window as unknown as Tracker).log(2));
    await waitFor(() => expect(recorder.eventIDs()).toEqual([1, 2]));
  });

  test('sends events even after one of the page’s scripts has broken URL and array methods', async () => {
    const page = await openPage(publish('/'));
    await page.evaluate(() => {
      const fail = () => {
        throw new Error('broken by the page');
      };
      const names = ['concat', 'every', 'filter', 'find', 'flat', 'flatMap', 'forEach', 'includes', 'indexOf', 'map'];
      for (const name of [...names, 'reduce', 'some', 'sort']) Reflect.set(Array.prototype, name, fail);
      Reflect.set(window, 'URL', fail);
      tracker.log(1, { a: 'b' });
      tracker.reset();
      tracker.log(2, [{ attrID: 'a', attrValue: 'b' }]);
    });
    await waitFor(() => expect(recorder.eventIDs()).toEqual([1, 2]));
    expect(new Set(recorder.events().map(({ user }) => user)).size).toBe(2);
  });

  test('sends events through a wrapper around fetch that adds a header', async () => {
    const page = await openPage(
      publish('/', {
        before: `<script>
          const original = fetch;
          window.fetch = (input, options) => { options.headers['Content-Language'] = 'en'; return original(input, options); };
        </script>`,
      }),
    );
    await page.evaluate(() => void tracker.log(1));
    await waitFor(() => expect(recorder.eventIDs()).toEqual([1]));
    expect(recorder.requests[0]?.headers['content-language']).toBe('en');
  });

  /** Holds the 2 s delay until the test calls `release`, so that a slow machine doesn't end it early. */
  const heldDelay = `<script>{
    const original = setTimeout;
    window.setTimeout = (call, milliseconds, ...args) => {
      if (milliseconds !== 2000) return original(call, milliseconds, ...args);
      window.release = () => call(...args);
      return -1;
    };
  }</script>`;
  const endDelay = (page: Page) => page.evaluate(() => (window as unknown as { release(): void }).release());
  const publishLink = (target: string) =>
    publish('/linked', {
      before: heldDelay,
      after: `<a href="/linked?${Math.random()}" ${target} onclick="tracker.log(1)">next</a>`,
    });

  test('sends an event only once when a link opens another page with the script', async () => {
    recorder.respond = () => pause(200).then(() => undefined);
    const page = await openPage(publishLink('target="_blank" rel="opener"'));
    for (let nth = 0; nth < 3; nth++) {
      const [opened] = await Promise.all([page.waitForEvent('popup'), page.click('a')]);
      await opened.waitForFunction(() => Object.hasOwn(tracker, 'push'));
      await waitFor(async () => expect(await countQueued(page)).toBe(0));
      await endDelay(opened);
    }
    await pause(500);
    expect(recorder.requests).toHaveLength(3);
  });

  test('resends events of the previous page that got no response, together with the new page’s first event', async () => {
    recorder.respond = () => pause(200).then(() => undefined);
    const page = await openPage(publishLink(''));
    const clicks = 4;
    for (let nth = 0; nth < clicks; nth++) {
      await Promise.all([page.waitForNavigation(), page.click('a')]);
      await page.waitForFunction(() => Object.hasOwn(tracker, 'push'));
    }
    await endDelay(page);
    await waitFor(async () => expect(await countQueued(page)).toBe(0));
    // One request for each click, and one for the records that the last page found.
    expect(recorder.requests.length).toBeLessThanOrEqual(clicks + 1);
    expect(new Set(recorder.events().map(({ eventUUID }) => eventUUID)).size).toBe(clicks);
  });

  test('writes to storage only for queued events when a page logs 10,000 events in one task', async () => {
    const page = await openPage(
      publish('/', {
        before: `<script>
          window.writes = 0;
          const storage = localStorage;
          const proxy = new Proxy(storage, {
            get: (_, key) => storage[key],
            set: (_, key, value) => { writes++; storage[key] = value; return true; },
          });
          Object.defineProperty(window, 'localStorage', { get: () => proxy });
        </script>`,
      }),
    );
    const { writes, milliseconds } = await page.evaluate(() => {
      const before = Reflect.get(window, 'writes');
      const start = Date.now();
      for (let nth = 0; nth < 10_000; nth++) tracker.log(1);
      return { writes: Reflect.get(window, 'writes') - before, milliseconds: Date.now() - start };
    });
    // The queue accepts 500 events immediately, and one more every 100 ms. A busy machine needs over a second for the
    // calls.
    expect(writes).toBeLessThanOrEqual(510 + milliseconds / 100);
  });

  test('loses nothing on plain http, where two tabs opened together may create two users', async () => {
    const url = publish('/', {
      at: `http://www.shop.example:${recorder.port}`,
      after: '<script>tracker.log(1)</script>',
    });
    const pages: Page[] = await Promise.all([openPage(url), openPage(url)]);
    await waitFor(() => expect(recorder.eventIDs()).toEqual([1, 1]));
    expect(new Set(recorder.events().map(({ user }) => user)).size).toBeLessThanOrEqual(2);
    await pages[0]?.evaluate(() => void tracker.log(2));
    await pages[1]?.evaluate(() => void tracker.log(2));
    await waitFor(() => expect(recorder.eventIDs()).toEqual([1, 1, 2, 2]));
    // From the second event on, both tabs use the user in the cookie.
    expect(
      new Set(
        recorder
          .events()
          .slice(-2)
          .map(({ user }) => user),
      ).size,
    ).toBe(1);
  });
});
