import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import type { Tracker } from '../src/index.ts';
import {
  consoleArguments,
  consoleTexts,
  context,
  countQueued,
  describeInChromium,
  logAll,
  openPage,
  pause,
  publish,
  recorder,
  service,
  waitFor,
} from './chromium-page.ts';

declare const tracker: Tracker;

/** The number of tabs that a test closes in a returning browser; CLOSINGS=200 gives a reliable figure. */
const closings = Number(process.env.CLOSINGS ?? 5);

describeInChromium('the tracker in Chromium', () => {
  test.for([503, 429, 408])(
    'retries after a response of %i with the same eventUUID, not before Retry-After has passed',
    async (status) => {
      const times: number[] = [];
      recorder.respond = () => {
        times.push(Date.now());
        return times.length === 1 ? { status, headers: { 'Retry-After': '1' } } : undefined;
      };
      const page = await openPage(publish('/'));
      await page.evaluate(() => void tracker.log(1));
      await waitFor(() => expect(times.length).toBeGreaterThan(0));
      await page.evaluate(() => void tracker.log(2));
      await waitFor(() => expect(recorder.eventIDs()).toEqual([1, 2]));
      const [first, second] = times as [number, number];
      expect(second - first).toBeGreaterThanOrEqual(1_000);
      await waitFor(async () => expect(await countQueued(page)).toBe(0));
      // After a failure the tracker sends a different record each time, so the other event may come first.
      const attempts = recorder.events().filter(({ eventID }) => eventID === 1);
      expect(attempts.length).toBeGreaterThan(1);
      expect(new Set(attempts.map(({ eventUUID }) => eventUUID)).size).toBe(1);
    },
  );

  test('sends one request at a time, and holds events logged during a request for the next one', async () => {
    let release = () => {};
    recorder.respond = async () => {
      if (recorder.requests.length === 1) await new Promise<void>((resolve) => (release = resolve));
      return undefined;
    };
    const page = await openPage(publish('/'));
    await page.evaluate(() => void tracker.log(1));
    await waitFor(() => expect(recorder.requests).toHaveLength(1));
    await logAll(page, [2, 3, 4]);
    await pause(300);
    expect(recorder.requests).toHaveLength(1);
    release();
    await waitFor(() => expect(recorder.eventIDs()).toEqual([1, 2, 3, 4]));
    expect(recorder.requests).toHaveLength(2);
  });

  test('keeps each request small enough for keepalive, measured in bytes', async () => {
    const page = await openPage(publish('/'));
    await page.evaluate(() => {
      for (let eventID = 1; eventID <= 60; eventID++) tracker.log(eventID, { a: '語'.repeat(2_000) });
    });
    await waitFor(() => expect(recorder.eventIDs()).toHaveLength(60));
    expect(recorder.requests.length).toBeLessThan(16);
    expect(Math.max(...recorder.requests.map(({ bytes }) => bytes))).toBeLessThan(32 * 1024);
  });

  test('drops an event that the service refuses, and keeps the other events', async () => {
    recorder.respond = ({ body }) => ({
      status: 200,
      body: {
        status: '200',
        event: body.event?.map(({ eventID, eventUUID }) => {
          if (eventID < 10) return { status: '400', eventUUID, error: { code: 'invalid_field', message: 'too low' } };
          if (eventID < 20 && recorder.requests.length < 2) return { status: '503', eventUUID };
          return { status: '200', eventUUID };
        }),
      },
    });
    const page = await openPage(publish('/', { attributes: 'data-debug' }));
    await logAll(page, [1, 11, 21]);
    await waitFor(() => expect(recorder.requests).toHaveLength(2));
    await waitFor(async () => expect(await countQueued(page)).toBe(0));
    expect(recorder.events().map(({ eventID }) => eventID)).toEqual([1, 11, 21, 11]);
    expect(await Promise.all(consoleArguments)).toContainEqual([
      'firsthand:',
      'invalid_field: too low',
      `${service}/docs/errors#invalid_field`,
    ]);
  });

  test('drops a record that is too large for the queue', async () => {
    recorder.respond = () => ({ status: 503 });
    const page = await openPage(publish('/'));
    const reason = await page.evaluate(() => {
      tracker.log(1);
      const large = { contactEmailaddress: 'a@b.example', contactProfileID: 'x'.repeat(300_000) };
      const message = tracker.createContact(large).catch((error) => error.message);
      tracker.log(2);
      return message;
    });
    expect(reason).toBe('too large');
    expect(await countQueued(page)).toBe(2);
  });

  test('isolates the record that makes the service refuse a whole request', async () => {
    const error = { code: 'invalid_json', message: 'no' };
    recorder.respond = ({ body }) =>
      body.event?.some(({ eventID }) => eventID === 13) ? { status: 400, body: { status: '400', error } } : undefined;
    const page = await openPage(publish('/'));
    await logAll(page, [11, 12, 13, 14, 15]);
    await waitFor(async () => expect(await countQueued(page)).toBe(0));
    expect(recorder.eventIDs()).toEqual([11, 12, 13, 14, 15]);
  });

  test.for<[number, string]>([
    [401, 'invalid_token'],
    [403, 'origin_not_allowed'],
  ])('keeps all records after a response of %i, and sends nothing more until the next page', async ([status, code]) => {
    recorder.respond = () => ({ status, body: { status: `${status}`, error: { code, message: 'no' } } });
    const url = publish('/');
    const page = await openPage(url);
    await page.evaluate(() => void tracker.log(1));
    await waitFor(() => expect(recorder.requests).toHaveLength(1));
    await page.evaluate(() => void tracker.log(2));
    await pause(1_500);
    expect(recorder.requests).toHaveLength(1);
    expect(await countQueued(page)).toBe(2);
    recorder.respond = () => undefined;
    await page.goto(url);
    await waitFor(() => expect(recorder.eventIDs()).toEqual([1, 2]));
  });

  test('ignores a response that is not from the service', async () => {
    recorder.respond = () =>
      recorder.requests.length === 1 ? { status: 200, body: { portal: 'please log in' } } : undefined;
    const page = await openPage(publish('/'));
    await page.evaluate(() => void tracker.log(1));
    await waitFor(() => expect(recorder.requests).toHaveLength(2));
    expect(recorder.eventIDs()).toEqual([1]);
  });

  test('loses no event when the tab closes right after log', async () => {
    const opener = await openPage(publish('/'));
    publish('/closing', {
      after: `<script>onload = () => { tracker.log(Number(location.search.slice(1))); close(); }</script>`,
    });
    for (let eventID = 1; eventID <= 10; eventID++) {
      await Promise.all([
        context.waitForEvent('page').then((page) => (page.isClosed() ? page : page.waitForEvent('close'))),
        opener.evaluate((eventID) => void open(`/closing?${eventID}`), eventID),
      ]);
    }
    await waitFor(() => expect(recorder.eventIDs().sort((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]));
  });

  test.for([
    ['', ''],
    [', under a service worker', "addEventListener('fetch', (event) => event.respondWith(fetch(event.request)))"],
  ])(
    'sends events of a returning browser from a popup that closes itself right after log%s',
    { timeout: 180_000 + closings * 20_000 },
    async ([, worker]) => {
      const opener = await openPage(publish('/'));
      if (worker) {
        recorder.pages['/worker.js'] = { html: worker, headers: { 'content-type': 'text/javascript' } };
        await opener.evaluate(async () => {
          await navigator.serviceWorker.register('/worker.js');
          await navigator.serviceWorker.ready;
        });
      }
      await opener.evaluate(() => void tracker.log(1));
      await waitFor(async () => expect(await countQueued(opener)).toBe(0));
      publish('/closing', {
        after: `<script>(function leave() {
          if (!Object.hasOwn(tracker, 'push')) return setTimeout(leave);
          ${worker && "if (!navigator.serviceWorker.controller) throw new Error('no service worker')"}
          tracker.log(Number(location.search.slice(1)));
          close();
        })()</script>`,
      });
      const late: number[] = [];
      for (let eventID = 2; eventID < closings + 2; eventID++) {
        await Promise.all([
          context.waitForEvent('page').then((page) => (page.isClosed() ? page : page.waitForEvent('close'))),
          opener.evaluate((eventID) => void open(`/closing?${eventID}`), eventID),
        ]);
        await waitFor(() => expect(recorder.eventIDs()).toContain(eventID)).catch(() => late.push(eventID));
      }
      expect(late).toEqual([]);
    },
  );

  test('sends an event logged right before the tab is closed, without waiting for the next visit', async () => {
    for (let eventID = 1; eventID <= 5; eventID++) {
      const page = await openPage(publish('/'));
      await page.evaluate((eventID) => void tracker.log(eventID), eventID);
      await page.close({ runBeforeUnload: true });
      await waitFor(() => expect(recorder.eventIDs()).toContain(eventID));
    }
  });

  test.for(['click', 'pagehide', 'visibilitychange'])(
    'loses no event logged at %s as the visitor leaves the page',
    async (moment) => {
      recorder.pages['/elsewhere'] = { html: 'elsewhere' };
      const url = publish('/', {
        after: `<a href="/elsewhere">go</a><script>
        const at = { click: document.querySelector('a'), pagehide: window, visibilitychange: document }['${moment}'];
        at.addEventListener('${moment}', () => void tracker.log(Number(location.search.slice(1))));
      </script>`,
      });
      for (let eventID = 1; eventID <= 5; eventID++) {
        const page = await openPage(`${url}?${eventID}`);
        await page.click('a');
        await page.waitForURL('**/elsewhere');
        // The page's listener may run after the tracker's. The event is then stored, and sent by the next page.
        if (moment === 'click') await waitFor(() => expect(recorder.eventIDs()).toContain(eventID));
        await page.close();
      }
      await openPage(publish('/again'));
      await waitFor(() => expect(recorder.eventIDs()).toEqual([1, 2, 3, 4, 5]));
    },
  );

  test('keeps events while the server is down for a few seconds, and then sends them from the same page', async () => {
    const page = await openPage(publish('/'));
    await recorder.down();
    await page.evaluate(() => void tracker.log(1));
    await pause(2_000);
    await page.evaluate(() => void tracker.log(2));
    await recorder.up();
    await waitFor(() => expect(recorder.eventIDs()).toEqual([1, 2]));
  });

  test('keeps events and contacts for the next visit if the visitor leaves while the server is down', async () => {
    const url = publish('/');
    const page = await openPage(url);
    await recorder.down();
    await page.evaluate(() => {
      tracker.log(1);
      tracker.createContact({ contactEmailaddress: 'a@example.com', contactProfileID: '1' });
      tracker.log(2);
    });
    await Promise.all([page.waitForEvent('close'), page.close({ runBeforeUnload: true })]);
    await pause(1_000);
    await recorder.up();
    const next = await openPage(url);
    await waitFor(() => expect(recorder.requests.map(({ path }) => path)).toEqual(['/update', '/form', '/update']));
    expect(recorder.eventIDs()).toEqual([1, 2]);
    expect(new Set(recorder.requests.map(({ body }) => body.userUUID)).size).toBe(1);
    await waitFor(async () => expect(await countQueued(next)).toBe(0));
  });

  test('keeps a crashed tab’s events', async () => {
    recorder.respond = () => ({ status: 503, headers: { 'Retry-After': '60' } });
    const url = publish('/');
    const page = await openPage(url);
    await page.evaluate(() => void tracker.log(1));
    await waitFor(() => expect(recorder.requests.length).toBeGreaterThan(0));
    await page.evaluate(() => void tracker.log(2));
    await Promise.all([page.waitForEvent('crash'), page.goto('chrome://crash').catch(() => {})]);
    await page.close();
    recorder.requests.length = 0;
    recorder.respond = () => undefined;
    await openPage(url);
    await waitFor(() => expect(recorder.eventIDs()).toEqual([1, 2]));
  });

  test('loses no events from two tabs that log concurrently, and lets neither tab wait for the other', async () => {
    let concurrent = 0;
    let maxConcurrent = 0;
    recorder.respond = async () => {
      maxConcurrent = Math.max(maxConcurrent, ++concurrent);
      // Responds to the first request only after the other tab has sent one too, so neither tab waits.
      for (let waited = 0; waited === 0 || (maxConcurrent < 2 && waited < 10_000); waited += 20) await pause(20);
      concurrent--;
      return undefined;
    };
    const url = publish('/');
    const pages = await Promise.all([openPage(url), openPage(url)]);
    await Promise.all(
      pages.map((page, tab) =>
        page.evaluate(async (tab) => {
          for (let count = 1; count <= 50; count++) {
            tracker.log(tab * 100 + count);
            if (count % 5 === 0) await new Promise((resolve) => setTimeout(resolve, 5));
          }
        }, tab),
      ),
    );
    await waitFor(() => expect(recorder.eventIDs()).toHaveLength(100));
    // If both tabs sent the same event, the service would detect the duplicate by its eventUUID.
    expect(maxConcurrent).toBe(2);
    for (const tab of [0, 1]) {
      expect(recorder.eventIDs().filter((eventID) => Math.floor(eventID / 100) === tab)).toEqual(
        Array.from({ length: 50 }, (_, index) => tab * 100 + index + 1),
      );
    }
  });

  test('loses no event on plain http, where locks are missing', async () => {
    const url = publish('/', { at: `http://www.shop.example:${recorder.port}` });
    const pages = await Promise.all([openPage(url), openPage(url)]);
    expect(await pages[0]?.evaluate(() => 'locks' in navigator)).toBe(false);
    await Promise.all(
      pages.map((page, tab) =>
        logAll(
          page,
          [1, 2, 3].map((count) => tab * 10 + count),
        ),
      ),
    );
    await waitFor(() => expect([...recorder.eventIDs()].sort((a, b) => a - b)).toEqual([1, 2, 3, 11, 12, 13]));
    await waitFor(async () => expect(await countQueued(pages[0] as Page)).toBe(0));
  });

  test('limits a page that logs in a loop', async () => {
    const page = await openPage(publish('/', { attributes: 'data-debug' }));
    await page.evaluate(() => {
      for (let count = 0; count < 1_000; count++) tracker.log(1);
    });
    await waitFor(() => expect(recorder.eventIDs().length).toBeGreaterThanOrEqual(500));
    await pause(500);
    expect(recorder.eventIDs().length).toBeLessThan(550);
    expect(consoleTexts).toContainEqual(expect.stringMatching(/^firsthand: too many/));
  });
});
