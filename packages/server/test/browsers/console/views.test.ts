/** Saved views and share links, in Chromium. */
import { readFileSync } from 'node:fs';
import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { launchChromium } from '../../../../tracker/test/chromium.ts';
import { violations } from '../../fixtures/in-page.js';
import { soon } from '../../fixtures/patience.ts';
import { openConsole } from './opened.ts';
import { fillShop, openShop, type Shop } from './shop.ts';

const ended = 'This link is no longer valid';

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

const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { level: 1, name }).waitFor(soon);
const shows = (page: Page, text: string | RegExp) => page.getByText(text).first().waitFor(soon);
const settled = async (page: Page) => {
  await page.locator('.answered').first().waitFor(soon);
  await expect.poll(() => page.locator('[aria-busy=true], .skeleton').count()).toBe(0);
};
const openMenu = (page: Page) => page.locator('.views-menu > summary').click();

/** All numbers of the page: its measures, and the rows of its tables. */
const numbersOf = async (page: Page): Promise<string[]> => {
  await settled(page);
  // Without what is for screen readers: it says where a number leads.
  const texts: string[] = await page.evaluate(`
    [...document.querySelectorAll('.measures strong, main table tr')].map((element) => {
      const copy = element.cloneNode(true);
      for (const unseen of copy.querySelectorAll('.unseen')) unseen.remove();
      return [...copy.querySelectorAll('th, td'), ...(copy.matches('strong') ? [copy] : [])].map((cell) => cell.textContent).join(' ');
    })`);
  return texts.map((text) => text.replace(/\s+/g, ' ').trim());
};

