import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, createClient } from '@firsthand/client';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { launchChromium } from '../../../tracker/test/chromium.ts';
import { readConfig } from '../../src/config/config.ts';
import { type Serving, serve } from '../../src/serving/serve.ts';

describe('the demo page in Chromium', () => {
  let folder: string;
  let serving: Serving;
  let api: Client;
  let browser: Browser;
  let context: BrowserContext;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'firsthand-browser-'));
    const env = { DATABASE_URL: `sqlite:${join(folder, 'firsthand.db')}`, PORT: '0', LOG_LEVEL: 'error' };
    serving = await serve(readConfig(env), { demo: true });
    api = createClient({ url: serving.url, token: serving.demo?.serverToken as string });
    // Makes navigator.webdriver false, as it is for visitors, because the tracker marks bots.
    browser = await launchChromium('--disable-blink-features=AutomationControlled');
  });
  afterAll(async () => {
    await browser?.close();
    await serving?.close();
    rmSync(folder, { recursive: true });
  });
  beforeEach(async () => {
    // A headless browser's default user agent would be marked as a bot.
    const userAgent =
      'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';
    context = await browser.newContext({ userAgent });
  });
  afterEach(() => context.close());

  const openShop = async (): Promise<Page> => {
    const page = await context.newPage();
    page.on('pageerror', (error) => expect.unreachable(String(error)));
    await page.goto(`${serving.url}/demo/`);
    return page;
  };

  const cookieOf = async () => (await context.cookies()).find(({ name }) => name === 'userUUID');

  /** Waits for the cookie, because the script is loaded asynchronously. */
  const userOf = async (): Promise<string> => {
    await expect.poll(async () => (await cookieOf())?.value).toBeTruthy();
    return (await cookieOf())?.value as string;
  };

  /** Waits until a user has `count` events; returns them, oldest first. */
  const eventsOf = async (userUUID: string, count: number) => {
    await expect.poll(async () => (await api.getEvent({ userUUID })).event.length).toBe(count);
    return (await api.getEvent({ userUUID, order: 'asc' })).event;
  };

  test('turns anonymous clicks into a contact’s history', async () => {
    const page = await openShop();
    await page.getByRole('button', { name: 'Look closer: Stone teapot' }).click();
    await page.getByRole('button', { name: 'Add to basket: Stone teapot' }).click();
    const userUUID = await userOf();
    const anonymous = await eventsOf(userUUID, 3);
    expect(anonymous.map(({ eventID, contactUUID }) => [eventID, contactUUID])).toEqual([
      [1, ''],
      [2, ''],
      [3, ''],
    ]);
    expect(anonymous[1]?.eventAttrArray).toEqual([
      { attrID: 'product', attrValue: 'Stone teapot' },
      { attrID: 'price', attrValue: '£48.00' },
      { attrID: '$browser', attrValue: 'Chrome' },
      { attrID: '$os', attrValue: 'Linux' },
      { attrID: '$device', attrValue: 'desktop' },
    ]);
    await expect.poll(() => page.locator('#events .row').count()).toBe(3);
    expect(await page.locator('#labels').textContent()).toBe('Chrome · Linux · desktop');
    expect(await page.locator('#events .row.owned').count()).toBe(0);

    await page.getByLabel('First name').fill('Ann');
    await page.getByLabel('E-mail address').fill('Ann@Shop.example');
    await page.getByRole('button', { name: 'Join' }).click();

    const owned = await eventsOf(userUUID, 4);
    const { contact } = await api.searchContact({ contactEmailaddress: 'ann@shop.example' });
    expect(contact).toHaveLength(1);
    expect(contact[0]).toMatchObject({ contactFirstname: 'Ann', contactEmailaddress: 'ann@shop.example' });
    const contactUUID = contact[0]?.contactUUID as string;
    expect(owned.map((event) => event.contactUUID)).toEqual([contactUUID, contactUUID, contactUUID, contactUUID]);
    const { event: history } = await api.getEvent({ contactUUID });
    expect(history.map(({ eventID }) => eventID)).toEqual([4, 3, 2, 1]);
    await expect.poll(() => page.locator('#events .row.owned').count()).toBe(4);
  });

  test('keeps its userUUID after a reload, for 400 days', async () => {
    const page = await openShop();
    const before = await userOf();
    await page.reload();
    const cookie = await cookieOf();
    expect(cookie).toMatchObject({ value: before, path: '/', sameSite: 'Lax' });
    const days = ((cookie?.expires ?? 0) - Date.now() / 1000) / 86_400;
    expect(Math.round(days)).toBe(400);
    await eventsOf(before, 2);
  });

  test('loses no events when the page is closed right after tracker.log, 20 times', async () => {
    const page = await openShop();
    const userUUID = await userOf();
    await eventsOf(userUUID, 1);
    await page.close();
    for (let nth = 0; nth < 20; nth += 1) {
      const closing = await context.newPage();
      await closing.goto(`${serving.url}/demo/`);
      await closing.evaluate((number) => {
        // biome-ignore lint/suspicious/noExplicitAny: the page's global
        (globalThis as any).tracker.log(2, { nth: number });
      }, nth);
      await closing.close();
    }
    // Each visit also logs a page view.
    const events = await eventsOf(userUUID, 1 + 20 * 2);
    const nths = events.flatMap(({ eventID, eventAttrArray }) => (eventID === 2 ? [eventAttrArray[0]?.attrValue] : []));
    expect(nths.sort()).toEqual(Array.from({ length: 20 }, (_, nth) => String(nth)).sort());
  });

  test('assigns a new userUUID after logging out', async () => {
    const page = await openShop();
    const before = await userOf();
    await page.getByRole('button', { name: 'Log out' }).click();
    await expect.poll(userOf).not.toBe(before);
    await eventsOf(before, 1);
    await eventsOf(await userOf(), 1);
  });
});
