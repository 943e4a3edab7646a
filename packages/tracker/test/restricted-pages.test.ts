import { expect, test } from 'vitest';
import type { Tracker } from '../src/index.ts';
import {
  context,
  describeInChromium,
  logAll,
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

describeInChromium('the tracker in Chromium, on restricted pages', () => {
  test('ignores calls to `set`, which the stub has but tracker.js lacks', async () => {
    const url = publish('/', {
      after: '<script>tracker.set({ a: 1 }); tracker.log(1); self.set = tracker.set</script>',
    });
    const page = await openPage(url);
    await page.evaluate(() => {
      tracker.set?.({ a: 2 });
      (window as unknown as Tracker).set?.({ a: 3 });
      tracker.log(2);
    });
    await waitFor(() => expect(recorder.eventIDs()).toEqual([1, 2]));
    expect(recorder.events().map(({ eventAttrArray }) => eventAttrArray)).toEqual([[], []]);
  });

  test('sends from memory if storage and cookies are blocked', async () => {
    const url = publish('/', { headers: { 'content-security-policy': 'sandbox allow-scripts' } });
    const page = await openPage(url);
    expect(
      await page.evaluate(() => {
        try {
          return !!localStorage;
        } catch {
          return 'forbidden';
        }
      }),
    ).toBe('forbidden');
    await page.evaluate(() => {
      tracker.log(1);
      tracker.reset();
      tracker.log(2);
    });
    await waitFor(() => expect(recorder.eventIDs()).toEqual([1, 2]));
    expect(new Set(recorder.events().map(({ user }) => user)).size).toBe(2);
    await page.evaluate(() => void tracker.log(3));
    await waitFor(() => expect(recorder.eventIDs()).toEqual([1, 2, 3]));
    expect(recorder.events()[2]?.user).toBe(recorder.events()[1]?.user);
  });

  test('sends from memory if storage is full', async () => {
    const url = publish('/', {
      before: `<script>
        for (let size = 2 ** 22; size >= 1; size >>= 1) try { for (let n = 0; ; n++) localStorage['fill' + size + '-' + n] = 'x'.repeat(size); } catch {}
      </script>`,
    });
    const page = await openPage(url);
    await logAll(page, [1, 2, 3]);
    await waitFor(() => expect(recorder.eventIDs()).toEqual([1, 2, 3]));
    expect(recorder.events()).toHaveLength(3);
  });

  test('works if the page overrides JSON, extends prototypes, patches storage and makes window.tracker read-only', async () => {
    const page = await openPage(
      publish('/', {
        before: `<script>
          JSON.stringify = JSON.parse = () => { throw new Error('overridden'); };
          Array.prototype.toJSON = Object.prototype.toJSON = () => 'spoilt';
          Object.prototype.added = 'by an old library';
          Storage.prototype.setItem = Storage.prototype.getItem = () => { throw new Error('patched'); };
          localStorage['firsthand:nonsense'] = 'x';
        </script>`,
        after: `<script>
          Object.defineProperty(window, 'tracker', { value: tracker, writable: false });
          Object.freeze(document); Object.freeze(navigator); Object.freeze(location);
          tracker.log(1, { a: 'b' });
        </script>`,
      }),
    );
    await page.evaluate(() => void tracker.log(2));
    await waitFor(() => expect(recorder.eventIDs()).toEqual([1, 2]));
    expect(recorder.events()[0]?.eventAttrArray).toEqual([{ attrID: 'a', attrValue: 'b' }]);
  });

  test('works without the stub, under a CSP with a nonce, and after its tag is removed', async () => {
    recorder.pages['/'] = {
      html: `<!doctype html><body><script async nonce="n0nce" src="${service}/tracker.js" data-token="browser_test" onload="this.remove()"></script>`,
      headers: { 'content-security-policy': `default-src 'none'; script-src 'nonce-n0nce'; connect-src ${service}` },
    };
    const page = await openPage(`${site}/`);
    await page.evaluate(() => void tracker.log(1));
    await waitFor(() => expect(recorder.eventIDs()).toEqual([1]));
    recorder.pages['/without'] = { html: 'without' };
    const without = await context.newPage();
    await without.goto(`${site}/without`);
    const names = new Set(await without.evaluate(() => Object.getOwnPropertyNames(window)));
    expect((await page.evaluate(() => Object.getOwnPropertyNames(window))).filter((name) => !names.has(name))).toEqual([
      'tracker',
    ]);
  });

  test('logs each event once if the snippet is pasted twice', async () => {
    const twice = fillSnippet(`${service}/tracker.js`);
    const url = publish('/', {
      before: `${twice}<script>tracker.log(1)</script>`,
      after: '<script>tracker.log(2)</script>',
    });
    const page = await openPage(url);
    await page.evaluate(() => void tracker.log(3));
    await waitFor(() => expect(recorder.eventIDs()).toEqual([1, 2, 3]));
    await pause(200);
    expect(recorder.events()).toHaveLength(3);
  });

  test('starts on a prerendered page only when the page is shown', async () => {
    const url = publish('/', {
      before: `<script>Object.defineProperty(Document.prototype, 'prerendering', { get: () => true })</script>`,
      after: '<script>tracker.log(1)</script>',
    });
    const page = await context.newPage();
    await page.goto(url);
    await pause(300);
    expect(recorder.requests).toEqual([]);
    expect(await context.cookies()).toEqual([]);
    await page.evaluate(() => void document.dispatchEvent(new Event('prerenderingchange')));
    await waitFor(() => expect(recorder.eventIDs()).toEqual([1]));
  });
});
