import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import type { Tracker } from '../src/index.ts';
import {
  consoleTexts,
  context,
  describeInChromium,
  openPage,
  pause,
  publish,
  recorder,
  waitFor,
} from './chromium-page.ts';

declare const tracker: Tracker;

const countStored = (page: Page) =>
  page.evaluate(() => Object.keys(localStorage).length + Object.keys(sessionStorage).length);

/** Expects that a visitor without consent has left no trace in the browser or at the service. */
const expectNothing = async (page: Page) => {
  await pause(300);
  expect(await context.cookies()).toEqual([]);
  expect(await countStored(page)).toBe(0);
  expect(recorder.requests).toEqual([]);
};

const consent = (page: Page, isGiven: boolean) => page.evaluate((isGiven) => tracker.consent(isGiven), isGiven);

const gpc = `<script>Object.defineProperty(navigator, 'globalPrivacyControl', { value: true })</script>`;
const dnt = `<script>Object.defineProperty(navigator, 'doNotTrack', { value: '1' })</script>`;
const logOne = '<script>tracker.log(1)</script>';

describeInChromium('the tracker in Chromium', () => {
  describe.each(['data-consent="required"', 'data-consent', 'data-consent="drop"'])('with %s', (attributes) => {
    const isDropping = attributes.includes('drop');

    test('sets no cookie, stores nothing and sends nothing before consent', async () => {
      const page = await openPage(publish('/', { attributes, after: logOne }));
      expect(await page.evaluate(() => tracker.getUserUUID())).toBeUndefined();
      await page.evaluate(() => {
        tracker.log(2);
        tracker.createContact({ contactEmailaddress: 'a@example.com', contactProfileID: '1' });
        tracker.reset();
        dispatchEvent(new Event('online'));
        dispatchEvent(new Event('pagehide'));
        document.dispatchEvent(new Event('visibilitychange'));
      });
      await expectNothing(page);
    });

    test(`${isDropping ? 'drops' : 'keeps in memory, and later sends,'} the calls made before consent`, async () => {
      const page = await openPage(publish('/', { attributes, after: logOne }));
      const contact = page.evaluate(() =>
        tracker.createContact({ contactEmailaddress: 'a@example.com', contactProfileID: '1' }).then(
          ({ contactUUID }) => contactUUID,
          (error: Error) => error.message,
        ),
      );
      await pause(100);
      await consent(page, true);
      await page.evaluate(() => void tracker.log(2));
      await waitFor(() => expect(recorder.eventIDs()).toEqual(isDropping ? [2] : [1, 2]));
      expect(await contact).toBe(isDropping ? 'no consent' : 'contact_1');
      const [cookie] = await context.cookies();
      expect(recorder.events().map(({ user }) => user)).toEqual(Array(isDropping ? 1 : 2).fill(cookie?.value));
    });
  });

  test('treats the cookie as consent on later pages, until the cookie is removed', async () => {
    const url = publish('/', { attributes: 'data-consent="required"', after: logOne });
    await consent(await openPage(url), true);
    await waitFor(() => expect(recorder.eventIDs()).toEqual([1]));
    await openPage(url);
    await waitFor(() => expect(recorder.eventIDs()).toEqual([1, 1]));
    await context.clearCookies();
    recorder.requests.length = 0;
    await expectNothing(await openPage(url));
  });

  test.for(['', 'data-consent="required"'])(
    'removes the cookie on its domain, stored items and queued events when consent is withdrawn; tag: %s',
    async (attributes) => {
      recorder.respond = () => ({ status: 503 });
      const at = `http://www.shop.example:${recorder.port}`;
      const url = publish('/', { attributes, at, before: '<script>localStorage.cart = "theirs"</script>' });
      const page = await openPage(url);
      await consent(page, true);
      await page.evaluate(() => void tracker.log(1));
      await waitFor(async () =>
        expect((await context.cookies()).map(({ domain }) => domain)).toEqual(['.shop.example']),
      );
      await waitFor(() => expect(recorder.requests.length).toBeGreaterThan(0));
      await consent(page, false);
      recorder.requests.length = 0;
      await page.evaluate(() => void tracker.log(2));
      await pause(1_500);
      expect(await context.cookies()).toEqual([]);
      expect(await page.evaluate(() => ({ ...localStorage }))).toEqual({ cart: 'theirs' });
      expect(recorder.requests).toEqual([]);
    },
  );

  test.for(['', 'data-consent="required"', 'data-consent="drop"'])(
    'ignores a browser that has localStorage.ignore_firsthand, and drops its queued events; tag: %s',
    async (attributes) => {
      recorder.respond = () => ({ status: 503 });
      const url = publish('/', { attributes });
      const page = await openPage(url);
      await consent(page, true);
      await page.evaluate(() => void tracker.log(1));
      await waitFor(() => expect(recorder.requests.length).toBeGreaterThan(0));
      recorder.respond = () => undefined;
      await page.evaluate(() => localStorage.setItem('ignore_firsthand', 'true'));
      const next = await openPage(url);
      recorder.requests.length = 0;
      await next.evaluate(() => {
        tracker.log(2);
        tracker.consent(true);
        tracker.log(3);
        tracker.consent(false);
      });
      expect(await next.evaluate(() => tracker.getUserUUID())).toBeUndefined();
      await pause(300);
      expect(recorder.requests).toEqual([]);
      expect(await context.cookies()).toEqual([]);
      expect(await next.evaluate(() => ({ ...localStorage }))).toEqual({ ignore_firsthand: 'true' });
      expect(consoleTexts).toContain('firsthand: ignore_firsthand');
      await next.evaluate(() => localStorage.removeItem('ignore_firsthand'));
      const last = await openPage(url);
      await consent(last, true);
      await last.evaluate(() => void tracker.log(4));
      await waitFor(() => expect(recorder.eventIDs()).toEqual([4]));
    },
  );

  test('creates another user when consent is withdrawn and given again', async () => {
    const page = await openPage(publish('/', { after: logOne }));
    await waitFor(() => expect(recorder.eventIDs()).toEqual([1]));
    await consent(page, false);
    await consent(page, true);
    await page.evaluate(() => void tracker.log(2));
    await waitFor(() => expect(recorder.eventIDs()).toEqual([1, 2]));
    const [first, second] = recorder.events().map(({ user }) => user);
    expect(second).not.toBe(first);
    expect((await context.cookies()).map(({ value }) => value)).toEqual([second]);
  });

  test('applies a consent withdrawal in one tab to the other tabs', async () => {
    const url = publish('/');
    const [page, other] = await Promise.all([openPage(url), openPage(url)]);
    await waitFor(async () => expect(await context.cookies()).toHaveLength(1));
    await other.evaluate(() =>
      addEventListener(
        'storage',
        ({ newValue }) => newValue === null && Object.assign(window, { hasStorageEvent: true }),
      ),
    );
    await consent(page, false);
    await other.waitForFunction(() => 'hasStorageEvent' in window);
    await other.evaluate(() => void tracker.log(1));
    await expectNothing(other);
  });

  test('applies a consent withdrawal in another tab after localStorage.clear()', async () => {
    const page = await openPage(publish('/', { after: logOne }));
    await waitFor(() => expect(recorder.eventIDs()).toEqual([1]));
    await page.evaluate(() => {
      // The storage event of `localStorage.clear()` in another tab names no key.
      const dispatchStorageEvent = () => dispatchEvent(new StorageEvent('storage'));
      localStorage.clear();
      dispatchStorageEvent();
      tracker.log(2);
      localStorage.clear();
      // biome-ignore lint/suspicious/noDocumentCookie: Safari has no other way
      document.cookie = 'userUUID=; path=/; max-age=0';
      dispatchStorageEvent();
    });
    await waitFor(async () => expect(await page.evaluate(() => tracker.getUserUUID())).toBeUndefined());
    recorder.requests.length = 0;
    await page.evaluate(() => void tracker.log(3));
    await expectNothing(page);
  });

  test('keeps the consent given in one tab while another tab has none yet', async () => {
    const url = publish('/', { attributes: 'data-consent="required"' });
    const [page, other] = await Promise.all([openPage(url), openPage(url)]);
    await other.evaluate(() => addEventListener('storage', () => Object.assign(window, { hasStorageEvent: true })));
    await consent(page, true);
    await page.evaluate(() => void tracker.log(1));
    await waitFor(() => expect(recorder.eventIDs()).toEqual([1]));
    await other.waitForFunction(() => 'hasStorageEvent' in window);
    await page.evaluate(() => void tracker.log(2));
    await waitFor(() => expect(recorder.eventIDs()).toEqual([1, 2]));
    expect(new Set(recorder.events().map(({ user }) => user)).size).toBe(1);
    expect((await context.cookies()).map(({ value }) => value)).toEqual([recorder.events()[0]?.user]);
  });

  describe.each([
    ['Global Privacy Control', gpc, ''],
    ['Do Not Track on a site that respects it', dnt, 'data-dnt'],
  ])('under %s', (_, before, attributes) => {
    test('treats the visitor as refusing consent', async () => {
      await expectNothing(await openPage(publish('/', { before, attributes, after: logOne })));
    });

    test('removes everything that an earlier page has stored', async () => {
      await openPage(publish('/', { after: logOne }));
      await waitFor(() => expect(recorder.eventIDs()).toEqual([1]));
      recorder.requests.length = 0;
      await expectNothing(await openPage(publish('/signalled', { before, attributes, after: logOne })));
    });

    test('does not treat a cookie that can’t be removed as consent', async () => {
      const readOnlyCookie = `<script>
        const { get } = Object.getOwnPropertyDescriptor(Document.prototype, 'cookie');
        Object.defineProperty(Document.prototype, 'cookie', { get, set: () => {} });
      </script>`;
      const url = publish('/shop/', { before: before + readOnlyCookie, attributes, after: logOne });
      const cookie = { name: 'userUUID', value: 'a-cookie-of-this-path', domain: 'localhost', path: '/shop' };
      await context.addCookies([cookie]);
      const page = await openPage(url);
      await pause(300);
      expect(await context.cookies(url)).toEqual([expect.objectContaining(cookie)]);
      expect(await countStored(page)).toBe(0);
      expect(recorder.requests).toEqual([]);
    });

    test('lets explicit consent override the signal, including on later pages', async () => {
      const url = publish('/', { before, attributes, after: logOne });
      await consent(await openPage(url), true);
      await waitFor(() => expect(recorder.eventIDs()).toEqual([1]));
      await openPage(url);
      await waitFor(() => expect(recorder.eventIDs()).toEqual([1, 1]));
      const [first, second] = recorder.events().map(({ user }) => user);
      expect(first).toMatch(/^[\w-]{22}$/);
      expect(second).toBe(first);
    });
  });

  test('ignores Do Not Track without data-dnt', async () => {
    await openPage(publish('/', { before: dnt, after: logOne }));
    await waitFor(() => expect(recorder.eventIDs()).toEqual([1]));
  });

  test('lets beforeSend change and drop events, and drops an event if it throws', async () => {
    const page = await openPage(
      publish('/', {
        attributes: 'data-debug',
        after: `<script>
          tracker.beforeSend = (event) => {
            if (event.eventID === 2) return false;
            if (event.eventID === 3) throw new Error('of the page');
            event.attrs = { ...event.attrs, email: undefined, shop: 'one' };
          };
          tracker.log(1, { email: 'a@example.com', colour: 'red' });
        </script>`,
      }),
    );
    await page.evaluate(() => {
      for (const eventID of [2, 3, 4]) tracker.log(eventID);
    });
    await waitFor(() => expect(recorder.eventIDs()).toEqual([1, 4]));
    expect(recorder.events()[0]?.eventAttrArray).toEqual([
      { attrID: 'colour', attrValue: 'red' },
      { attrID: 'shop', attrValue: 'one' },
    ]);
    expect(consoleTexts).toContainEqual(expect.stringMatching(/^firsthand: beforeSend/));
    expect(consoleTexts).toContainEqual(expect.stringMatching(/^firsthand: Error: of the page/));
  });

  test('marks the events of automated browsers with the attribute `robot`', async () => {
    const before = `<script>Object.defineProperty(navigator, 'webdriver', { value: true })</script>`;
    await openPage(publish('/', { before, after: '<script>tracker.log(1, { a: 1 })</script>' }));
    await waitFor(() => expect(recorder.eventIDs()).toEqual([1]));
    expect(recorder.events()[0]?.eventAttrArray).toEqual([
      { attrID: 'robot', attrValue: 'true' },
      { attrID: 'a', attrValue: '1' },
    ]);
  });

  test('sends the number of dropped events with the next event', async () => {
    recorder.respond = () => ({ status: 503 });
    const page = await openPage(publish('/'));
    const logMany = () =>
      page.evaluate(() => {
        for (let count = 0; count < 503; count++) tracker.log(1);
      });
    await logMany();
    await page.waitForTimeout(400);
    recorder.requests.length = 0;
    recorder.respond = () => undefined;
    await page.evaluate(() => void tracker.log(2));
    await waitFor(() => expect(recorder.eventIDs()).toContain(2));
    const dropped = Number(
      recorder
        .events()
        .find(({ eventID }) => eventID === 2)
        ?.eventAttrArray?.find(({ attrID }) => attrID === 'dropped')?.attrValue,
    );
    expect(dropped).toBeGreaterThanOrEqual(2);
    expect(dropped).toBeLessThanOrEqual(3);
  });

  test('sends the cookie’s domain, so that the response can renew the cookie', async () => {
    await openPage(publish('/', { at: `http://www.shop.example:${recorder.port}`, after: logOne }));
    await waitFor(() => expect(recorder.eventIDs()).toEqual([1]));
    expect(recorder.requests[0]?.body.cookieDomain).toBe('shop.example');
  });
});
