/** The page of events in Chromium: each number opens as many people as it says, and the address holds what is seen. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { launchChromium } from '../../../../tracker/test/chromium.ts';
import { soon } from '../../fixtures/patience.ts';
import { openConsole } from './opened.ts';
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
const people = (page: Page) => page.getByRole('dialog').locator('tbody tr');
const focused = (page: Page) => page.evaluate('document.activeElement.labels?.[0]?.textContent');

it('breaks the events down, and opens the people of a row, also after a reload', async () => {
  const { page, complaints } = await open('events');
  await page.getByLabel('Broken down by').selectOption('attr:path');
  const row = page.getByRole('row', { name: /^\/pricing/ });
  await row.getByRole('link', { name: /^3/ }).click();
  await expect.poll(() => people(page).count()).toBe(3);
  await page.reload();
  await expect.poll(() => people(page).count()).toBe(3);
  await page.keyboard.press('Escape');
  await expect.poll(() => new URL(page.url()).search).toBe('?by=attr%3Apath');
  expect(complaints).toEqual([]);
});

it('changes the steps of a funnel by keyboard, and opens who dropped', async () => {
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
  await expect.poll(() => focused(page)).toBe('Step 3');
  await page.getByLabel('Step 3', { exact: true }).selectOption({ label: 'Page view' });
  await page.getByRole('button', { name: 'Move step 3, Page view, up' }).press('Enter');
  await expect.poll(() => focused(page)).toBe('Step 2');
  await page.getByRole('button', { name: /^Remove step 1/ }).press('Enter');
  await expect.poll(() => new URL(page.url()).searchParams.get('steps')).toBe('1,2');
  expect(complaints).toEqual([]);
});

it('opens the people of a cohort, and leads to the person', async () => {
  const { page, complaints } = await open('events?tab=retention&interval=month&range=12m&first=2');
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

it('shows what the service says of a request that it refuses', async () => {
  const { page } = await open('events?tab=retention&interval=day&range=12m');
  await expect.poll(() => page.getByRole('alert').innerText()).toMatch(/choose a longer interval/);
  await page.goto(`${shop.url}/console/events?tab=funnel&who=${encodeURIComponent('{"reached":9}')}`);
  await expect.poll(() => page.getByRole('dialog').getByRole('alert').innerText()).toMatch(/whole number/);
});
