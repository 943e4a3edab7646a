import { expect, test } from 'vitest';
import type { Tracker } from '../src/index.ts';
import {
  consoleTexts,
  context,
  describeInChromium,
  openPage,
  pause,
  publish,
  recorder,
  service,
  site,
  waitFor,
} from './chromium-page.ts';
import { fillSnippet } from './recorder.ts';

declare const tracker: Tracker;

describeInChromium('the tracker in Chromium, on uncooperative pages', () => {
  test('keeps the time of calls made before the script has loaded', async () => {
    recorder.scriptDelayMilliseconds = 1_500;
    const page = await openPage(
      publish('/', {
        after: `<script>
          window.times = [Date.now()]; tracker.log(1);
          setTimeout(() => { times.push(Date.now()); tracker.log(2); tracker.log(3); }, 300);
        </script>`,
      }),
    );
    await page.evaluate(() => void tracker.log(4));
    await waitFor(() => expect(recorder.eventIDs()).toEqual([1, 2, 3, 4]));
    const [first, second] = await page.evaluate(() => (window as unknown as { times: [number, number] }).times);
    const eventTimes = recorder.events().map(({ eventTime }) => eventTime);
    expect(Math.abs((eventTimes[0] as number) - first)).toBeLessThan(200);
    expect(Math.abs((eventTimes[1] as number) - second)).toBeLessThan(200);
    expect((eventTimes[3] as number) - first).toBeGreaterThan(800);
  });

  test('sends a request in the same turn as log in a returning browser, even while another tab has the lock', async () => {
    const url = publish('/', {
      before: `<script>
        const original = fetch;
        window.requests = 0;
        window.fetch = (...args) => { requests++; return original(...args); };
      </script>`,
    });
    const first = await openPage(url);
    await first.evaluate(() => void tracker.log(1));
    await waitFor(() => expect(recorder.eventIDs()).toEqual([1]));
    await first.evaluate(
      () => void navigator.locks.request('firsthand:browser_test', () => new Promise(() => {})).catch(() => {}),
    );
    const page = await openPage(url);
    const requests = await page.evaluate(async () => {
      tracker.log(2);
      for (let turns = 0; turns < 3; turns++) await 0;
      return (window as unknown as { requests: number }).requests;
    });
    expect(requests).toBe(1);
    await waitFor(() => expect(recorder.eventIDs()).toEqual([1, 2]));
  });

  test('releases its lock after 15 seconds if a request gets no response', async () => {
    recorder.respond = () => (recorder.requests.length === 1 ? new Promise(() => {}) : undefined);
    await context.clock.install();
    // A new browser's first request has the lock.
    const page = await openPage(publish('/', { after: '<script>tracker.log(1)</script>' }));
    await waitFor(() => expect(recorder.requests).toHaveLength(1));
    const listHeldLocks = () =>
      page.evaluate(async () => (await navigator.locks.query()).held?.map(({ name }) => name));
    expect(await listHeldLocks()).toEqual(['firsthand:browser_test']);
    await context.clock.fastForward(10_000);
    expect(await listHeldLocks()).toEqual(['firsthand:browser_test']);
    await context.clock.fastForward(5_000);
    // The retry takes the lock again, perhaps immediately, and gets a response.
    await waitFor(async () => expect(await listHeldLocks()).toEqual([]));
  });

  test.for(['tracker.js', 'tracker.full.js'])('starts %s only once if its tag is pasted twice', async (script) => {
    const tag = fillSnippet(`${service}/${script}`, 'data-page-views="9" data-clicks');
    const page = await openPage(
      publish('/', {
        before: tag,
        script,
        attributes: 'data-page-views="9" data-clicks',
        after: '<b data-log="7">b</b>',
      }),
    );
    await pause(300);
    await page.click('b');
    await page.evaluate(() => void tracker.log(1));
    await waitFor(() => expect(recorder.eventIDs()).toContain(1));
    await pause(200);
    expect(recorder.eventIDs()).toEqual(script === 'tracker.js' ? [1] : [9, 7, 1]);
  });

  test('ignores a second tag with the same name but a different token, and warns even without data-debug', async () => {
    const second = `<script async src="${service}/tracker.js" data-token="browser_second"></script>`;
    const page = await openPage(publish('/', { after: second }));
    await waitFor(() => expect(consoleTexts).toContainEqual(expect.stringMatching(/^firsthand: .*tracker is taken/s)));
    await page.evaluate(() => void tracker.log(1));
    await waitFor(() => expect(recorder.eventIDs()).toEqual([1]));
    expect(new Set(recorder.requests.map(({ body }) => body.tokenUUID)).size).toBe(1);
  });

  test('does not start from a module script, and warns', async () => {
    recorder.pages['/module'] = {
      html: `<script type="module" src="/tracker.js" data-token="browser_test"></script>`,
    };
    const page = await context.newPage();
    await page.goto(`${site}/module`);
    await waitFor(() => expect(consoleTexts).toContainEqual(expect.stringMatching(/^firsthand: .*no data-token/s)));
  });

  test.for(['junk', 'junk"},{', 'undefinedundefined'])(
    'sends events even if the second copy of the userUUID is %s',
    async (junk) => {
      const url = publish('/', {
        before: `<script>localStorage['firsthand.userUUID'] = ${JSON.stringify(junk)}</script>`,
        after: '<script>tracker.log(1); tracker.log(2)</script>',
      });
      await openPage(url);
      await waitFor(() => expect(recorder.eventIDs()).toEqual([1, 2]));
      expect(recorder.events().map(({ user }) => user)).toEqual(Array(2).fill(recorder.requests[0]?.body.userUUID));
    },
  );

  test('does not list the keys of localStorage when an event is logged', async () => {
    const page = await openPage(
      publish('/', {
        before: `<script>
          window.walks = 0;
          for (let nth = 0; nth < 5_000; nth++) localStorage['of the site ' + nth] = 'x';
          const storage = localStorage;
          const proxy = new Proxy(storage, {
            get: (_, key) => storage[key],
            set: (_, key, value) => { storage[key] = value; return true; },
            ownKeys: () => { walks++; return Reflect.ownKeys(storage); },
          });
          Object.defineProperty(window, 'localStorage', { get: () => proxy });
        </script>`,
      }),
    );
    await waitFor(async () => expect((await context.cookies()).length).toBe(1));
    const walks = await page.evaluate(async () => {
      const counted = window as unknown as { walks: number };
      const before = counted.walks;
      for (let eventID = 1; eventID <= 20; eventID++) tracker.log(eventID);
      return counted.walks - before;
    });
    expect(walks).toBe(0);
    await waitFor(() => expect(recorder.eventIDs()).toHaveLength(20));
  });

  test('sends the events that a closed tab has left unsent', async () => {
    const url = publish('/');
    const staying = await openPage(url);
    const leaving = await openPage(url);
    recorder.respond = () => ({ status: 503 });
    await leaving.evaluate(() => void tracker.log(1));
    await waitFor(() => expect(recorder.requests.length).toBeGreaterThan(0));
    await leaving.close({ runBeforeUnload: true });
    await pause(200);
    recorder.respond = () => undefined;
    recorder.requests.length = 0;
    await staying.evaluate(() => void tracker.log(2));
    await waitFor(() => expect(recorder.eventIDs()).toEqual([1, 2]));
  });
});
