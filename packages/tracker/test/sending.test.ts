import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import type { Tracker } from '../src/index.ts';
import {
  consoleArguments,
  consoleTexts,
  context,
  describeInChromium,
  logAll,
  openPage,
  pause,
  publish,
  queuedIn,
  recorder,
  service,
  soon,
} from './chromium-page.ts';

declare const tracker: Tracker;

/** How often a known browser closes a tab; CLOSINGS=200 for a figure. */
const closings = Number(process.env.CLOSINGS ?? 5);

describeInChromium('the tracker in Chromium: sending', () => {
  test.for([503, 429, 408])('after %i tries again with the same eventUUID, not before Retry-After', async (status) => {
    const times: number[] = [];
    recorder.answer = () => {
      times.push(Date.now());
      return times.length === 1 ? { status, headers: { 'Retry-After': '1' } } : undefined;
    };
    const page = await openPage(publish('/'));
    await page.evaluate(() => void tracker.log(1));
    await soon(() => expect(times.length).toBeGreaterThan(0));
    await page.evaluate(() => void tracker.log(2));
    await soon(() => expect(recorder.eventIDs()).toEqual([1, 2]));
    const [first, second] = times as [number, number];
    expect(second - first).toBeGreaterThanOrEqual(1_000);
    await soon(async () => expect(await queuedIn(page)).toBe(0));
    // After a failure the tracker sends a different record each time, so the other event may come first.
    const tries = recorder.events().filter(({ eventID }) => eventID === 1);
    expect(tries.length).toBeGreaterThan(1);
    expect(new Set(tries.map(({ eventUUID }) => eventUUID)).size).toBe(1);
  });

  test('sends one request at a time, and in it what was logged meanwhile', async () => {
    let release = () => {};
    recorder.answer = async () => {
      if (recorder.received.length === 1) await new Promise<void>((resolve) => (release = resolve));
      return undefined;
    };
    const page = await openPage(publish('/'));
    await page.evaluate(() => void tracker.log(1));
    await soon(() => expect(recorder.received).toHaveLength(1));
    await logAll(page, [2, 3, 4]);
    await pause(300);
    expect(recorder.received).toHaveLength(1);
    release();
    await soon(() => expect(recorder.eventIDs()).toEqual([1, 2, 3, 4]));
    expect(recorder.received).toHaveLength(2);
  });

  test('keeps each request small enough for keepalive, counted in bytes', async () => {
    const page = await openPage(publish('/'));
    await page.evaluate(() => {
      for (let eventID = 1; eventID <= 60; eventID++) tracker.log(eventID, { a: '語'.repeat(2_000) });
    });
    await soon(() => expect(recorder.eventIDs()).toHaveLength(60));
    expect(recorder.received.length).toBeLessThan(16);
    expect(Math.max(...recorder.received.map(({ bytes }) => bytes))).toBeLessThan(32 * 1024);
  });

  test('drops the event that the service refuses, and keeps the others', async () => {
    recorder.answer = ({ body }) => ({
      status: 200,
      body: {
        status: '200',
        event: body.event?.map(({ eventID, eventUUID }) => {
          if (eventID < 10) return { status: '400', eventUUID, error: { code: 'invalid_field', message: 'too low' } };
          if (eventID < 20 && recorder.received.length < 2) return { status: '503', eventUUID };
          return { status: '200', eventUUID };
        }),
      },
    });
    const page = await openPage(publish('/', { attributes: 'data-debug' }));
    await logAll(page, [1, 11, 21]);
    await soon(() => expect(recorder.received).toHaveLength(2));
    await soon(async () => expect(await queuedIn(page)).toBe(0));
    expect(recorder.events().map(({ eventID }) => eventID)).toEqual([1, 11, 21, 11]);
    expect(await Promise.all(consoleArguments)).toContainEqual([
      'firsthand:',
      'invalid_field: too low',
      `${service}/docs/errors#invalid_field`,
    ]);
  });

  test('drops what is too large to be kept beside others', async () => {
    recorder.answer = () => ({ status: 503 });
    const page = await openPage(publish('/'));
    const reason = await page.evaluate(() => {
      tracker.log(1);
      const large = { contactEmailaddress: 'a@b.example', contactProfileID: 'x'.repeat(300_000) };
      const said = tracker.createContact(large).catch((error) => error.message);
      tracker.log(2);
      return said;
    });
    expect(reason).toBe('too large');
    expect(await queuedIn(page)).toBe(2);
  });

  test('finds the one record for which a whole request is refused', async () => {
    const error = { code: 'invalid_json', message: 'no' };
    recorder.answer = ({ body }) =>
      body.event?.some(({ eventID }) => eventID === 13) ? { status: 400, body: { status: '400', error } } : undefined;
    const page = await openPage(publish('/'));
    await logAll(page, [11, 12, 13, 14, 15]);
    await soon(async () => expect(await queuedIn(page)).toBe(0));
    expect(recorder.eventIDs()).toEqual([11, 12, 13, 14, 15]);
  });

  test.for<[number, string]>([
    [401, 'invalid_token'],
    [403, 'origin_not_allowed'],
  ])('after %i keeps everything and sends nothing more until the next page', async ([status, code]) => {
    recorder.answer = () => ({ status, body: { status: `${status}`, error: { code, message: 'no' } } });
    const url = publish('/');
    const page = await openPage(url);
    await page.evaluate(() => void tracker.log(1));
    await soon(() => expect(recorder.received).toHaveLength(1));
    await page.evaluate(() => void tracker.log(2));
    await pause(1_500);
    expect(recorder.received).toHaveLength(1);
    expect(await queuedIn(page)).toBe(2);
    recorder.answer = () => undefined;
    await page.goto(url);
    await soon(() => expect(recorder.eventIDs()).toEqual([1, 2]));
  });

  test('takes an answer that is not the service’s for none', async () => {
    recorder.answer = () =>
      recorder.received.length === 1 ? { status: 200, body: { portal: 'please log in' } } : undefined;
    const page = await openPage(publish('/'));
    await page.evaluate(() => void tracker.log(1));
    await soon(() => expect(recorder.received).toHaveLength(2));
    expect(recorder.eventIDs()).toEqual([1]);
  });

  test('logged, and the tab closed at once, loses nothing', async () => {
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
    await soon(() => expect(recorder.eventIDs().sort((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]));
  });

  test.for([
    ['', ''],
    [', under a service worker', "addEventListener('fetch', (event) => event.respondWith(fetch(event.request)))"],
  ])(
    'logged by a known browser in a popup that closes itself at once, arrives without another visit%s',
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
      await soon(async () => expect(await queuedIn(opener)).toBe(0));
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
        await soon(() => expect(recorder.eventIDs()).toContain(eventID)).catch(() => late.push(eventID));
      }
      expect(late).toEqual([]);
    },
  );

  test('closed at once without a second visit, the last event has arrived', async () => {
    for (let eventID = 1; eventID <= 5; eventID++) {
      const page = await openPage(publish('/'));
      await page.evaluate((eventID) => void tracker.log(eventID), eventID);
      await page.close({ runBeforeUnload: true });
      await soon(() => expect(recorder.eventIDs()).toContain(eventID));
    }
  });

  test.for(['click', 'pagehide', 'visibilitychange'])(
    'logged at %s while another page is going, loses nothing',
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
        // A listener of the page may run after the tracker's own: what it logs is kept, and sent by the next page.
        if (moment === 'click') await soon(() => expect(recorder.eventIDs()).toContain(eventID));
        await page.close();
      }
      await openPage(publish('/again'));
      await soon(() => expect(recorder.eventIDs()).toEqual([1, 2, 3, 4, 5]));
    },
  );

  test('while the server is down for some seconds, keeps what is logged, and sends it from the same page', async () => {
    const page = await openPage(publish('/'));
    await recorder.down();
    await page.evaluate(() => void tracker.log(1));
    await pause(2_000);
    await page.evaluate(() => void tracker.log(2));
    await recorder.up();
    await soon(() => expect(recorder.eventIDs()).toEqual([1, 2]));
  });

  test('while the server is down and the page is left, keeps events and contacts for the next visit', async () => {
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
    await soon(() => expect(recorder.received.map(({ path }) => path)).toEqual(['/update', '/form', '/update']));
    expect(recorder.eventIDs()).toEqual([1, 2]);
    expect(new Set(recorder.received.map(({ body }) => body.userUUID)).size).toBe(1);
    await soon(async () => expect(await queuedIn(next)).toBe(0));
  });

  test('a tab that crashes has kept what it logged', async () => {
    recorder.answer = () => ({ status: 503, headers: { 'Retry-After': '60' } });
    const url = publish('/');
    const page = await openPage(url);
    await page.evaluate(() => void tracker.log(1));
    await soon(() => expect(recorder.received.length).toBeGreaterThan(0));
    await page.evaluate(() => void tracker.log(2));
    await Promise.all([page.waitForEvent('crash'), page.goto('chrome://crash').catch(() => {})]);
    await page.close();
    recorder.received.length = 0;
    recorder.answer = () => undefined;
    await openPage(url);
    await soon(() => expect(recorder.eventIDs()).toEqual([1, 2]));
  });

  test('two tabs that log at the same time lose none, and neither waits for the other', async () => {
    let atOnce = 0;
    let maxConcurrent = 0;
    recorder.answer = async () => {
      maxConcurrent = Math.max(maxConcurrent, ++atOnce);
      // The first is not answered before the other tab has sent, too: it waits for nobody.
      for (let waited = 0; waited === 0 || (maxConcurrent < 2 && waited < 10_000); waited += 20) await pause(20);
      atOnce--;
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
    await soon(() => expect(recorder.eventIDs()).toHaveLength(100));
    // What both send is known to the service by its eventUUID.
    expect(maxConcurrent).toBe(2);
    for (const tab of [0, 1]) {
      expect(recorder.eventIDs().filter((eventID) => Math.floor(eventID / 100) === tab)).toEqual(
        Array.from({ length: 50 }, (_, index) => tab * 100 + index + 1),
      );
    }
  });

  test('on plain http, where there are no locks, loses none', async () => {
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
    await soon(() => expect([...recorder.eventIDs()].sort((a, b) => a - b)).toEqual([1, 2, 3, 11, 12, 13]));
    await soon(async () => expect(await queuedIn(pages[0] as Page)).toBe(0));
  });

  test('a page that logs in a loop floods nobody', async () => {
    const page = await openPage(publish('/', { attributes: 'data-debug' }));
    await page.evaluate(() => {
      for (let count = 0; count < 1_000; count++) tracker.log(1);
    });
    await soon(() => expect(recorder.eventIDs().length).toBeGreaterThanOrEqual(500));
    await pause(500);
    expect(recorder.eventIDs().length).toBeLessThan(550);
    expect(consoleTexts).toContainEqual(expect.stringMatching(/^firsthand: too many/));
  });
});
