/** The Events page in Chromium: each number opens that many people, and the URL holds the state. */
import { readFileSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { launchChromium } from '../../../../tracker/test/chromium.ts';
import { soon } from '../../fixtures/timeouts.ts';
import { openConsole } from './open-console.ts';
import { fillShop, openShop, type Shop } from './shop.ts';

let browser: Browser;
let shop: Shop;
beforeAll(async () => {
  browser = await launchChromium();
  shop = await openShop(afterAll);
  await fillShop(shop);
});
afterAll(() => browser?.close());

const open = async (path: string) => {
  const { page, signIn, complaints } = await openConsole(browser, shop);
  await signIn(shop.viewerToken, path);
  return { page, complaints };
};
const parameter = (page: Page, name: string) => new URL(page.url()).searchParams.get(name);
/** Saves a CSV file, and returns its lines without the byte order mark. */
const saveFile = async (page: Page, title: string): Promise<string[]> => {
  await page.getByRole('button', { name: `${title}: save as CSV` }).click();
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Save', exact: true }).click(),
  ]);
  return readFileSync(await file.path(), 'utf8')
    .slice(1)
    .trim()
    .split('\r\n');
};
const people = (page: Page) => page.getByRole('dialog').locator('tbody tr');
const readFocusedLabel = (page: Page) => page.evaluate('document.activeElement.labels?.[0]?.textContent');

it('breaks events down, and opens the people in a row, including after a reload', async () => {
  const { page, complaints } = await open('events');
  await page.getByLabel('Break down by').selectOption('attr:path');
  const row = page.getByRole('row', { name: /^\/pricing/ });
  await row.getByRole('link', { name: /^3/ }).click();
  await expect.poll(() => people(page).count()).toBe(3);
  await page.reload();
  await expect.poll(() => people(page).count()).toBe(3);
  await page.keyboard.press('Escape');
  await expect.poll(() => new URL(page.url()).search).toBe('?by=attr%3Apath');
  expect(complaints).toEqual([]);
});

it('changes the steps of a funnel by keyboard, and opens the people who dropped off', async () => {
  const { page, complaints } = await open('events?tab=funnel&steps=1,2');
  const { step } = await shop.api.reportFunnel({
    step: [{ event: 1 }, { event: 2 }],
    from: new Date(Date.now() - 29 * 86_400_000).toISOString(),
  });
  const [looked = 0, bought = 0] = step.map(({ reached }) => reached);
  expect(bought).toBe(1);
  await page.getByRole('link', { name: new RegExp(`^${looked - bought} Step 1, Page view, dropped`) }).click();
  await expect.poll(() => people(page).count()).toBe(looked - bought);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Add a step' }).press('Enter');
  await expect.poll(() => readFocusedLabel(page)).toBe('Step 3');
  await page.getByLabel('Step 3', { exact: true }).selectOption({ label: 'Page view' });
  await page.getByRole('button', { name: 'Move step 3, Page view, up' }).press('Enter');
  await expect.poll(() => readFocusedLabel(page)).toBe('Step 2');
  await page.getByRole('button', { name: /^Remove step 1/ }).press('Enter');
  await expect.poll(() => new URL(page.url()).searchParams.get('steps')).toBe('1,2');
  expect(complaints).toEqual([]);
});

it('opens the people in a cohort, and links to a person', async () => {
  const { page, complaints } = await open('events?tab=retention&interval=month&range=12m&first=2&back=any');
  await page.getByRole('link', { name: /^1 .*first event/ }).click();
  await page
    .getByRole('dialog')
    .getByRole('link', { name: /Ann Lemon/ })
    .click();
  await page.getByRole('heading', { level: 1, name: 'Ann Lemon' }).waitFor(soon);
  await page.goBack();
  await expect.poll(() => people(page).count()).toBe(1);
  expect(complaints).toEqual([]);
});

it('shows the error of a request that the service rejects', async () => {
  const { page } = await open('events?tab=retention&interval=day&range=12m');
  await expect.poll(() => page.getByRole('alert').innerText()).toMatch(/choose a longer interval/);
  await page.goto(`${shop.url}/console/events?tab=funnel&who=${encodeURIComponent('{"reached":9}')}`);
  await expect.poll(() => page.getByRole('dialog').getByRole('alert').innerText()).toMatch(/whole number/);
});

