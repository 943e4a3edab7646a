/** Events that pages, other servers and wrong clocks would otherwise lose. */
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import type { Tracker } from '../src/index.ts';
import {
  consoleTexts,
  context,
  describeInChromium,
  logAll,
  openPage,
  pause,
  publish,
  queuedIn,
  recorder,
  soon,
} from './chromium-page.ts';

declare const tracker: Tracker;

/** Answers that another server on the service's path may give. */
const answersOfOthers = {
  'a 404 of Spring Boot': {
    status: 404,
    body: { timestamp: '2026-11-29T05:00:00Z', status: 404, error: 'Not Found', path: '/s/update' },
  },
  'a 404 of a Google service': {
    status: 404,
    body: { error: { code: 404, message: 'Not found', status: 'NOT_FOUND' } },
  },
  'a 404 with a code of its own': { status: 404, body: { status: '404', error: { code: 'not_found', message: '-' } } },
  'a 405': { status: 405, body: { status: 405, error: 'Method Not Allowed' } },
  'a 200 with a status': { status: 200, body: { status: '200', message: 'ok' } },
  'a 200 with events that lack an eventUUID': { status: 200, body: { status: '200', event: [{ status: '200' }] } },
  'a 401 of a gateway': { status: 401, body: { status: '401', error: { code: 'unauthorized' } } },
  'a path that the service does not have': {
    status: 404,
    body: { status: '404', error: { code: 'unknown_operation', message: '-' } },
  },
};

/** Until `answer` changes, the service is away. */
const goAway = () => {
  recorder.answer = () => ({ status: 503, headers: { 'Retry-After': '1' } });
};
const comeBack = () => {
  recorder.received.length = 0;
  recorder.answer = () => undefined;
};

