import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { buildTracker } from '../build.ts';
import type { ContactResult, Tracker, TrackerError } from '../src/index.ts';
import { fillSnippet, openRecorder, type Recorder } from './recorder.ts';

declare const tracker: Tracker;

const executablePath = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';
const isThere = existsSync(executablePath);

const soon = <T>(look: () => T | Promise<T>, timeout = 8_000) => vi.waitFor(look, { timeout, interval: 25 });
const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

if (!isThere)
  test.skip(`the tracker in a real browser: skipped for want of ${executablePath} (apt-get install chromium)`, () => {});

describe.skipIf(!isThere)('the tracker in Chromium', { timeout: 20_000 }, () => {
  /** The tracker as built now, in no folder that another test reads. */
  let folder: string;
  let browser: Browser;
  let context: BrowserContext;
  let recorder: Recorder;
  /** The site: localhost, where pages have Web Locks. The service is another origin, 127.0.0.1. */
  let site: string;
  let service: string;
  let pageErrors: unknown[];
  let consoleTexts: string[];

  const newContext = async (): Promise<BrowserContext> => {
    const made = await browser.newContext();
    made.on('weberror', (error) => pageErrors.push(error.error()));
    made.on('console', (message) => consoleTexts.push(message.text()));
    return made;
  };

  /** Makes a page of the site that has the snippet, `before` its body and `after` it. */
  const publish = (path: string, { before = '', after = '', attributes = '', headers = {} } = {}): string => {
    const html = `<!doctype html><meta charset="utf-8"><head>${before}${fillSnippet(`${service}/tracker.js`, attributes)}</head><body>${after}</body>`;
    recorder.pages[path] = { html, headers };
    return site + path;
  };

  const open = async (url: string): Promise<Page> => {
    const page = await context.newPage();
    await page.goto(url);
    await page.waitForFunction(() => Object.hasOwn(tracker, 'push'));
    return page;
  };

  const logAll = (page: Page, eventIDs: number[]) =>
    page.evaluate((eventIDs) => {
      for (const eventID of eventIDs) tracker.log(eventID);
    }, eventIDs);

  const queuedIn = (page: Page) =>
    page.evaluate(() => Object.keys(localStorage).filter((key) => key.startsWith('firsthand:')).length);

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'firsthand-tracker-'));
    await buildTracker(folder);
    browser = await chromium.launch({
      executablePath,
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
        '--host-resolver-rules=MAP *.example 127.0.0.1',
      ],
    });
  }, 60_000);

  afterAll(async () => {
    await browser?.close();
    await rm(folder, { recursive: true });
  });

  beforeEach(async () => {
    pageErrors = [];
    consoleTexts = [];
    recorder = await openRecorder(folder);
    site = `http://localhost:${recorder.port}`;
    service = `http://127.0.0.1:${recorder.port}`;
    context = await newContext();
  });

  afterEach(async () => {
    await context.close();
    await recorder.down();
    expect(pageErrors).toEqual([]);
  });

  describe('identity', () => {
    test('gives a browser a cookie that lasts 400 days, and the same on every page', async () => {
      const url = publish('/', { after: '<script>tracker.log(1)</script>' });
      await open(url);
      await soon(() => expect(recorder.eventIDs()).toEqual([1]));
      const [cookie] = await context.cookies(url);
      expect(cookie).toMatchObject({ name: 'userUUID', path: '/', sameSite: 'Lax', secure: false, httpOnly: false });
      expect(cookie?.value).toMatch(/^[\w-]{21}$/);
      expect((cookie?.expires ?? 0) - Date.now() / 1e3).toBeCloseTo(400 * 86_400, -2);
      await open(url);
      await soon(() => expect(recorder.eventIDs()).toEqual([1, 1]));
      expect(recorder.events().map(({ user }) => user)).toEqual([cookie?.value, cookie?.value]);
      expect(await context.cookies(url)).toHaveLength(1);
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
      await open(url);
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
      await open(url);
      await soon(async () => {
        expect((await context.cookies(url)).map((cookie) => cookie.value)).toEqual([
          expect.stringMatching(/^[\w-]{21}$/),
        ]);
      });
    });

    test('takes the second copy when the cookie is gone', async () => {
      const url = publish('/', { after: '<script>tracker.log(1)</script>' });
      await open(url);
      await soon(() => expect(recorder.eventIDs()).toEqual([1]));
      await context.clearCookies();
      await open(url);
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
      const html = `<body>${fillSnippet('/tracker.js')}`;
      await context.route('**/*', async (route) => {
        const { pathname } = new URL(route.request().url());
        if (pathname === '/tracker.js')
          await route.fulfill({ contentType: 'text/javascript', path: join(folder, 'tracker.js') });
        else if (pathname === '/') await route.fulfill({ contentType: 'text/html', body: html });
        else await route.fulfill({ status: 503, body: '{"status":"503"}' });
      });
      await open(`${host}/`);
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
      const html = `<body>${fillSnippet('/tracker.js')}`;
      await context.route('**/*', async (route) => {
        const { pathname } = new URL(route.request().url());
        if (pathname === '/tracker.js')
          await route.fulfill({ contentType: 'text/javascript', path: join(folder, 'tracker.js') });
        else await route.fulfill({ contentType: 'text/html', body: html });
      });
      const narrow = 'narrow_narrow_narrow_';
      await context.addCookies([
        { name: 'userUUID', value: narrow, domain: 'www.shop.example.com', path: '/' },
        { name: 'userUUID', value: 'middle_middle_middle_', domain: '.shop.example.com', path: '/' },
        { name: 'userUUID', value: 'wide_wide_wide_wide_w', domain: '.example.com', path: '/' },
      ]);
      await open('https://www.shop.example.com/');
      await soon(async () => {
        const cookies = await context.cookies();
        expect(cookies.map((cookie) => [cookie.domain, cookie.value])).toEqual([['.example.com', narrow]]);
      });
    });

    test('two tabs opened at once in a new browser end with one userUUID', async () => {
      const url = publish('/', { after: '<script>tracker.log(1)</script>' });
      await Promise.all([open(url), open(url), open(url), open(url)]);
      await soon(() => expect(recorder.eventIDs()).toEqual([1, 1, 1, 1]));
      const users = new Set(recorder.events().map(({ user }) => user));
      expect([...users]).toEqual((await context.cookies(url)).map(({ value }) => value));
    });

    test('reset makes a new user, and what was logged before stays with the old one', async () => {
      recorder.answer = () => ({ status: 503, headers: { 'Retry-After': '1' } });
      const url = publish('/', {
        after: '<script>tracker.log(1); tracker.reset(); tracker.log(2); tracker.reset(); tracker.log(3)</script>',
      });
      const page = await open(url);
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
  });

  describe('calls', () => {
    test('made before the script is there are kept in order, with promises', async () => {
      recorder.scriptDelayMilliseconds = 400;
      const url = publish('/', {
        after: `<script>
          tracker.log(1);
          tracker.createContact({ contactEmailaddress: 'a@example.com', contactProfileID: '1' }, (result) => window.calledBack = result)
            .then((result) => window.resolved = result);
          tracker.log(2, { colour: 'red' });
        </script>`,
      });
      const page = await open(url);
      await page.waitForFunction(() => 'resolved' in window && 'calledBack' in window);
      await soon(() =>
        expect(recorder.received.map(({ path }) => path)).toEqual([
          '/event/logEvents',
          '/contact/createContact',
          '/event/logEvents',
        ]),
      );
      expect(
        await page.evaluate(() =>
          ['resolved', 'calledBack']
            .map((name) => (window as unknown as Record<string, ContactResult>)[name])
            .map((result) => [result?.exists, result?.contactUUID]),
        ),
      ).toEqual([
        [false, 'contact_1'],
        [false, 'contact_1'],
      ]);
      expect(recorder.received[1]?.body).toMatchObject({
        tokenUUID: 'browser_test',
        userUUID: recorder.received[0]?.body.userUUID,
        requestUUID: expect.stringMatching(/^[\w-]{20}$/),
        contactEmailaddress: 'a@example.com',
      });
    });

    test('go out as text, without a preflight and without cookies, in one request for one go', async () => {
      const page = await open(publish('/'));
      const before = Date.now();
      await page.evaluate(() => {
        tracker.log(7, {
          text: 'é "quoted" \\ \n 🎉 \0 \ud800',
          number: 1.5,
          yes: true,
          when: new Date(0),
          nothing: null,
        });
        tracker.log('8', [{ attrID: 'a', attrValue: 'b' }]);
      });
      await soon(() => expect(recorder.eventIDs()).toEqual([7, 8]));
      expect(recorder.received).toHaveLength(1);
      const [{ headers, method, body }] = recorder.received as [(typeof recorder.received)[0]];
      expect([method, headers['content-type'], headers.cookie]).toEqual([
        'POST',
        'text/plain;charset=UTF-8',
        undefined,
      ]);
      expect(body.sentTime).toBeGreaterThanOrEqual(before);
      expect(body.event?.[0]).toEqual({
        eventID: 7,
        eventUUID: expect.stringMatching(/^[a-z0-9]{10}[\w-]{10}$/),
        eventTime: expect.any(Number),
        eventAttrArray: [
          { attrID: 'text', attrValue: 'é "quoted" \\ \n 🎉 \ufffd \ufffd' },
          { attrID: 'number', attrValue: '1.5' },
          { attrID: 'yes', attrValue: 'true' },
          { attrID: 'when', attrValue: '1970-01-01T00:00:00.000Z' },
        ],
      });
      expect(Math.abs((body.event?.[0]?.eventTime ?? 0) - before)).toBeLessThan(2_000);
    });

    test('createContact that is refused rejects, and is no error of a page that does not listen', async () => {
      recorder.answer = ({ path }) =>
        path === '/contact/createContact'
          ? {
              status: 400,
              body: {
                status: '400',
                error: { code: 'invalid', message: 'is no address', field: 'contactEmailaddress' },
              },
            }
          : undefined;
      const contact = `{ contactEmailaddress: 'x', contactProfileID: '1' }`;
      recorder.scriptDelayMilliseconds = 200;
      const page = await open(publish('/', { after: `<script>tracker.createContact(${contact})</script>` }));
      const refusal = await page.evaluate(async () => {
        tracker.createContact({ contactEmailaddress: 'y', contactProfileID: '1' });
        let calledBack: TrackerError | undefined;
        const error = await tracker
          .createContact({ contactEmailaddress: 'z', contactProfileID: '1' }, (_, error) => {
            calledBack = error;
          })
          .then(
            () => {},
            (error: TrackerError) => error,
          );
        return [error instanceof Error, error?.code, error?.field, error?.message, calledBack === error];
      });
      expect(refusal).toEqual([true, 'invalid', 'contactEmailaddress', 'is no address', true]);
      expect(recorder.received).toHaveLength(3);
      await pause(300);
      expect(await queuedIn(page)).toBe(0);
    });

    test('with anything at all never throw, in a page with debug, and say what was left out', async () => {
      const page = await open(publish('/', { attributes: 'data-debug' }));
      await page.evaluate(async () => {
        const log = tracker.log as (...args: unknown[]) => void;
        const cycle: Record<string, unknown> = {};
        cycle.self = cycle;
        const throwing = {
          get bad() {
            throw new Error('getter');
          },
          good: 'kept',
        };
        const hostile = new Proxy(
          {},
          {
            ownKeys: () => {
              throw new Error('proxy');
            },
          },
        );
        for (const eventID of [0, -1, 1.5, 2 ** 31, NaN, 'x', null, undefined, {}, Symbol('s'), 0n, () => {}])
          log(eventID);
        const oddities = [
          null,
          5,
          'text',
          cycle,
          throwing,
          hostile,
          document.body,
          () => {},
          [null, 1, {}, { attrID: 'a' }],
          { f: () => {}, s: Symbol('s'), big: 2n ** 70n, node: document.body, date: new Date(NaN) },
        ];
        for (const attrs of oddities) log(9, attrs);
        const createContact = tracker.createContact as (...args: unknown[]) => Promise<unknown>;
        for (const fields of [null, undefined, hostile]) await createContact(fields).catch(() => {});
        createContact(throwing, 'no function');
        createContact({ contactAttr: cycle, contactEmailaddress: document.body });
      });
      await soon(() => expect(recorder.eventIDs()).toEqual(Array(10).fill(9)));
      const attributes = recorder.events().flatMap(({ eventAttrArray }) => eventAttrArray ?? []);
      expect(attributes).toEqual([
        { attrID: 'good', attrValue: 'kept' },
        { attrID: 'big', attrValue: String(2n ** 70n) },
      ]);
      expect(consoleTexts).toContain('firsthand: dropped, no attributes: text');
      expect(consoleTexts.filter((text) => text.startsWith('firsthand: dropped, no eventID')).length).toBe(11);
      expect(consoleTexts).toContainEqual(expect.stringMatching(/^firsthand: dropped, not text: attrValue .*node/));
    });
  });

  describe('delivery', () => {
    test.for([503, 429, 408])(
      'after %i tries again with the same eventUUID, not before Retry-After',
      async (status) => {
        const times: number[] = [];
        recorder.answer = () => {
          times.push(Date.now());
          return times.length === 1 ? { status, headers: { 'Retry-After': '1' } } : undefined;
        };
        const page = await open(publish('/'));
        await page.evaluate(() => tracker.log(1));
        await soon(() => expect(times).toHaveLength(1));
        await page.evaluate(() => tracker.log(2));
        await soon(() => expect(recorder.eventIDs()).toEqual([1, 2]));
        const [first, second] = times as [number, number];
        expect(second - first).toBeGreaterThanOrEqual(1_000);
        expect(recorder.events()[1]?.eventUUID).toBe(recorder.events()[0]?.eventUUID);
        await soon(async () => expect(await queuedIn(page)).toBe(0));
      },
    );

    test('sends one request at a time, and in it what was logged meanwhile', async () => {
      let release = () => {};
      recorder.answer = async () => {
        if (recorder.received.length === 1) await new Promise<void>((resolve) => (release = resolve));
        return undefined;
      };
      const page = await open(publish('/'));
      await page.evaluate(() => tracker.log(1));
      await soon(() => expect(recorder.received).toHaveLength(1));
      await logAll(page, [2, 3, 4]);
      await pause(300);
      expect(recorder.received).toHaveLength(1);
      release();
      await soon(() => expect(recorder.eventIDs()).toEqual([1, 2, 3, 4]));
      expect(recorder.received).toHaveLength(2);
    });

    test('keeps each request small enough for keepalive, counted in bytes', async () => {
      const page = await open(publish('/'));
      await page.evaluate(() => {
        for (let eventID = 1; eventID <= 60; eventID++) tracker.log(eventID, { a: '語'.repeat(2_000) });
      });
      await soon(() => expect(recorder.eventIDs()).toHaveLength(60));
      expect(recorder.received.length).toBeLessThan(12);
      expect(Math.max(...recorder.received.map(({ bytes }) => bytes))).toBeLessThan(64 * 1024);
    });

    test('drops the event that the service refuses, and keeps the others', async () => {
      recorder.answer = ({ body }) => ({
        status: 200,
        body: {
          status: '200',
          event: body.event?.map(({ eventID, eventUUID }) => {
            if (eventID < 10) return { status: '400', eventUUID, error: { code: 'invalid', message: 'too low' } };
            if (eventID < 20 && recorder.received.length < 2) return { status: '503', eventUUID };
            return { status: '200', eventUUID };
          }),
        },
      });
      const page = await open(publish('/', { attributes: 'data-debug' }));
      await logAll(page, [1, 11, 21]);
      await soon(() => expect(recorder.received).toHaveLength(2));
      await soon(async () => expect(await queuedIn(page)).toBe(0));
      expect(recorder.events().map(({ eventID }) => eventID)).toEqual([1, 11, 21, 11]);
      expect(consoleTexts.some((text) => text.startsWith('firsthand: dropped:'))).toBe(true);
    });

    test('finds the one record for which a whole request is refused', async () => {
      recorder.answer = ({ body }) => (body.event?.some(({ eventID }) => eventID === 13) ? { status: 400 } : undefined);
      const page = await open(publish('/'));
      await logAll(page, [11, 12, 13, 14, 15]);
      await soon(async () => expect(await queuedIn(page)).toBe(0), 15_000);
      expect(recorder.eventIDs()).toEqual([11, 12, 13, 14, 15]);
    });

    test.for([401, 403])('after %i keeps everything and sends nothing more until the next page', async (status) => {
      recorder.answer = () => ({ status, body: { status: `${status}`, error: { code: 'no', message: 'no' } } });
      const url = publish('/');
      const page = await open(url);
      await page.evaluate(() => tracker.log(1));
      await soon(() => expect(recorder.received).toHaveLength(1));
      await page.evaluate(() => tracker.log(2));
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
      const page = await open(publish('/'));
      await page.evaluate(() => tracker.log(1));
      await soon(() => expect(recorder.received).toHaveLength(2));
      expect(recorder.eventIDs()).toEqual([1]);
    });

    test('logged, and the tab closed at once, loses nothing', async () => {
      const opener = await open(publish('/'));
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

    test('closed at once without a second visit, the last event has arrived', async () => {
      for (let eventID = 1; eventID <= 5; eventID++) {
        const page = await open(publish('/'));
        await page.evaluate((eventID) => tracker.log(eventID), eventID);
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
          at.addEventListener('${moment}', () => tracker.log(Number(location.search.slice(1))));
        </script>`,
        });
        for (let eventID = 1; eventID <= 5; eventID++) {
          const page = await open(`${url}?${eventID}`);
          await page.click('a');
          await page.waitForURL('**/elsewhere');
          // A listener of the page may run after the tracker's own: what it logs is kept, and sent by the next page.
          if (moment === 'click') await soon(() => expect(recorder.eventIDs()).toContain(eventID));
          await page.close();
        }
        await open(publish('/again'));
        await soon(() => expect(recorder.eventIDs()).toEqual([1, 2, 3, 4, 5]));
      },
    );

    test('while the server is down for some seconds, keeps what is logged, and sends it from the same page', async () => {
      const page = await open(publish('/'));
      await recorder.down();
      await page.evaluate(() => tracker.log(1));
      await pause(2_000);
      await page.evaluate(() => tracker.log(2));
      await recorder.up();
      await soon(() => expect(recorder.eventIDs()).toEqual([1, 2]), 15_000);
    });

    test('while the server is down and the page is left, keeps events and contacts for the next visit', async () => {
      const url = publish('/');
      const page = await open(url);
      await recorder.down();
      await page.evaluate(() => {
        tracker.log(1);
        tracker.createContact({ contactEmailaddress: 'a@example.com', contactProfileID: '1' });
        tracker.log(2);
      });
      await page.close({ runBeforeUnload: true });
      await pause(300);
      await recorder.up();
      const next = await open(url);
      await soon(() =>
        expect(recorder.received.map(({ path }) => path)).toEqual([
          '/event/logEvents',
          '/contact/createContact',
          '/event/logEvents',
        ]),
      );
      expect(recorder.eventIDs()).toEqual([1, 2]);
      expect(new Set(recorder.received.map(({ body }) => body.userUUID)).size).toBe(1);
      await soon(async () => expect(await queuedIn(next)).toBe(0));
    });

    test('a tab that crashes has kept what it logged', async () => {
      recorder.answer = () => ({ status: 503, headers: { 'Retry-After': '60' } });
      const url = publish('/');
      const page = await open(url);
      await page.evaluate(() => tracker.log(1));
      await soon(() => expect(recorder.received.length).toBeGreaterThan(0));
      await page.evaluate(() => tracker.log(2));
      await Promise.all([page.waitForEvent('crash'), page.goto('chrome://crash').catch(() => {})]);
      await page.close();
      recorder.received.length = 0;
      recorder.answer = () => undefined;
      await open(url);
      await soon(() => expect(recorder.eventIDs()).toEqual([1, 2]));
    });

    test('two tabs that log at the same time lose none, and send one after the other', async () => {
      let atOnce = 0;
      let mostAtOnce = 0;
      recorder.answer = async () => {
        mostAtOnce = Math.max(mostAtOnce, ++atOnce);
        await pause(20);
        atOnce--;
        return undefined;
      };
      const url = publish('/');
      const pages = await Promise.all([open(url), open(url)]);
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
      // The other tab hears of a removal a little late, and may repeat: the service knows the eventUUID.
      expect(mostAtOnce).toBe(1);
      for (const tab of [0, 1]) {
        expect(recorder.eventIDs().filter((eventID) => Math.floor(eventID / 100) === tab)).toEqual(
          Array.from({ length: 50 }, (_, index) => tab * 100 + index + 1),
        );
      }
    });

    test('on plain http, where there are no locks, loses none', async () => {
      site = `http://www.shop.example:${recorder.port}`;
      const url = publish('/');
      const pages = await Promise.all([open(url), open(url)]);
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
      const page = await open(publish('/', { attributes: 'data-debug' }));
      await page.evaluate(() => {
        for (let count = 0; count < 5_000; count++) tracker.log(1);
      });
      await soon(() => expect(recorder.eventIDs().length).toBeGreaterThanOrEqual(500));
      await pause(500);
      expect(recorder.eventIDs().length).toBeLessThan(550);
      expect(consoleTexts).toContain('firsthand: dropped, too many: 1');
    });
  });

  describe('in pages that are hard to live in', () => {
    test('storage and cookies blocked: sends from memory', async () => {
      const url = publish('/', { headers: { 'content-security-policy': 'sandbox allow-scripts' } });
      const page = await open(url);
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
      await soon(() => expect(recorder.eventIDs()).toEqual([1, 2]));
      expect(new Set(recorder.events().map(({ user }) => user)).size).toBe(2);
      await page.evaluate(() => tracker.log(3));
      await soon(() => expect(recorder.eventIDs()).toEqual([1, 2, 3]));
      expect(recorder.events()[2]?.user).toBe(recorder.events()[1]?.user);
    });

    test('storage full: sends from memory', async () => {
      const url = publish('/', {
        before: `<script>
          for (let size = 2 ** 22; size >= 1; size >>= 1) try { for (let n = 0; ; n++) localStorage['fill' + size + '-' + n] = 'x'.repeat(size); } catch {}
        </script>`,
      });
      const page = await open(url);
      await logAll(page, [1, 2, 3]);
      await soon(() => expect(recorder.eventIDs()).toEqual([1, 2, 3]));
      expect(recorder.events()).toHaveLength(3);
    });

    test('JSON overridden, prototypes extended, storage methods patched, window.tracker frozen', async () => {
      const page = await open(
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
      await page.evaluate(() => tracker.log(2));
      await soon(() => expect(recorder.eventIDs()).toEqual([1, 2]));
      expect(recorder.events()[0]?.eventAttrArray).toEqual([{ attrID: 'a', attrValue: 'b' }]);
    });

    test('without the stub, under a CSP with a nonce, and the tag removed', async () => {
      recorder.pages['/'] = {
        html: `<!doctype html><body><script async nonce="n0nce" src="${service}/tracker.js" data-token="browser_test" onload="this.remove()"></script>`,
        headers: { 'content-security-policy': `default-src 'none'; script-src 'nonce-n0nce'; connect-src ${service}` },
      };
      const page = await open(`${site}/`);
      await page.evaluate(() => tracker.log(1));
      await soon(() => expect(recorder.eventIDs()).toEqual([1]));
      recorder.pages['/without'] = { html: 'without' };
      const without = await context.newPage();
      await without.goto(`${site}/without`);
      const names = new Set(await without.evaluate(() => Object.getOwnPropertyNames(window)));
      expect(
        (await page.evaluate(() => Object.getOwnPropertyNames(window))).filter((name) => !names.has(name)),
      ).toEqual(['tracker']);
    });

    test('the snippet pasted twice logs once', async () => {
      const twice = fillSnippet(`${service}/tracker.js`);
      const url = publish('/', {
        before: `${twice}<script>tracker.log(1)</script>`,
        after: '<script>tracker.log(2)</script>',
      });
      const page = await open(url);
      await page.evaluate(() => tracker.log(3));
      await soon(() => expect(recorder.eventIDs()).toEqual([1, 2, 3]));
      await pause(200);
      expect(recorder.events()).toHaveLength(3);
    });

    test('a page rendered ahead starts when it is shown', async () => {
      const url = publish('/', {
        before: `<script>Object.defineProperty(document, 'prerendering', { value: true, configurable: true })</script>`,
        after: '<script>tracker.log(1)</script>',
      });
      const page = await context.newPage();
      await page.goto(url);
      await pause(300);
      expect(recorder.received).toEqual([]);
      expect(await context.cookies()).toEqual([]);
      await page.evaluate(() => void document.dispatchEvent(new Event('prerenderingchange')));
      await soon(() => expect(recorder.eventIDs()).toEqual([1]));
    });
  });
});
