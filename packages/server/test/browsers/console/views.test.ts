/** Saved views and share links, in Chromium. */
import { readFileSync } from 'node:fs';
import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { launchChromium } from '../../../../tracker/test/chromium.ts';
import { violations } from '../../fixtures/in-page.js';
import { soon } from '../../fixtures/timeouts.ts';
import { openConsole } from './open-console.ts';
import { fillShop, openShop, type Shop } from './shop.ts';

const invalidLinkTitle = 'This link is no longer valid';

let browser: Browser;
let shop: Shop;
const ends: (() => unknown)[] = [];
beforeAll(async () => {
  browser = await launchChromium();
  shop = await openShop((end) => ends.push(end));
  await fillShop(shop);
  await shop.api.logEvent({
    userUUID: 'visitor-number-1',
    eventID: 1,
    eventAttrArray: [{ attrID: 'path', attrValue: '/people/ann@shop.example' }],
  });
});
afterAll(async () => {
  for (const end of ends.toReversed()) await end();
  await browser?.close();
});

const waitForHeading = (page: Page, name: string | RegExp) =>
  page.getByRole('heading', { level: 1, name }).waitFor(soon);
const waitForText = (page: Page, text: string | RegExp) => page.getByText(text).first().waitFor(soon);
const waitUntilLoaded = async (page: Page) => {
  await page.locator('.response').first().waitFor(soon);
  await expect.poll(() => page.locator('[aria-busy=true], .skeleton').count()).toBe(0);
};
const openMenu = (page: Page) => page.locator('.views-menu > summary').click();

/** Returns all numbers on the page: its measures and table rows. */
const readNumbers = async (page: Page): Promise<string[]> => {
  await waitUntilLoaded(page);
  // Omits screen-reader text, which describes links.
  const texts: string[] = await page.evaluate(`
    [...document.querySelectorAll('.measures strong, main table tr')].map((element) => {
      const copy = element.cloneNode(true);
      for (const unseen of copy.querySelectorAll('.unseen')) unseen.remove();
      return [...copy.querySelectorAll('th, td'), ...(copy.matches('strong') ? [copy] : [])].map((cell) => cell.textContent).join(' ');
    })`);
  return texts.map((text) => text.replace(/\s+/g, ' ').trim());
};