/** Shares the page that is open; returns the link. */
const share = async (page: Page, name: string): Promise<string> => {
  await settled(page);
  await openMenu(page);
  await page.getByRole('button', { name: 'Share this view …' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill(name);
  await dialog.getByRole('button', { name: 'Create link' }).click();
  const link = await dialog.locator('code').innerText();
  await dialog.getByRole('button', { name: 'Close' }).click();
  return link;
};

it('a view is saved, opened again after a reload and by ⌘K, replaced, and deleted', async () => {
  const { page, signIn, complaints } = await openConsole(browser, shop);
  await signIn(shop.serverToken, 'events?tab=funnel&steps=1%2C2&range=7d');
  await settled(page);
  const numbers = await numbersOf(page);
  await openMenu(page);
  await page.getByRole('button', { name: 'Save this view …' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill('Who buys');
  await page.keyboard.press('Enter');
  await shows(page, 'Saved the view “Who buys”.');

  await page.goto(`${shop.url}/console/`);
  await heading(page, 'Overview');
  await openMenu(page);
  await page.getByRole('link', { name: 'Who buys', exact: true }).click();
  await heading(page, 'Events');
  expect(new URL(page.url()).search).toBe('?tab=funnel&steps=1%2C2&range=7d');
  expect(await numbersOf(page)).toEqual(numbers);

  await page.goto(`${shop.url}/console/people`);
  await heading(page, 'People');
  await page.keyboard.press('ControlOrMeta+k');
  await page.keyboard.type('who b');
  await page.getByRole('option', { name: 'Who buys' }).waitFor(soon);
  await page.keyboard.press('Enter');
  await heading(page, 'Events');

  const viewer = await openConsole(browser, shop);
  await viewer.signIn(shop.viewerToken, 'events');
  await openMenu(viewer.page);
  await viewer.page.getByRole('link', { name: 'Who buys', exact: true }).waitFor(soon);
  expect(await viewer.page.locator('.views-menu button').count()).toBe(0);

  await openMenu(page);
  await page.getByRole('button', { name: 'Delete the view Who buys' }).click();
  await shows(page, 'Deleted the view “Who buys”.');
  await page.getByRole('button', { name: 'Undo' }).click();
  await shows(page, 'Undone.');
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
    'funnel that the catalogue has chosen': 'events?tab=funnel',
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
    await heading(stranger.page, `Shop: ${name}`);
    const isOfContacts = (text: string) => /^(Best customers|Customer|None|Tags People)/.test(text);
    // A card that comes later asks later.
    await vi.waitFor(async () => {
      const numbers = await numbersOf(stranger.page);
      const expected = (await numbersOf(owner.page))
        .filter((text) => !isOfContacts(text))
        .map((text) => text.replace('/people/ann@shop.example', '/people/(hidden 1)'));
      expect(numbers.filter((text) => !/^None/.test(text))).toEqual(expected);
    }, soon);
    expect(await stranger.page.locator('main a:not(.measures a), main select, main input, .views-menu').count()).toBe(
      0,
    );
    // The data, and not the scripts.
    const answers = responses.filter((text) => text.startsWith('{')).join('\n');
    expect(answers).not.toMatch(/@shop|Ann|Lemon|visitor-number|vip|browser_|contact|"(filter|condition)/);
    expect(stranger.complaints).toEqual([]);
    expect(await stranger.page.evaluate('document.cookie')).toBe('');
  });

  it('saves what it shows as CSV, and reads nothing else for it', async () => {
    const owner = await openConsole(browser, shop);
    await owner.signIn(shop.serverToken, 'events?by=attr%3Apath&range=7d');
    const link = await share(owner.page, 'Pages of the week');
    const { page, complaints } = await openConsole(browser, shop);
    await page.goto(link);
    await numbersOf(page);
    // Without the head and the row of all.
    const shown = (await page.getByRole('region', { name: 'All events by page' }).getByRole('row').count()) - 2;
    const requests: string[] = [];
    page.on('request', (request) => requests.push(request.url()));
    await page.getByRole('button', { name: 'Breakdown: save as CSV' }).click();
    await shows(page, `The file has ${shown} rows.`);
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

  it('shows another measure in place, and is shown in dark and on a phone without overflow', async () => {
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
        await numbersOf(page);
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

  it('shows its numbers under the words it was made with, whatever is added to its address', async () => {
    const owner = await openConsole(browser, shop);
    await owner.signIn(shop.serverToken, 'events?range=7d');
    const link = await share(owner.page, 'The week');
    const { page, complaints } = await openConsole(browser, shop);
    await page.goto(link);
    await numbersOf(page);
    const words = () => page.locator('main').innerText();
    const honest = await words();
    await page.goto(
      `${link}?range=12m&from=2020-01-01&to=2020-12-31&compare=year&event=9&by=%24country&tab=funnel&who={}`,
    );
    await numbersOf(page);
    expect(await words()).toBe(honest);
    expect(complaints).toEqual([]);
  });

  it('is listed in the settings, and shows nothing once it is revoked, in open pages too', async () => {
    const owner = await openConsole(browser, shop);
    await owner.signIn(shop.serverToken, 'events?range=7d');
    const link = await share(owner.page, 'To be revoked');
    const stranger = await openConsole(browser, shop);
    await stranger.page.goto(link);
    await numbersOf(stranger.page);

    await owner.goto('settings?tab=shared');
    const row = owner.page.getByRole('row', { name: /To be revoked/ });
    await row.waitFor(soon);
    expect(await row.innerText()).toMatch(/Events[\s\S]*(this hour|1 hour ago)/);
    await row.getByRole('button', { name: 'Revoke the link to To be revoked' }).click();
    await owner.page.getByRole('button', { name: 'Revoke for good' }).click();
    await shows(owner.page, 'The link to “To be revoked” is revoked.');

    const answer = await stranger.page.reload();
    expect(answer?.status()).toBe(404);
    const text = await answer?.text();
    await heading(stranger.page, ended);
    const never = await stranger.page.goto(`${shop.url}/console/shared/share_${'x'.repeat(32)}`);
    expect(never?.status()).toBe(404);
    expect(await never?.text()).toBe(text);
  });

  it('is made by nobody who only reads', async () => {
    const viewer = await openConsole(browser, shop);
    await viewer.signIn(shop.viewerToken);
    await openMenu(viewer.page);
    expect(await viewer.page.getByRole('button', { name: 'Share this view …' }).count()).toBe(0);
    await viewer.goto('settings?tab=shared');
    await shows(viewer.page, 'Only an editor or an owner can read what is shared');
  });

  it('tells a screen reader what it shows', async () => {
    const owner = await openConsole(browser, shop);
    await owner.signIn(shop.serverToken);
    const link = await share(owner.page, 'For everybody');
    const { page } = await openConsole(browser, shop, { bypassCSP: true });
    await page.goto(link);
    await numbersOf(page);
    await page.evaluate(axe.source);
    expect(await page.evaluate(violations)).toEqual([]);
  });
});
