/** Tests mistakes in a page's tag: the messages that they cause in the browser's console, without `data-debug`. */
import { type Client, createClient } from '@firsthand/client';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { launchChromium } from '../../../tracker/test/chromium.ts';
import { scriptTag } from '../../src/http/script-tag.ts';
import { createAccount, serveHere } from '../fixtures/serving.ts';

interface LogResult {
  readonly eventUUID?: string;
  readonly error?: { readonly code?: string; readonly message: string; readonly field?: string };
}

declare const tracker: {
  log(event: unknown, attrs?: unknown): Promise<LogResult>;
  createContact(fields: object): Promise<unknown>;
};

describe('the browser console on a page with a mistake', () => {
  let browser: Browser;
  let url: string;
  let browserToken: string;
  let serverToken: string;
  let api: Client;
  let close: () => unknown = () => {};
  beforeAll(async () => {
    ({ url } = await serveHere({}, {}, (end) => {
      close = end;
    }));
    const account = await createAccount(url);
    browserToken = account.browserTokenUUID;
    serverToken = account.serverTokenUUID;
    api = createClient({ url, token: serverToken });
    browser = await launchChromium(
      '--disable-blink-features=AutomationControlled',
      '--disable-features=LocalNetworkAccessChecks',
      '--host-resolver-rules=MAP *.example 127.0.0.1',
    );
  });
  afterAll(async () => {
    await browser?.close();
    await close();
  });

  const site = 'http://shop.example/';
  const tagOf = (token: string, at = url) => scriptTag(at, token, { trackerPath: '/main.js' });

  /** Opens a page on the site, and collects its console messages and its requests to the service. */
  const open = async (
    head: string,
    { at = site, headers = {} }: { at?: string; headers?: Record<string, string> } = {},
  ) => {
    const context = await browser.newContext();
    onTestFinished(() => context.close());
    const page = await context.newPage();
    const texts: string[] = [];
    const sent: string[] = [];
    page.on('console', (message) => texts.push(message.text()));
    page.on('pageerror', (error) => texts.push(`page error: ${error}`));
    page.on('request', (request) => request.method() === 'POST' && sent.push(request.url()));
    await page.route(`${at}**`, (route) =>
      route.fulfill({ contentType: 'text/html', headers, body: `<!doctype html><title>Shop</title>${head}` }),
    );
    await page.goto(at);
    return { page, texts, sent, readWarnings: () => texts.filter((text) => text.startsWith('firsthand:')) };
  };

  const waitUntilReady = (page: Page) => page.waitForFunction(() => Object.hasOwn(tracker, 'push'));
  const log = (page: Page, event: unknown, attrs?: unknown): Promise<LogResult> =>
    page.evaluate(([event, attrs]) => tracker.log(event, attrs), [event, attrs]);
  const warningFor = (code: string) =>
    expect.stringMatching(new RegExp(`^firsthand: ${code}: .* ${url}/docs/errors#${code}$`));

  test.each([
    ['an unknown token', () => 'browser_that-is-wrong', 'invalid_token'],
    ['the server token', () => serverToken, 'server_token_in_browser'],
  ])('shows %s once, and resolves every promise with this error', async (_, token, code) => {
    const { page, readWarnings, sent } = await open(tagOf(token()));
    for (const event of ['One', 'Two']) expect((await log(page, event)).error?.code).toBe(code);
    const rejected = await page.evaluate(() =>
      tracker
        .createContact({ contactEmailaddress: 'ann@shop.example', contactProfileID: 'a' })
        .catch((error) => error.code),
    );
    expect(rejected).toBe(code);
    expect(readWarnings()).toEqual([warningFor(code)]);
    expect(new Set(sent)).toEqual(new Set([`${url}/update`]));
  });

  test('shows that the origin is not listed', async () => {
    const { accountOrigin } = (await api.getAccount({})).account;
    await api.updateAccount({ accountOrigin: ['https://other.example'] });
    onTestFinished(async () => {
      await api.updateAccount({ accountOrigin });
    });
    const { page, readWarnings } = await open(tagOf(browserToken));
    expect((await log(page, 'One')).error?.code).toBe('origin_not_allowed');
    expect(readWarnings()).toEqual([warningFor('origin_not_allowed')]);
  });

  test('shows that data-token is missing, without a request', async () => {
    const { readWarnings, sent } = await open(tagOf('x').replace('data-token="x"', ''));
    await expect.poll(readWarnings).toEqual([expect.stringContaining('no data-token')]);
    expect(sent).toEqual([]);
  });

  test('shows that the script’s path is wrong, and what the correct path is', async () => {
    const { readWarnings } = await open(tagOf(browserToken).replace('/main.full.js', '/main.min.js'));
    await expect
      .poll(readWarnings)
      .toEqual([expect.stringContaining('no script has this path. This server has /main.full.js')]);
  });

  test('shows that the host is wrong', async () => {
    const { texts } = await open(tagOf(browserToken, 'http://127.0.0.1:9'));
    await expect.poll(() => texts.join()).toMatch(/Failed to load resource: net::ERR/);
  });

  test.each([
    ['without a server', 'http://127.0.0.1:9/', () => site, 'Failed to fetch'],
    ['of another server', `${site}elsewhere/`, () => site, 'SyntaxError'],
    ['that does not exist on this server', '/elsewhere/', () => `${url}/shop/`, 'unknown_operation: '],
  ])('shows that data-api points to a path %s', async (_, api, at, text) => {
    const tag = tagOf(browserToken).replace('data-token', `data-api="${api}" data-token`);
    const { page, readWarnings } = await open(tag, { at: at() });
    await waitUntilReady(page);
    await expect.poll(readWarnings).toContainEqual(expect.stringContaining(text));
  });

  test('shows that a Content Security Policy blocks the script', async () => {
    const headers = { 'Content-Security-Policy': "script-src 'self'" };
    const { texts } = await open(tagOf(browserToken), { headers });
    await expect.poll(() => texts.join()).toMatch(/Content Security Policy/);
  });

  test('shows that a page over https loads the script over http', async () => {
    const at = url.replace('127.0.0.1', 'events.example');
    const { texts } = await open(tagOf(browserToken, at), { at: 'https://shop.example/' });
    await expect.poll(() => texts.join()).toMatch(/Mixed Content/);
  });

  test('warns about an event whose name is too long, and one without a name', async () => {
    const { page, readWarnings } = await open(tagOf(browserToken));
    expect((await log(page, 'x'.repeat(300))).error).toMatchObject({
      code: 'invalid_field',
      field: 'event[0].eventName',
    });
    expect(await log(page, {})).toEqual({ error: { code: 'dropped', message: 'no eventID' } });
    const thrown = await page.evaluate(() => {
      const beforeSend = () => {
        throw TypeError('of the page');
      };
      Object.assign(tracker, { beforeSend });
      return tracker.log('One');
    });
    expect(thrown).toEqual({ error: { code: 'dropped', message: 'TypeError: of the page' } });
    expect(readWarnings()).toEqual([
      warningFor('invalid_field'),
      'firsthand: no eventID',
      expect.stringMatching(/^firsthand: TypeError: of the page/),
    ]);
  });

  test('stores text and nested values as attributes, and shows which values it ignores', async () => {
    const { page, readWarnings } = await open(tagOf(browserToken));
    const results = [
      await log(page, 'Text', 'Stone teapot'),
      await log(page, 'Nested', { size: { cm: 9, note: 'x'.repeat(3_000) }, tags: ['a', 'b'] }),
      await page.evaluate(() => tracker.log('Called', { open: () => {}, price: 48 })),
    ];
    const { event } = await api.getEvent({ limit: 10 });
    const stored = results.map(({ eventUUID }) =>
      event
        .find((each) => each.eventUUID === eventUUID)
        ?.eventAttrArray.filter(({ attrID }) => !/^\$|^robot$|^dropped$/.test(attrID))
        .map(({ attrID, attrValue }) => `${attrID}: ${attrValue}`),
    );
    expect(stored).toEqual([['value: Stone teapot'], ['size.cm: 9', 'tags.0: a', 'tags.1: b'], ['price: 48']]);
    expect(readWarnings()).toEqual([
      'firsthand: ignored: event[0].eventAttrArray.size.note',
      expect.stringMatching(/^firsthand: no text/),
    ]);
  });

  test('shows a contact’s misspelled field, and a missing field', async () => {
    const { page, readWarnings } = await open(tagOf(browserToken));
    const create = (fields: object) =>
      page.evaluate((fields) => tracker.createContact(fields).catch((error) => error.message), fields);
    await create({ contactEmailaddress: 'ann@shop.example', contactProfileID: 'a', contactPhone: '1' });
    expect(await create({ contactEmail: 'ann@shop.example', contactProfileID: 'a' })).toMatch(
      /has `contactEmail`; did you mean `contactEmailaddress`\?$/,
    );
    expect(await create({ contactEmailaddress: 'ann@shop.example' })).toMatch(/`contactProfileID` is required/);
    expect(readWarnings()).toEqual([
      'firsthand: ignored: contactPhone (did you mean contactTelephone?)',
      warningFor('missing_field'),
      warningFor('missing_field'),
    ]);
  });

  test('links to each code’s explanation', async () => {
    const response = await fetch(`${url}/docs/errors`);
    expect([response.status, response.url]).toEqual([200, `${url}/docs/reference/errors`]);
    expect(await response.text()).toContain('id="server_token_in_browser"');
  });

  test('shows the code and message first, and every time, with data-debug', async () => {
    const { page, readWarnings } = await open(tagOf(browserToken).replace('data-token', 'data-debug data-token'));
    for (const _ of [1, 2]) await log(page, 'x'.repeat(300));
    expect(readWarnings()).toEqual([warningFor('invalid_field'), warningFor('invalid_field')]);
    await page.evaluate(() => tracker.createContact({}).catch(() => {}));
    expect(readWarnings().at(-1)).toMatch(/^firsthand: missing_field: /);
    expect(readWarnings().join()).not.toContain('TypeError');
  });
});