it('shows the numbers for the earlier range, and includes them in the CSV file', async () => {
  const { page, complaints } = await open('events?compare=previous&range=7d');
  await page.getByText(/, compared with /).waitFor(soon);
  expect(await page.locator('.before').allInnerTexts()).toEqual([...Array(4).fill('0 before'), '£0.00 before']);
  const plot = page.getByRole('slider', { name: 'People by day' });
  await plot.press('End');
  expect(await plot.getAttribute('aria-valuetext')).toMatch(/ · People \d+ · Previous period \(.+\) 0$/);
  const [head, ...rows] = await saveFile(page, 'Measures');
  const heads = 'from,People,Browsers,Sessions,Events,Revenue (GBP)';
  expect(head).toBe(`${heads},${heads.replace(/(?=,|$)/g, ' (before)')}`);
  expect(rows).toHaveLength(7);
  expect(complaints).toEqual([]);
});

it('links from events without a campaign to their visit’s campaign, with readable names', async () => {
  const { page, complaints } = await open('events?event=2&by=attr:utm_campaign');
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.getByText('These events have no campaign.').waitFor(soon);
  await page.getByRole('link', { name: 'Visit campaign' }).click();
  await expect.poll(() => parameter(page, 'by')).toBe('first:utm_campaign');
  await page.goto(`${shop.url}/console/events?by=first:utm_campaign`);
  const name = page.getByRole('rowheader', { name: 'autumn' });
  await name.waitFor(soon);
  expect(await page.getByRole('columnheader').allInnerTexts()).toContain('Bounce rate');
  expect((await name.boundingBox())?.width).toBeGreaterThan(200);
  await page.getByLabel('Break down by').selectOption('attr:path');
  await page.getByText('Some people are counted in several rows.').waitFor(soon);
  expect(complaints).toEqual([]);
});

it('saves all columns of a grouped funnel, and drops the grouping when the tab changes', async () => {
  const { page, complaints } = await open('events?tab=funnel&steps=1,2&group=first:utm_campaign');
  await page.getByRole('table', { name: 'Funnel by group' }).waitFor(soon);
  const [head, ...rows] = await saveFile(page, 'Funnel');
  expect(head).toBe(
    'Visit campaign,step,event,People,Share of first step,Share of previous step,Median seconds,Dropped off',
  );
  expect(rows[0]).toMatch(/^All,1,Page view,5,1,,0?,4$/);
  expect(rows[1]).toMatch(/^All,2,Purchased,1,0\.2,0\.2,\d+,$/);
  await page.getByRole('link', { name: 'Retention' }).click();
  await page.getByRole('heading', { name: 'Who came back' }).waitFor(soon);
  expect(parameter(page, 'group')).toBeNull();
  const [first, back] = [page.getByLabel('First event'), page.getByLabel('Return event')];
  expect([await first.inputValue(), await back.inputValue()]).toEqual(['1', '1']);
  await back.selectOption('Any event');
  await expect.poll(() => parameter(page, 'back')).toBe('any');
  expect(complaints).toEqual([]);
});

it('explains what a filter by page excludes, and shows everything that the people on that page did', async () => {
  const { page, complaints } = await open('?places=hour');
  const hours = page.getByRole('region', { name: 'Places and times' }).getByRole('rowheader');
  await hours.first().scrollIntoViewIfNeeded();
  await expect.poll(() => hours.count()).toBeGreaterThan(0);
  const listed = (await hours.allInnerTexts()).map((text) => Number.parseInt(text, 10));
  expect(listed).toEqual(listed.toSorted((a, b) => a - b));
  await page.getByRole('link', { name: '/checkout', exact: true }).click();
  await page.getByText(/Only events on this page are counted/).waitFor(soon);
  const measures = page.getByRole('navigation', { name: 'Measure' });
  await expect.poll(() => measures.innerText()).not.toContain('Revenue');
  await page.getByRole('link', { name: 'Show everything that people who saw this page did' }).click();
  await expect.poll(() => measures.innerText()).toContain('£48.5');
  await page.getByRole('link', { name: 'Remove the condition' }).click();
  await page.getByRole('link', { name: 'news.example' }).click();
  await page.getByText('came from site news.example since').waitFor(soon);
  await expect.poll(() => measures.locator('strong').first().innerText()).toBe('3');
  expect(complaints).toEqual([]);
});

it('shows that it is preparing the reports while the first one is slow', async () => {
  const { page, signIn, complaints } = await openConsole(browser, shop);
  await page.clock.install();
  await page.route('**/report/reportTotals*', () => {});
  await signIn(shop.viewerToken);
  await page.locator('.measures-card [role=status]').waitFor({ state: 'attached' });
  await page.clock.fastForward(2_000);
  await page.getByText('Preparing this account’s reports…').waitFor(soon);
  expect(complaints).toEqual([]);
});
