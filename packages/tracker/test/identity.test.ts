import { join } from 'node:path';
import type { Cookie } from 'playwright-core';
import { expect, test } from 'vitest';
import type { Tracker } from '../src/index.ts';
import { context, describeInChromium, folder, logAll, openPage, publish, recorder, waitFor } from './chromium-page.ts';
import { fillSnippet } from './recorder.ts';

declare const tracker: Tracker;

/** Serves a page with the snippet at `path` on every host, and responds to its requests with 503. */
const serveEveryHost = (path: string) =>
  context.route('**/*', async (route) => {
    const { pathname } = new URL(route.request().url());
    if (pathname === '/tracker.js')
      await route.fulfill({ contentType: 'text/javascript', path: join(folder, 'tracker.js') });
    else if (pathname === path)
      await route.fulfill({ contentType: 'text/html', body: `<body>${fillSnippet('/tracker.js')}` });
    else await route.fulfill({ status: 503, body: '{"status":"503"}' });
  });

describeInChromium('the tracker in Chromium', () => {
  test('sets a cookie for 400 days, with the same userUUID on every page', async () => {
    const url = publish('/', { after: '<script>tracker.log(1)</script>' });
    await openPage(url);
    await waitFor(() => expect(recorder.eventIDs()).toEqual([1]));
    const [cookie] = await context.cookies(url);
    expect(cookie).toMatchObject({ name: 'userUUID', path: '/', sameSite: 'Lax', secure: false, httpOnly: false });
    expect(cookie?.value).toMatch(/^[\w-]{21}$/);
    expect((cookie?.expires ?? 0) - Date.now() / 1e3).toBeCloseTo(400 * 86_400, -2);
    await openPage(url);
    await waitFor(() => expect(recorder.eventIDs()).toEqual([1, 1]));
    expect(recorder.events().map(({ user }) => user)).toEqual([cookie?.value, cookie?.value]);
    expect(await context.cookies(url)).toHaveLength(1);
  });

  test('resolves getUserUUID with the userUUID of a new browser, before and after the script has loaded', async () => {
    recorder.scriptDelayMilliseconds = 400;
    const page = await openPage(
      publish('/', { after: '<script>tracker.getUserUUID().then((early) => { window.early = early; })</script>' }),
    );
    const userUUID = await page.evaluate(() => tracker.getUserUUID());
    const [cookie] = await context.cookies();
    expect(userUUID).toBe(cookie?.value);
    expect(userUUID).toMatch(/^[\w-]{21}$/);
    await waitFor(async () => expect(await page.evaluate('early')).toBe(userUUID));
    await page.evaluate(() => tracker.reset());
    expect(await page.evaluate(() => tracker.getUserUUID())).not.toBe(userUUID);
  });

  test('renews the cookie on each visit', async () => {
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
    await waitFor(async () => {
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
  ])('replaces the malformed userUUID %s', async (value) => {
    const url = publish('/');
    await context.addCookies([{ name: 'userUUID', value, domain: 'localhost', path: '/' }]);
    await openPage(url);
    await waitFor(async () => {
      expect((await context.cookies(url)).map((cookie) => cookie.value)).toEqual([
        expect.stringMatching(/^[\w-]{21}$/),
      ]);
    });
  });

  test('uses the copy in localStorage when the cookie is gone', async () => {
    const url = publish('/', { after: '<script>tracker.log(1)</script>' });
    await openPage(url);
    await waitFor(() => expect(recorder.eventIDs()).toEqual([1]));
    await context.clearCookies();
    await openPage(url);
    await waitFor(() => expect(recorder.eventIDs()).toEqual([1, 1]));
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
  ])('sets the cookie on $host for the domain $domain', async ({ host, domain }) => {
    await serveEveryHost('/');
    await openPage(`${host}/`);
    await waitFor(async () => {
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

  test('replaces narrower cookies that mask the widest one', async () => {
    await serveEveryHost('/');
    const narrow = 'narrow_narrow_narrow_';
    await context.addCookies([
      { name: 'userUUID', value: narrow, domain: 'www.shop.example.com', path: '/' },
      { name: 'userUUID', value: 'middle_middle_middle_', domain: '.shop.example.com', path: '/' },
      { name: 'userUUID', value: 'wide_wide_wide_wide_w', domain: '.example.com', path: '/' },
    ]);
    await openPage('https://www.shop.example.com/');
    await waitFor(async () => {
      const cookies = await context.cookies();
      expect(cookies.map((cookie) => [cookie.domain, cookie.value])).toEqual([['.example.com', narrow]]);
    });
  });

  test('renews the cookie without removing it, so that another tab always finds it', async () => {
    await serveEveryHost('/a/b');
    // Records what another tab would read after each change of a cookie.
    await context.addInitScript(() => {
      const cookie = Object.getOwnPropertyDescriptor(Document.prototype, 'cookie') as Required<PropertyDescriptor>;
      const cookieReads: string[] = [];
      Object.defineProperty(Document.prototype, 'cookie', {
        ...cookie,
        set(value) {
          cookie.set.call(this, value);
          cookieReads.push(cookie.get.call(this));
        },
      });
      Object.assign(globalThis, { cookieReads });
    });
    for (const host of ['http://localhost', 'https://www.shop.example.co.uk']) {
      await openPage(`${host}/a/b`);
      await waitFor(async () => expect(await context.cookies(`${host}/`)).toHaveLength(1));
      const [firstCookie] = await context.cookies(`${host}/`);
      const page = await openPage(`${host}/a/b`);
      await waitFor(async () => {
        const cookieReads = await page.evaluate(() => (globalThis as unknown as { cookieReads: string[] }).cookieReads);
        expect(cookieReads.length).toBeGreaterThan(0);
        for (const cookies of cookieReads) expect(cookies).toContain(`userUUID=${firstCookie?.value}`);
      });
      expect(await context.cookies(`${host}/`)).toHaveLength(1);
    }
  });

  test('keeps the cookie for all subdomains if one of the page’s scripts blocks cookies with other names', async () => {
    await serveEveryHost('/');
    await openPage('https://www.example.com/');
    await waitFor(async () => expect(await context.cookies()).toHaveLength(1));
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
    await waitFor(async () => expect(await page.evaluate(() => 'refused' in globalThis)).toBe(true));
    const wide = (await context.cookies()).filter(({ domain }) => domain === '.example.com');
    expect(wide.map(({ value }) => value)).toEqual(before.map(({ value }) => value));
  });

  test('gives tabs that open together in a new browser the same userUUID', async () => {
    const url = publish('/', { after: '<script>tracker.log(1)</script>' });
    await Promise.all([openPage(url), openPage(url), openPage(url), openPage(url)]);
    await waitFor(() => expect(recorder.eventIDs()).toEqual([1, 1, 1, 1]));
    const users = [...new Set(recorder.events().map(({ user }) => user))];
    expect((await context.cookies(url)).map(({ value }) => value)).toEqual(users);
  });

  test('creates a new user on reset, and leaves earlier events with the previous user', async () => {
    recorder.respond = () => ({ status: 503, headers: { 'Retry-After': '1' } });
    const url = publish('/', {
      after: '<script>tracker.log(1); tracker.reset(); tracker.log(2); tracker.reset(); tracker.log(3)</script>',
    });
    const page = await openPage(url);
    await waitFor(() => expect(recorder.requests.length).toBeGreaterThan(0));
    await page.evaluate(() => {
      tracker.log(4);
      tracker.reset();
      tracker.log(5);
    });
    recorder.requests.length = 0;
    recorder.respond = () => undefined;
    await waitFor(() => expect(recorder.eventIDs()).toEqual([1, 2, 3, 4, 5]));
    const users = new Map(recorder.events().map(({ eventID, user }) => [eventID, user]));
    expect(new Set(users.values()).size).toBe(4);
    expect(users.get(4)).toBe(users.get(3));
    expect((await context.cookies(url))[0]?.value).toBe(users.get(5));
  });

  test('rewrites queued records only when the user changes, not on every page', async () => {
    recorder.respond = () => ({ status: 503 });
    const url = publish('/');
    const page = await openPage(url);
    await logAll(page, [1]);
    const readQueued = () =>
      page.evaluate(() => Object.entries(localStorage).find(([key]) => key.startsWith('firsthand:'))?.[1]);
    const record = await readQueued();
    for (let visits = 1; visits <= 3; visits++) {
      recorder.requests.length = 0;
      await page.goto(url);
      await waitFor(() => expect(recorder.requests.length).toBeGreaterThan(0));
    }
    expect(await readQueued()).toBe(record);
  });

  test('logs for the new user after a reset on another subdomain, and sends queued records for the previous user', async () => {
    recorder.respond = () => ({ status: 503 });
    const page = await openPage(publish('/'));
    await logAll(page, [1]);
    await waitFor(() => expect(recorder.requests.length).toBeGreaterThan(0));
    const [cookie] = await context.cookies();
    await page.close();
    const value = 'the-new-user-of-this-browser';
    await context.addCookies([{ ...(cookie as Cookie), value }]);
    recorder.requests.length = 0;
    recorder.respond = () => undefined;
    await openPage(publish('/', { after: '<script>tracker.log(2)</script>' }));
    await waitFor(() => expect(recorder.eventIDs()).toEqual([1, 2]));
    expect(recorder.events().map(({ user }) => user)).toEqual([cookie?.value, value]);
  });
});
