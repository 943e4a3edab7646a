import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { prunePackages } from '../build/prune-packages.ts';
import type { Tracker } from '../src/index.ts';
import {
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

const readAttrs = (eventID: number) =>
  // Counts each event once by its eventUUID: a page may resend an event when the visitor leaves.
  [...new Map(recorder.events().map((event) => [event.eventUUID, event])).values()]
    .filter((event) => event.eventID === eventID)
    .map(({ eventAttrArray = [] }) => Object.fromEntries(eventAttrArray.map((attr) => [attr.attrID, attr.attrValue])));

const publishFull = (path: string, attributes: string, after = '') =>
  publish(path, { script: 'tracker.full.js', attributes, after });

/** Clicks like a visitor; with `stay`, the page does not follow the link. */
const click = (page: Page, selector: string, button: 'left' | 'middle' = 'left') => page.click(selector, { button });
const stay = `<script>addEventListener('click', (event) => event.preventDefault()); addEventListener('auxclick', (event) => event.preventDefault());</script>`;

describeInChromium('tracker.full.js in Chromium', () => {
  test('logs nothing automatically without attributes in the tag', async () => {
    const page = await openPage(publishFull('/', '', `${stay}<a href="https://elsewhere.example/">out</a>`));
    await click(page, 'a');
    await page.evaluate(() => {
      history.pushState({}, '', '/next');
      tracker.log(1);
    });
    await waitFor(() => expect(recorder.eventIDs()).toEqual([1]));
    expect(await page.evaluate(() => Object.keys(history))).toEqual([]);
  });

  test('logs one page view when the page loads, and one for each address change', async () => {
    const url = publishFull('/', 'data-page-views="9"', '<title>First</title>');
    const page = await openPage(`${url}?utm_source=news&utm_campaign=may&secret=1`);
    await waitFor(() => expect(readAttrs(9)).toHaveLength(1));
    expect(readAttrs(9)[0]).toEqual({
      path: '/',
      referrer: '',
      title: 'First',
      utm_source: 'news',
      utm_campaign: 'may',
    });
    await page.evaluate(() => {
      history.replaceState({ scroll: 1 }, '');
      history.pushState({}, '', '/next');
      history.replaceState({}, '', '/next');
      document.title = 'Next';
      location.hash = 'part';
    });
    await waitFor(() => expect(readAttrs(9)).toHaveLength(2));
    await page.goBack();
    await page.goBack();
    await waitFor(() => expect(readAttrs(9)).toHaveLength(3));
    await pause(200);
    expect(readAttrs(9).slice(1)).toEqual([
      { path: '/next', referrer: url, title: 'Next' },
      expect.objectContaining({ path: '/', referrer: expect.stringMatching(/\/next$/) }),
    ]);
  });

  test('logs only configured query parameters, and removes the query from a same-site referrer', async () => {
    const secret = 'token=secret&email=a@example.com#secret';
    const url = publishFull('/', 'data-page-views="9" data-query="q, ref"');
    publishFull('/plain', 'data-page-views="9"');
    recorder.pages['/before'] = {
      html: '<a>go</a>',
      headers: { 'referrer-policy': 'unsafe-url' },
    };
    const page = await context.newPage();
    for (const [host, path] of [
      [site, `/?q=tea&ref=mail&utm_source=news&${secret}`],
      [site.replace('localhost', 'a.shop.example'), `/plain?ref=mail&utm_source=news&${secret}`],
    ] as const) {
      await page.goto(`${host}/before?${secret}`);
      const to = host.replace('//a.', '//b.') + path;
      await page.evaluate((to) => Object.assign(document.querySelector('a') as object, { href: to }), to);
      await page.click('a');
      await page.waitForURL(to);
      await page.waitForFunction(() => Object.hasOwn(tracker, 'push'));
    }
    await page.evaluate(() => history.pushState({}, '', '/after'));
    await waitFor(() => expect(readAttrs(9)).toHaveLength(3));
    expect(JSON.stringify(readAttrs(9))).not.toContain('secret');
    expect(readAttrs(9)).toEqual([
      { path: '/', referrer: `${site}/before`, title: '', q: 'tea', ref: 'mail' },
      expect.objectContaining({
        path: '/plain',
        referrer: expect.stringMatching(/\.example:\d+\/before$/),
        ref: 'mail',
        utm_source: 'news',
      }),
      expect.objectContaining({ path: '/after', referrer: expect.stringMatching(/\.example:\d+\/plain$/) }),
    ]);
    expect(url).toBeTruthy();
  });

  test('logs the view of a page whose title stays the same, with the time of the address change', async () => {
    const page = await openPage(publishFull('/', 'data-page-views="9"'));
    const changeTime = await page.evaluate(() => {
      history.pushState({}, '', '/next');
      return Date.now();
    });
    await waitFor(() => expect(readAttrs(9)).toHaveLength(2));
    const [, second] = recorder.events().filter(({ eventID }) => eventID === 9);
    expect((second?.eventTime as number) - changeTime).toBeLessThan(1_500);
  });

  test('logs the view of a page that the visitor leaves before its title is set', async () => {
    recorder.pages['/elsewhere'] = { html: 'elsewhere' };
    const page = await openPage(publishFull('/', 'data-page-views="9"'));
    await page.evaluate(() => {
      history.pushState({}, '', '/next');
      setTimeout(() => location.assign('/elsewhere'), 50);
    });
    await page.waitForURL('**/elsewhere');
    await waitFor(() => expect(readAttrs(9).map(({ path }) => path)).toEqual(['/', '/next']));
  });

  test('logs a hash change as a page view with data-hash', async () => {
    const page = await openPage(publishFull('/', 'data-page-views="9" data-hash'));
    await page.evaluate(() => {
      location.hash = 'part';
    });
    await waitFor(() => expect(readAttrs(9).map(({ path }) => path)).toEqual(['/', '/#part']));
  });

  test.for([true, false])(
    'restores `history` and stops logging page views; Navigation API: %s',
    async (hasNavigation) => {
      const url = publish('/', {
        before: hasNavigation
          ? ''
          : '<script>Object.defineProperty(window, "navigation", { value: undefined })</script>',
        script: 'tracker.full.js',
        attributes: 'data-page-views="9"',
      });
      const page = await openPage(url);
      await page.evaluate(() => history.pushState({}, '', '/first'));
      await waitFor(() => expect(readAttrs(9)).toHaveLength(2));
      const restored = await page.evaluate(() => {
        const patched = history.pushState;
        tracker.restoreHistory?.();
        history.pushState({}, '', '/next');
        return [patched !== History.prototype.pushState, history.pushState === History.prototype.pushState];
      });
      expect(restored).toEqual([!hasNavigation, true]);
      await pause(2_500);
      expect(readAttrs(9)).toHaveLength(2);
    },
  );

  test('passes errors thrown by `history` on to the page', async () => {
    const page = await openPage(publishFull('/', 'data-page-views="9"'));
    const errorName = await page.evaluate(() => {
      try {
        history.pushState({}, '', 'https://elsewhere.example/');
      } catch (error) {
        return (error as Error).name;
      }
    });
    expect(errorName).toBe('SecurityError');
  });

  test('adds the attributes passed to `set` to later events until null removes them, unless an event has its own', async () => {
    recorder.scriptDelayMilliseconds = 300;
    const stub = fillSnippet(`${service}/tracker.full.js`, 'data-page-views="9" data-debug');
    recorder.pages['/'] = {
      html: `<!doctype html><title>A shop</title>${stub}<body><script>tracker.set({ plan: 'free', shop: 'a' }); tracker.log(1)</script>`,
    };
    const page = await openPage(`${site}/`);
    await page.evaluate(() => {
      const set = tracker.set as (attrs?: unknown) => void;
      tracker.log(2, { plan: 'pro' });
      tracker.log(3, { plan: null });
      tracker.log(4, [{ attrID: 'plan', attrValue: 'gold' }]);
      set({ plan: undefined, page: 'cart' });
      tracker.log(5);
      for (const invalid of [undefined, null, 'text', 7, ['a'], document.body]) set(invalid);
      const throwing = {
        get bad() {
          throw new Error('getter');
        },
        good: 'kept',
      };
      tracker.log(6, throwing as never);
      (tracker.log as (...args: unknown[]) => void)(7, 'text');
    });
    await waitFor(() => expect(recorder.eventIDs().sort()).toEqual([1, 2, 3, 4, 5, 6, 7, 9]));
    const attrs = Object.fromEntries(
      recorder
        .events()
        .map(({ eventID, eventAttrArray = [] }) => [
          eventID,
          Object.fromEntries(eventAttrArray.map(({ attrID, attrValue }) => [attrID, attrValue])),
        ]),
    );
    expect(attrs).toMatchObject({
      1: { plan: 'free', shop: 'a' },
      9: { plan: 'free', shop: 'a', path: '/' },
      5: { shop: 'a', page: 'cart' },
      6: { good: 'kept' },
    });
    expect([attrs[2], attrs[3], attrs[4], attrs[7]]).toEqual([
      { plan: 'pro', shop: 'a' },
      { shop: 'a' },
      { plan: 'gold', shop: 'a' },
      { value: 'text', shop: 'a', page: 'cart' },
    ]);
    expect(attrs[5]).not.toHaveProperty('plan');
  });

  test('logs page views with default attributes when imported from npm, and throws in a worker', async () => {
    const { outputFiles } = await build({
      stdin: {
        contents: `
          import { createTracker, logPageViews } from './index.ts';
          try {
            const tracker = createTracker({ url: '${service}', token: 'browser_test' });
            tracker.set({ plan: 'pro' });
            logPageViews(tracker, { event: 9, query: ['q'], hash: true });
          } catch (error) {
            postMessage(String(error));
          }`,
        resolveDir: fileURLToPath(new URL('../src', import.meta.url)),
      },
      bundle: true,
      write: false,
      plugins: [prunePackages],
    });
    const html = `<!doctype html><title>A shop</title><body><script>${outputFiles[0]?.text}</script>`;
    recorder.pages['/'] = { html };
    const page = await context.newPage();
    await page.goto(`${site}/?q=tea&secret=1`);
    await waitFor(() => expect(readAttrs(9)).toMatchObject([{ plan: 'pro', path: '/', q: 'tea', title: 'A shop' }]));
    expect(readAttrs(9)[0]).not.toHaveProperty('secret');
    await page.evaluate(() => history.pushState(null, '', '#cart'));
    await waitFor(() => expect(readAttrs(9)).toMatchObject([{}, { plan: 'pro', path: '/#cart' }]));
    const errorsInWorkers = await page.evaluate(
      (scripts) =>
        Promise.all(
          scripts.map(
            (script) =>
              new Promise((resolve) => {
                const worker = new Worker(URL.createObjectURL(new Blob([script])));
                worker.onmessage = ({ data }) => resolve(data);
                worker.onerror = (event) => {
                  event.preventDefault();
                  resolve(event.message);
                };
              }),
          ),
        ),
      [outputFiles[0]?.text as string, `importScripts('${site}/tracker.full.js')`],
    );
    expect(errorsInWorkers).toEqual([
      expect.stringMatching(/needs a document/),
      expect.stringMatching(/Document is not defined/),
    ]);
  });

  test('logs clicks on data-log with data-attr-*, even if the page stops their propagation', async () => {
    const page = await openPage(
      publishFull(
        '/',
        'data-clicks',
        `<button data-log="7" data-attr-plan="pro" data-attr-camelCase="x"><b>Buy</b></button>
         <script>document.querySelector('button').addEventListener('click', (event) => event.stopImmediatePropagation())</script>`,
      ),
    );
    await click(page, 'b');
    await waitFor(() => expect(readAttrs(7)).toEqual([{ plan: 'pro', camelcase: 'x' }]));
  });

  test('logs clicks on outbound links and downloads, each once', async () => {
    const page = await openPage(
      publishFull(
        '/',
        'data-outbound="3" data-downloads="4"',
        `${stay}<a id="out" href="https://elsewhere.example/path?secret=1#x"><i>out</i></a>
         <a id="in" href="/inside">in</a> <a id="mail" href="mailto:a@example.com">mail</a>
         <a id="pdf" href="/files/Terms.PDF?v=2">pdf</a> <a id="named" href="/export" download>export</a>
         <a id="away" href="https://elsewhere.example/data.zip">zip</a>`,
      ),
    );
    for (const id of ['in', 'mail', 'pdf', 'named', 'away']) await click(page, `#${id}`);
    await click(page, '#out i');
    await waitFor(() =>
      expect(readAttrs(4).map(({ url }) => url)).toEqual([
        `${site}/files/Terms.PDF`,
        `${site}/export`,
        'https://elsewhere.example/data.zip',
      ]),
    );
    await waitFor(() => expect(readAttrs(3)).toEqual([{ url: 'https://elsewhere.example/path' }]));
    await click(page, '#out', 'middle');
    await waitFor(() => expect(readAttrs(3)).toHaveLength(2));
  });

  test('logs a click on a link that leaves the page', async () => {
    recorder.pages['/elsewhere'] = { html: 'elsewhere' };
    const page = await openPage(
      publishFull('/', 'data-outbound="3"', `<a href="http://127.0.0.1:${recorder.port}/elsewhere">out</a>`),
    );
    await click(page, 'a');
    await page.waitForURL('**/elsewhere');
    await waitFor(() => expect(readAttrs(3)).toHaveLength(1));
  });

  test('handles forms whose fields are named like element methods', async () => {
    recorder.pages['/aside'] = { html: 'aside' };
    const fields = ['closest', 'getAttribute', 'attributes', 'matches', 'hasAttribute', 'target', 'elements']
      .map((name) => `<input type="hidden" name="${name}">`)
      .join('');
    const page = await openPage(
      publishFull(
        '/',
        'data-contacts data-clicks',
        `<form data-contact="5" data-log="9" data-attr-from="form" action="/aside" target="aside"><input name="contactEmailaddress" value="a@example.com">
         ${fields}<button>Send</button></form><iframe name="aside"></iframe>`,
      ),
    );
    await page.evaluate(() => {
      document.querySelector('form')?.dispatchEvent(new MouseEvent('click', { bubbles: true }));
      document.querySelector('button')?.click();
    });
    await waitFor(() => expect(recorder.requests.map(({ path }) => path)).toContain('/form'));
    const { body } = recorder.requests.find(({ path }) => path === '/form') ?? {};
    expect(body).toMatchObject({ contactProfileID: '5', contactEmailaddress: 'a@example.com' });
    await waitFor(() => expect(recorder.eventIDs()).toEqual([9, 9]));
    expect(recorder.events()[0]?.eventAttrArray).toContainEqual({ attrID: 'from', attrValue: 'form' });
  });

  test('identifies the visitor by a form with data-contact, and reads only its contact fields', async () => {
    recorder.pages['/thanks'] = { html: 'thanks' };
    const page = await openPage(
      publishFull(
        '/',
        'data-contacts',
        `<form data-contact="5" action="/thanks"><input name="contactEmailaddress" value="a@example.com">
         <input name="contactFirstname" value="Ada"><input name="password" value="secret"><button>Send</button></form>`,
      ),
    );
    await page.click('button');
    await page.waitForURL('**/thanks**');
    await waitFor(() => expect(recorder.requests.map(({ path }) => path)).toContain('/form'));
    const { body } = recorder.requests.find(({ path }) => path === '/form') ?? {};
    expect(body).toEqual({
      tokenUUID: 'browser_test',
      userUUID: expect.any(String),
      requestUUID: expect.any(String),
      contactProfileID: '5',
      contactEmailaddress: 'a@example.com',
      contactFirstname: 'Ada',
    });
  });

  test('holds page views until consent is given, if consent is required', async () => {
    const page = await openPage(
      publishFull('/', 'data-page-views="9" data-consent="required"', '<title>First</title>'),
    );
    await pause(300);
    expect(recorder.requests).toEqual([]);
    await page.evaluate(() => tracker.consent(true));
    await waitFor(() => expect(readAttrs(9)).toEqual([{ path: '/', referrer: '', title: 'First' }]));
  });
});