/** Shares the current page, and returns the link. */
const share = async (page: Page, name: string): Promise<string> => {
  await waitUntilLoaded(page);
  await openMenu(page);
  await page.getByRole('button', { name: 'Share this view…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill(name);
  await dialog.getByRole('button', { name: 'Create link' }).click();
  const link = await dialog.locator('code').innerText();
  await dialog.getByRole('button', { name: 'Close' }).click();
  return link;
};

it('saves a view, opens it from the menu and by ⌘K, and deletes it with undo', async () => {
  const { page, signIn, complaints } = await openConsole(browser, shop);
  await signIn(shop.serverToken, 'events?tab=funnel&steps=1%2C2&range=7d');
  await waitUntilLoaded(page);
  const numbers = await readNumbers(page);
  await openMenu(page);
  await page.getByRole('button', { name: 'Save this view…' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill('Who buys');
  await page.keyboard.press('Enter');
  await waitForText(page, 'Saved the view “Who buys”.');

  await page.goto(`${shop.url}/console/`);
  await waitForHeading(page, 'Overview');
  await openMenu(page);
  await page.getByRole('link', { name: 'Who buys', exact: true }).click();
  await waitForHeading(page, 'Events');
  expect(new URL(page.url()).search).toBe('?tab=funnel&steps=1%2C2&range=7d');
  expect(await readNumbers(page)).toEqual(numbers);

  await page.goto(`${shop.url}/console/people`);
  await waitForHeading(page, 'People');
  await page.keyboard.press('ControlOrMeta+k');
  await page.keyboard.type('who b');
  await page.getByRole('option', { name: 'Who buys' }).waitFor(soon);
  await page.keyboard.press('Enter');
  await waitForHeading(page, 'Events');

  const viewer = await openConsole(browser, shop);
  await viewer.signIn(shop.viewerToken, 'events');
  await openMenu(viewer.page);
  await viewer.page.getByRole('link', { name: 'Who buys', exact: true }).waitFor(soon);
  expect(await viewer.page.locator('.views-menu button').count()).toBe(0);

  await openMenu(page);
  await page.getByRole('button', { name: 'Delete the view Who buys' }).click();
  await waitForText(page, 'Deleted the view “Who buys”.');
  await page.getByRole('button', { name: 'Undo' }).click();
  await waitForText(page, 'Undone.');
  expect((await shop.api.listViews({})).view).toMatchObject([{ viewName: 'Who buys' }]);
  await shop.api.deleteView({ viewName: 'Who buys' });
  expect([...complaints, ...viewer.complaints]).toEqual([]);
});

describe('a share link', () => {
  const views = {
    overview: '?range=7d&compare=previous&pages=entry',
    'overview with a filter': `?filter=${encodeURIComponent('[{"contact":{"contactTagID":"vip"}}]')}`,
    'overview of two days': '?from=2026-01-01&to=2026-12-31',
    explorer: 'events?event=1&by=attr%3Apath&measure=events',
    'default funnel from the catalogue': 'events?tab=funnel',
    retention: 'events?tab=retention&interval=day&range=7d&first=1',
  };

  it.each(Object.entries(views))('shows the same numbers as the page: %s', async (name, path) => {
    const owner = await openConsole(browser, shop);
    await owner.signIn(shop.serverToken, path);
    const link = await share(owner.page, `Shop: ${name}`);
    const stranger = await openConsole(browser, shop);
    const responses: string[] = [];
    stranger.page.on('response', async (response) => {
      responses.push(await response.text().catch(() => ''));
    });
    await stranger.page.goto(link);
    await waitForHeading(stranger.page, `Shop: ${name}`);
    const isOfContacts = (text: string) => /^(Best customers|Customer|None|Tags People)/.test(text);
    // Retries, because cards that are rendered later load later.
    await vi.waitFor(async () => {
      const numbers = await readNumbers(stranger.page);
      const expected = (await readNumbers(owner.page))
        .filter((text) => !isOfContacts(text))
        .map((text) => text.replace('/people/ann@shop.example', '/people/(hidden 1)'));
      expect(numbers.filter((text) => !/^None/.test(text))).toEqual(expected);
    }, soon);
    expect(await stranger.page.locator('main a:not(.measures a), main select, main input, .views-menu').count()).toBe(
      0,
    );
    // Compares only responses with data, not scripts.
    const bodies = responses.filter((text) => text.startsWith('{')).join('\n');
    expect(bodies).not.toMatch(/@shop|Ann|Lemon|visitor-number|vip|browser_|contact|"(filter|condition)/);
    expect(stranger.complaints).toEqual([]);
    expect(await stranger.page.evaluate('document.cookie')).toBe('');
  });

  it('saves what it shows as CSV without another request', async () => {
    const owner = await openConsole(browser, shop);
    await owner.signIn(shop.serverToken, 'events?by=attr%3Apath&range=7d');
    const link = await share(owner.page, 'Pages of the week');
    const { page, complaints } = await openConsole(browser, shop);
    await page.goto(link);
    await readNumbers(page);
    // Leaves out the header and the “All” row.
    const shown = (await page.getByRole('region', { name: 'All events by page' }).getByRole('row').count()) - 2;
    const requests: string[] = [];
    page.on('request', (request) => requests.push(request.url()));
    await page.getByRole('button', { name: 'Breakdown: save as CSV' }).click();
    await waitForText(page, `The file has ${shown} rows.`);
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save', exact: true }).click(),
    ]);
    const [head, ...rows] = readFileSync(await file.path(), 'utf8')
      .trim()
      .split('\r\n');
    expect(head).toBe('Page,People,Browsers,Sessions,Events,Revenue (GBP)');
    expect(rows).toContain('/pricing,3,3,3,3,');
    expect(rows).toHaveLength(shown);
    expect(rows.join('\n')).not.toContain('ann@');
    expect(requests.filter((url) => !url.startsWith('blob:'))).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it('shows another measure in place, and fits the window in dark mode and on a phone', async () => {
    const owner = await openConsole(browser, shop);
    await owner.signIn(shop.serverToken);
    const link = await share(
      owner.page,
      'A name that is as long as some names are: teapots, cups and saucers of autumn',
    );
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const width of [390, 1440]) {
        const { page, complaints } = await openConsole(browser, shop, {
          colorScheme,
          viewport: { width, height: 900 },
        });
        await page.goto(link);
        await readNumbers(page);
        await page.getByRole('navigation', { name: 'Measure' }).getByRole('link', { name: 'Browsers' }).click();
        await expect.poll(() => page.locator('.measures [aria-current]').innerText()).toMatch(/Browsers/);
        expect(page.url()).toBe(link);
        expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
        if (process.env.PICTURES) {
          await page.screenshot({ path: `${process.env.PICTURES}/shared-${width}-${colorScheme}.png`, fullPage: true });
        }
        expect(complaints).toEqual([]);
      }
    }
  });

  it('ignores parameters that are added to its URL', async () => {
    const owner = await openConsole(browser, shop);
    await owner.signIn(shop.serverToken, 'events?range=7d');
    const link = await share(owner.page, 'The week');
    const { page, complaints } = await openConsole(browser, shop);
    await page.goto(link);
    await readNumbers(page);
    const words = () => page.locator('main').innerText();
    const honest = await words();
    await page.goto(
      `${link}?range=12m&from=2020-01-01&to=2020-12-31&compare=year&event=9&by=%24country&tab=funnel&who={}`,
    );
    await readNumbers(page);
    expect(await words()).toBe(honest);
    expect(complaints).toEqual([]);
  });

  it('is listed in the settings, and shows nothing once it is revoked, even on open pages', async () => {
    const owner = await openConsole(browser, shop);
    await owner.signIn(shop.serverToken, 'events?range=7d');
    const link = await share(owner.page, 'To be revoked');
    const stranger = await openConsole(browser, shop);
    await stranger.page.goto(link);
    await readNumbers(stranger.page);

    await owner.goto('settings?tab=shared');
    const row = owner.page.getByRole('row', { name: /To be revoked/ });
    await row.waitFor(soon);
    expect(await row.innerText()).toMatch(/Events[\s\S]*(this hour|1 hour ago)/);
    await row.getByRole('button', { name: 'Revoke the link to To be revoked' }).click();
    await owner.page.getByRole('button', { name: 'Revoke link' }).click();
    await waitForText(owner.page, 'Revoked the link to “To be revoked”.');

    const reloaded = await stranger.page.reload();
    expect(reloaded?.status()).toBe(404);
    const text = await reloaded?.text();
    await waitForHeading(stranger.page, invalidLinkTitle);
    const never = await stranger.page.goto(`${shop.url}/console/shared/share_${'x'.repeat(32)}`);
    expect(never?.status()).toBe(404);
    expect(await never?.text()).toBe(text);
  });

  it('cannot be created by a viewer', async () => {
    const viewer = await openConsole(browser, shop);
    await viewer.signIn(shop.viewerToken);
    await openMenu(viewer.page);
    expect(await viewer.page.getByRole('button', { name: 'Share this view…' }).count()).toBe(0);
    await viewer.goto('settings?tab=shared');
    await waitForText(viewer.page, 'Only editors and owners can see share links');
  });

  it('is accessible to screen readers', async () => {
    const owner = await openConsole(browser, shop);
    await owner.signIn(shop.serverToken);
    const link = await share(owner.page, 'For everybody');
    const { page } = await openConsole(browser, shop, { bypassCSP: true });
    await page.goto(link);
    await readNumbers(page);
    await page.evaluate(axe.source);
    expect(await page.evaluate(violations)).toEqual([]);
  });
});