describeInChromium('the tracker in Chromium: what it does not lose', () => {
  test.for(Object.entries(answersOfOthers))('an event that is answered by %s', async ([, answer]) => {
    recorder.answer = () => (recorder.received.length === 1 ? answer : undefined);
    const page = await openPage(publish('/'));
    await page.evaluate(() => void tracker.log(1));
    await soon(() => expect(recorder.received).toHaveLength(2));
    expect(recorder.events()[1]?.eventUUID).toBe(recorder.events()[0]?.eventUUID);
    await soon(async () => expect(await queuedIn(page)).toBe(0));
  });

  test('the events after a contact that browsers may not state', async () => {
    const error = { code: 'id_not_for_browser', message: 'no' };
    recorder.answer = ({ path }) => (path === '/form' ? { status: 403, body: { status: '403', error } } : undefined);
    const page = await openPage(publish('/'));
    const code = await page.evaluate(() => {
      const refused = tracker.createContact({ contactEmailaddress: 'a@b.example', contactProfileID: 'secret' });
      tracker.log(1);
      return refused.catch((error) => error.code);
    });
    expect(code).toBe('id_not_for_browser');
    await soon(() => expect(recorder.eventIDs()).toEqual([1]));
    await soon(async () => expect(await queuedIn(page)).toBe(0));
  });

  test('the events after one that another server always refuses', async () => {
    recorder.answer = ({ body }) => (body.event?.some(({ eventID }) => eventID === 1) ? { status: 403 } : undefined);
    const page = await openPage(publish('/'));
    await logAll(page, [1]);
    await soon(() => expect(recorder.received).toHaveLength(1));
    await logAll(page, [2, 3]);
    await soon(async () => expect(await queuedIn(page)).toBe(1));
    comeBack();
    await soon(() => expect(recorder.eventIDs()).toEqual([1]));
  });

  test('an event before localStorage.clear()', async () => {
    const page = await openPage(publish('/'));
    await page.evaluate(() => {
      tracker.log(1);
      localStorage.clear();
    });
    await soon(() => expect(recorder.eventIDs()).toEqual([1]));
  });

  test.for(['clear', 'removal of each item'])(
    'events before a %s while the service is away, and their user, when the page is left',
    async (how) => {
      const url = publish('/');
      const page = await openPage(url);
      goAway();
      await logAll(page, [1]);
      await soon(() => expect(recorder.received.length).toBeGreaterThan(0));
      const userUUID = await page.evaluate((isClear) => {
        const { userUUID } = Object.fromEntries(document.cookie.split('; ').map((cookie) => cookie.split('=')));
        tracker.log(2);
        if (isClear) localStorage.clear();
        else for (const key of Object.keys(localStorage)) localStorage.removeItem(key);
        tracker.reset();
        return userUUID;
      }, how === 'clear');
      await page.goto('about:blank');
      comeBack();
      await page.goto(url);
      await soon(() => expect(recorder.eventIDs()).toEqual([1, 2]));
      expect(new Set(recorder.events().map(({ user }) => user))).toEqual(new Set([userUUID]));
    },
  );

  test('what another tab has queued, though that tab removes each item from the storage', async () => {
    const url = publish('/');
    const [page, other] = [await openPage(url), await openPage(url)];
    goAway();
    await logAll(page, [1]);
    await other.evaluate(() => {
      for (const key of Object.keys(localStorage)) localStorage.removeItem(key);
    });
    await logAll(page, [2]);
    comeBack();
    await soon(() => expect(recorder.eventIDs()).toEqual([1, 2]));
  });

  test('keeps nothing in memory when another tab withdraws consent', async () => {
    const url = publish('/');
    const [page, other] = [await openPage(url), await openPage(url)];
    goAway();
    await logAll(page, [1, 2]);
    await soon(() => expect(recorder.received.length).toBeGreaterThan(0));
    await other.evaluate(() => tracker.consent(false));
    await pause(300);
    comeBack();
    await page.evaluate(() => void dispatchEvent(new Event('online')));
    await pause(2_500);
    expect(recorder.received).toEqual([]);
    expect(await page.evaluate(() => Object.keys(localStorage))).toEqual([]);
    await page.evaluate(() => tracker.consent(true));
    await logAll(page, [3]);
    await soon(() => expect(recorder.eventIDs()).toEqual([3]));
  });

  test.for([
    ['reset', [1, 2]],
    ['withdrawn consent', [2]],
  ] as const)('whose the events are in a page that has not heard of a %s elsewhere', async ([how, eventIDs]) => {
    const deaf = `<script>addEventListener('storage', (event) => event.stopImmediatePropagation())</script>`;
    const page = await openPage(publish('/deaf', { before: deaf }));
    await soon(async () => expect(await context.cookies()).toHaveLength(1));
    const [first] = await context.cookies();
    goAway();
    await logAll(page, [1]);
    await soon(() => expect(recorder.received.length).toBeGreaterThan(0));
    const other = await openPage(publish('/'));
    await other.evaluate(async (isReset) => {
      if (isReset) tracker.reset();
      else for (const isGiven of [false, true]) tracker.consent(isGiven);
      await tracker.getUserUUID();
    }, how === 'reset');
    const [second] = await context.cookies();
    await other.close();
    comeBack();
    await logAll(page, [2]);
    await page.evaluate(() => void dispatchEvent(new Event('online')));
    await soon(() => expect(recorder.eventIDs()).toContain(2));
    await soon(async () => expect(await queuedIn(page)).toBe(0));
    expect(recorder.eventIDs()).toEqual(eventIDs);
    for (const { eventID, user } of recorder.events()) expect(user).toBe((eventID === 1 ? first : second)?.value);
    expect(second?.value).not.toBe(first?.value);
  });

  test.for([30, -30])('an event that waits while the clock is set by %i days', async (days) => {
    const page = await openPage(publish('/'));
    goAway();
    await logAll(page, [1]);
    await soon(() => expect(recorder.received.length).toBeGreaterThan(0));
    await page.evaluate((milliseconds) => {
      const { now } = Date;
      Date.now = () => now() + milliseconds;
    }, days * 86_400e3);
    await logAll(page, [2]);
    comeBack();
    await soon(() => expect(recorder.eventIDs()).toEqual([1, 2]));
  });

  test('events of one task while the clock says the first second of 1970', async () => {
    const page = await openPage(publish('/', { before: '<script>Date.now = () => 5;</script>' }));
    await logAll(page, [1, 2, 3, 4]);
    await soon(() => expect(recorder.eventIDs()).toEqual([1, 2, 3, 4]));
  });

  test('three large events of one task', async () => {
    const page = await openPage(publish('/'));
    await page.evaluate(() => {
      const attrs = Object.fromEntries(Array.from({ length: 60 }, (_, nth) => [`a${nth}`, 'x'.repeat(2_000)]));
      for (const eventID of [1, 2, 3]) tracker.log(eventID, attrs);
    });
    await soon(() => expect(recorder.eventIDs()).toEqual([1, 2, 3]));
    expect(consoleTexts).toEqual([]);
  });

  test('says in the console once what it cuts and drops, and counts it', async () => {
    const page = await openPage(publish('/'));
    await page.evaluate(() => {
      const many = Object.fromEntries(Array.from({ length: 99 }, (_, nth) => [`a${nth}`, 'x'.repeat(2_048)]));
      for (const eventID of [1, 2]) {
        tracker.log(eventID, { long: 'x'.repeat(2_049) });
        tracker.log(9, many);
      }
      tracker.log(3);
    });
    await soon(() => expect(recorder.eventIDs()).toEqual([1, 2, 3]));
    expect(consoleTexts).toEqual(['firsthand: cut 2049', expect.stringMatching(/^firsthand: too large/)]);
    expect(recorder.events()[2]?.eventAttrArray).toContainEqual({ attrID: 'dropped', attrValue: '4' });
  });

  test('calls of a method that was captured before the script, with a frozen Array.prototype', async () => {
    const page = await openPage(
      publish('/', { after: '<script>Object.freeze(Array.prototype); self.log = tracker.log; log(1);</script>' }),
    );
    await page.evaluate(() => void (window as unknown as Tracker).log(2));
    await soon(() => expect(recorder.eventIDs()).toEqual([1, 2]));
  });

  test('what is logged after a script of the page has broken URL and the methods of arrays', async () => {
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
    await soon(() => expect(recorder.eventIDs()).toEqual([1, 2]));
    expect(new Set(recorder.events().map(({ user }) => user)).size).toBe(2);
  });

  test('what is logged under a wrapper of fetch that adds a header', async () => {
    const page = await openPage(
      publish('/', {
        before: `<script>
          const original = fetch;
          window.fetch = (input, options) => { options.headers['Content-Language'] = 'en'; return original(input, options); };
        </script>`,
      }),
    );
    await page.evaluate(() => void tracker.log(1));
    await soon(() => expect(recorder.eventIDs()).toEqual([1]));
    expect(recorder.received[0]?.headers['content-language']).toBe('en');
  });

  /** Holds the wait of 2 s until the test calls `release`, so that no slow machine ends it. */
  const heldWait = `<script>{
    const original = setTimeout;
    window.setTimeout = (call, milliseconds, ...args) => {
      if (milliseconds !== 2000) return original(call, milliseconds, ...args);
      window.release = () => call(...args);
      return -1;
    };
  }</script>`;
  const endWait = (page: Page) => page.evaluate(() => (window as unknown as { release(): void }).release());
  const linkTo = (target: string) =>
    publish('/linked', {
      before: heldWait,
      after: `<a href="/linked?${Math.random()}" ${target} onclick="tracker.log(1)">next</a>`,
    });

  test('sends an event once though a link opens another page with the script', async () => {
    recorder.answer = () => pause(200).then(() => undefined);
    const page = await openPage(linkTo('target="_blank" rel="opener"'));
    for (let nth = 0; nth < 3; nth++) {
      const [opened] = await Promise.all([page.waitForEvent('popup'), page.click('a')]);
      await opened.waitForFunction(() => Object.hasOwn(tracker, 'push'));
      await soon(async () => expect(await queuedIn(page)).toBe(0));
      await endWait(opened);
    }
    await pause(500);
    expect(recorder.received).toHaveLength(3);
  });

  test('sends events that a left page has sent with the next event of the new page', async () => {
    recorder.answer = () => pause(200).then(() => undefined);
    const page = await openPage(linkTo(''));
    const clicks = 4;
    for (let nth = 0; nth < clicks; nth++) {
      await Promise.all([page.waitForNavigation(), page.click('a')]);
      await page.waitForFunction(() => Object.hasOwn(tracker, 'push'));
    }
    await endWait(page);
    await soon(async () => expect(await queuedIn(page)).toBe(0));
    // One for each click, and one for what the last page found.
    expect(recorder.received.length).toBeLessThanOrEqual(clicks + 1);
    expect(new Set(recorder.events().map(({ eventUUID }) => eventUUID)).size).toBe(clicks);
  });

  test('10,000 calls in a task write to the storage no more often than they queue', async () => {
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
    // 500 events at once, and one more each 100 ms: a busy machine takes more than a second for the calls.
    expect(writes).toBeLessThanOrEqual(510 + milliseconds / 100);
  });

  test('on plain http, without locks, two tabs that open together may make two users, and lose nothing', async () => {
    const url = publish('/', {
      at: `http://www.shop.example:${recorder.port}`,
      after: '<script>tracker.log(1)</script>',
    });
    const pages: Page[] = await Promise.all([openPage(url), openPage(url)]);
    await soon(() => expect(recorder.eventIDs()).toEqual([1, 1]));
    expect(new Set(recorder.events().map(({ user }) => user)).size).toBeLessThanOrEqual(2);
    await pages[0]?.evaluate(() => void tracker.log(2));
    await pages[1]?.evaluate(() => void tracker.log(2));
    await soon(() => expect(recorder.eventIDs()).toEqual([1, 1, 2, 2]));
    // From the second event on, both are the user in the cookie.
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
