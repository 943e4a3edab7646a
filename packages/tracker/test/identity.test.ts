import { join } from 'node:path';
import type { Cookie } from 'playwright-core';
import { expect, test } from 'vitest';
import type { Tracker } from '../src/index.ts';
import { context, describeInChromium, folder, logAll, openPage, publish, recorder, soon } from './chromium-page.ts';
import { fillSnippet } from './recorder.ts';

declare const tracker: Tracker;

/** On every host, `path` is a page with the snippet; nothing that it sends is kept. */
const serveEveryHost = (path: string) =>
  context.route('**/*', async (route) => {
    const { pathname } = new URL(route.request().url());
    if (pathname === '/tracker.js')
      await route.fulfill({ contentType: 'text/javascript', path: join(folder, 'tracker.js') });
    else if (pathname === path)
      await route.fulfill({ contentType: 'text/html', body: `<body>${fillSnippet('/tracker.js')}` });
    else await route.fulfill({ status: 503, body: '{"status":"503"}' });
  });

describeInChromium('the tracker in Chromium: identity', () => {
  test('gives a browser a cookie that lasts 400 days, and the same on every page', async () => {
    const url = publish('/', { after: '<script>tracker.log(1)</script>' });
    await openPage(url);
    await soon(() => expect(recorder.eventIDs()).toEqual([1]));
    const [cookie] = await context.cookies(url);
    expect(cookie).toMatchObject({ name: 'userUUID', path: '/', sameSite: 'Lax', secure: false, httpOnly: false });
    expect(cookie?.value).toMatch(/^[\w-]{21}$/);
    expect((cookie?.expires ?? 0) - Date.now() / 1e3).toBeCloseTo(400 * 86_400, -2);
    await openPage(url);
    await soon(() => expect(recorder.eventIDs()).toEqual([1, 1]));
    expect(recorder.events().map(({ user }) => user)).toEqual([cookie?.value, cookie?.value]);
    expect(await context.cookies(url)).toHaveLength(1);
  });

  test('getUserUUID resolves with the userUUID of a new browser, before the script has loaded and after', async () => {
    recorder.scriptDelayMilliseconds = 400;
    const page = await openPage(
      publish('/', { after: '<script>tracker.getUserUUID().then((early) => { window.early = early; })</script>' }),
    );
    const userUUID = await page.evaluate(() => tracker.getUserUUID());
    const [cookie] = await context.cookies();
    expect(userUUID).toBe(cookie?.value);
    expect(userUUID).toMatch(/^[\w-]{21}$/);
    await soon(async () => expect(await page.evaluate('early')).toBe(userUUID));
    await page.evaluate(() => tracker.reset());
    expect(await page.evaluate(() => tracker.getUserUUID())).not.toBe(userUUID);
  });

  test('renews the cookie on a visit', async () => {
    const url = publish('/');
    await context.addCookies([
      {
        name: 'userUUID',
        value: 'abcdefghijklmnopqrstu',
        domain: 'localhost',
        path: '/',
        expires: Date.now() / 1e3 + 3600,
      },
    ]);
    await openPage(url);
    await soon(async () => {
      const cookies = await context.cookies(url);
      expect(cookies.map(({ value }) => value)).toEqual(['abcdefghijklmnopqrstu']);
      expect(cookies[0]?.expires).toBeGreaterThan(Date.now() / 1e3 + 399 * 86_400);
    });
  });

  test.for([
    'short',
    'undefinedundefined',
    '00000000-0000-0000-0000-000000000000',
    'space%20and%20more%20of%20it',
    '%zz%zz%zz%zz%zz%zz',
  ])('replaces the malformed value %s', async (value) => {
    const url = publish('/');
    await context.addCookies([{ name: 'userUUID', value, domain: 'localhost', path: '/' }]);
    await openPage(url);
    await soon(async () => {
      expect((await context.cookies(url)).map((cookie) => cookie.value)).toEqual([
        expect.stringMatching(/^[\w-]{21}$/),
      ]);
    });
  });

  test('takes the second copy when the cookie is gone', async () => {
    const url = publish('/', { after: '<script>tracker.log(1)</script>' });
    await openPage(url);
    await soon(() => expect(recorder.eventIDs()).toEqual([1]));
    await context.clearCookies();
    await openPage(url);
    await soon(() => expect(recorder.eventIDs()).toEqual([1, 1]));
    expect(new Set(recorder.events().map(({ user }) => user)).size).toBe(1);
    expect((await context.cookies(url))[0]?.value).toBe(recorder.events()[0]?.user);
  });

  test.for([
    { host: 'http://localhost', domain: 'localhost' },
    { host: 'http://intranet', domain: 'intranet' },
    { host: 'http://192.0.2.7', domain: '192.0.2.7' },
    { host: 'https://[2001:db8::1]', domain: '[2001:db8::1]' },
    { host: 'https://example.com', domain: '.example.com' },
    { host: 'https://www.example.com', domain: '.example.com' },
    { host: 'https://a.b.example.co.uk', domain: '.example.co.uk' },
    { host: 'https://alice.github.io', domain: '.alice.github.io' },
    { host: 'https://www.alice.github.io', domain: '.alice.github.io' },
    { host: 'https://github.io', domain: 'github.io' },
  ])('on $host the cookie lands on $domain', async ({ host, domain }) => {
    await serveEveryHost('/');
    await openPage(`${host}/`);
    await soon(async () => {
      expect(await context.cookies()).toEqual([
        expect.objectContaining({
          name: 'userUUID',
          domain,
          path: '/',
          sameSite: 'Lax',
          secure: host.startsWith('https:'),
        }),
      ]);
    });
  });

  test('heals a narrower cookie that hides the wide one', async () => {
    await serveEveryHost('/');
    const narrow = 'narrow_narrow_narrow_';
    await context.addCookies([
      { name: 'userUUID', value: narrow, domain: 'www.shop.example.com', path: '/' },
      { name: 'userUUID', value: 'middle_middle_middle_', domain: '.shop.example.com', path: '/' },
      { name: 'userUUID', value: 'wide_wide_wide_wide_w', domain: '.example.com', path: '/' },
    ]);
    await openPage('https://www.shop.example.com/');
    await soon(async () => {
      const cookies = await context.cookies();
      expect(cookies.map((cookie) => [cookie.domain, cookie.value])).toEqual([['.example.com', narrow]]);
    });
  });

  test('a tab that renews the cookie never lets another tab see none', async () => {
    await serveEveryHost('/a/b');
    // What another tab would read after each change of a cookie.
    await context.addInitScript(() => {
      const cookie = Object.getOwnPropertyDescriptor(Document.prototype, 'cookie') as Required<PropertyDescriptor>;
      const seen: string[] = [];
      Object.defineProperty(Document.prototype, 'cookie', {
        ...cookie,
        set(value) {
          cookie.set.call(this, value);
          seen.push(cookie.get.call(this));
        },
      });
      Object.assign(globalThis, { seen });
    });
    for (const host of ['http://localhost', 'https://www.shop.example.co.uk']) {
      await openPage(`${host}/a/b`);
      await soon(async () => expect(await context.cookies(`${host}/`)).toHaveLength(1));
      const [made] = await context.cookies(`${host}/`);
      const page = await openPage(`${host}/a/b`);
      await soon(async () => {
        const seen = await page.evaluate(() => (globalThis as unknown as { seen: string[] }).seen);
        expect(seen.length).toBeGreaterThan(0);
        for (const cookies of seen) expect(cookies).toContain(`userUUID=${made?.value}`);
      });
      expect(await context.cookies(`${host}/`)).toHaveLength(1);
    }
  });

  test('a script that lets only some names of cookies pass leaves the cookie of all subdomains', async () => {
    await serveEveryHost('/');
    await openPage('https://www.example.com/');
    await soon(async () => expect(await context.cookies()).toHaveLength(1));
    const before = await context.cookies();
    await context.addInitScript(() => {
      const cookie = Object.getOwnPropertyDescriptor(Document.prototype, 'cookie') as Required<PropertyDescriptor>;
      Object.defineProperty(Document.prototype, 'cookie', {
        ...cookie,
        set(value) {
          if (value.startsWith('userUUID=')) cookie.set.call(this, value);
          else Object.assign(globalThis, { refused: true });
        },
      });
    });
    const page = await openPage('https://www.example.com/');
    await soon(async () => expect(await page.evaluate(() => 'refused' in globalThis)).toBe(true));
    const wide = (await context.cookies()).filter(({ domain }) => domain === '.example.com');
    expect(wide.map(({ value }) => value)).toEqual(before.map(({ value }) => value));
  });

  test('two tabs opened at once in a new browser end with one userUUID', async () => {
    const url = publish('/', { after: '<script>tracker.log(1)</script>' });
    await Promise.all([openPage(url), openPage(url), openPage(url), openPage(url)]);
    await soon(() => expect(recorder.eventIDs()).toEqual([1, 1, 1, 1]));
    const users = [...new Set(recorder.events().map(({ user }) => user))];
    expect((await context.cookies(url)).map(({ value }) => value)).toEqual(users);
  });

  test('reset makes a new user, and what was logged before stays with the old one', async () => {
    recorder.answer = () => ({ status: 503, headers: { 'Retry-After': '1' } });
    const url = publish('/', {
      after: '<script>tracker.log(1); tracker.reset(); tracker.log(2); tracker.reset(); tracker.log(3)</script>',
    });
    const page = await openPage(url);
    await soon(() => expect(recorder.received.length).toBeGreaterThan(0));
    await page.evaluate(() => {
      tracker.log(4);
      tracker.reset();
      tracker.log(5);
    });
    recorder.received.length = 0;
    recorder.answer = () => undefined;
    await soon(() => expect(recorder.eventIDs()).toEqual([1, 2, 3, 4, 5]));
    const users = new Map(recorder.events().map(({ eventID, user }) => [eventID, user]));
    expect(new Set(users.values()).size).toBe(4);
    expect(users.get(4)).toBe(users.get(3));
    expect((await context.cookies(url))[0]?.value).toBe(users.get(5));
  });

  test('what waits is written to only when the user changes, however many pages come meanwhile', async () => {
    recorder.answer = () => ({ status: 503 });
    const url = publish('/');
    const page = await openPage(url);
    await logAll(page, [1]);
    const waiting = () =>
      page.evaluate(() => Object.entries(localStorage).find(([key]) => key.startsWith('firsthand:'))?.[1]);
    const record = await waiting();
    for (let visits = 1; visits <= 3; visits++) {
      recorder.received.length = 0;
      await page.goto(url);
      await soon(() => expect(recorder.received.length).toBeGreaterThan(0));
    }
    expect(await waiting()).toBe(record);
  });

  test('after a reset on another subdomain, the next page logs for the new user, and what waits is the old one’s', async () => {
    recorder.answer = () => ({ status: 503 });
    const page = await openPage(publish('/'));
    await logAll(page, [1]);
    await soon(() => expect(recorder.received.length).toBeGreaterThan(0));
    const [cookie] = await context.cookies();
    await page.close();
    const value = 'the-new-user-of-this-browser';
    await context.addCookies([{ ...(cookie as Cookie), value }]);
    recorder.received.length = 0;
    recorder.answer = () => undefined;
    await openPage(publish('/', { after: '<script>tracker.log(2)</script>' }));
    await soon(() => expect(recorder.eventIDs()).toEqual([1, 2]));
    expect(recorder.events().map(({ user }) => user)).toEqual([cookie?.value, value]);
  });
});
