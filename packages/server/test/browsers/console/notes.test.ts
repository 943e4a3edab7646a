/** Notes on the plots of the console, in Chromium. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { launchChromium } from '../../../../tracker/test/chromium.ts';
import { soon } from '../../fixtures/timeouts.ts';
import { openConsole } from './open-console.ts';
import { fillShop, openShop, type Shop } from './shop.ts';

let browser: Browser;
let shop: Shop;
const ends: (() => unknown)[] = [];
beforeAll(async () => {
  browser = await launchChromium();
  shop = await openShop((end) => ends.push(end));
  await fillShop(shop);
});
afterAll(async () => {
  for (const end of ends.toReversed()) await end();
  await browser?.close();
});
beforeEach(async () => {
  for (const { noteID } of (await shop.api.listNotes({})).note) await shop.api.deleteNote({ noteID });
});

const openNotes = async (page: Page, summary: string | RegExp) => {
  const notes = page.locator('.notes');
  await notes.getByText(summary).click();
  return notes;
};

it('adds a note by keyboard, shows it on the plot, and deletes it with undo', async () => {
  const { page, signIn, complaints } = await openConsole(browser, shop);
  await signIn(shop.serverToken, '?range=7d');
  const notes = await openNotes(page, /^Notes$/);
  await notes.getByRole('button', { name: 'Add a note…' }).press('Enter');
  await page.keyboard.type('Released <b>2.4</b>');
  await page.keyboard.press('Enter');
  await notes.getByText('Released <b>2.4</b>').waitFor(soon);
  expect((await shop.api.listNotes({})).note).toMatchObject([{ noteText: 'Released <b>2.4</b>' }]);

  const plot = page.getByRole('slider', { name: 'People by day' });
  await plot.press('End');
  expect(await plot.getAttribute('aria-valuetext')).toMatch(/ · People \d+ · Released <b>2\.4<\/b>$/);
  await plot.press('ArrowLeft');
  expect(await plot.getAttribute('aria-valuetext')).not.toContain('Released');
  const { width, height } = (await plot.boundingBox()) ?? { width: 0, height: 0 };
  await plot.hover({ position: { x: width - 20, y: height / 2 } });
  expect(await page.locator('.plot-readout').innerText()).toContain('Released <b>2.4</b>');

  await notes.getByRole('button', { name: 'Delete the note Released' }).click();
  await notes.getByText('Released').waitFor({ ...soon, state: 'detached' });
  expect((await shop.api.listNotes({})).note).toEqual([]);
  await page.getByRole('button', { name: 'Undo' }).click();
  await notes.getByText('Released').waitFor(soon);
  expect(complaints).toEqual([]);
});

it('marks notes on plots of a breakdown over time, and lets viewers only read them', async () => {
  await shop.api.createNote({ noteText: 'Mailed', noteTime: Date.now() });
  await shop.api.createNote({ noteText: 'Next week', noteTime: Date.now() + 7 * 86_400_000 });
  const { page, signIn, complaints } = await openConsole(browser, shop);
  await signIn(shop.viewerToken, 'events?over=time');
  const plot = page.getByRole('slider', { name: /^People of the top/ });
  await plot.press('End');
  await expect.poll(() => plot.getAttribute('aria-valuetext')).toMatch(/ · Mailed$/);
  const lists = page.locator('.notes');
  expect(await lists.locator('summary').allInnerTexts()).toEqual(['Notes · 2', 'Notes · 2']);
  await lists.last().locator('summary').click();
  await lists.last().getByText('Mailed').waitFor(soon);
  expect(await lists.locator('button').count()).toBe(0);
  expect(complaints).toEqual([]);
});

it('shows no notes to a viewer without notes, and none on the page of a share link', async () => {
  const viewer = await openConsole(browser, shop);
  await viewer.signIn(shop.viewerToken, '');
  await viewer.page.getByRole('slider').waitFor(soon);
  expect(await viewer.page.locator('.notes').count()).toBe(0);

  await shop.api.createNote({ noteText: 'Internal', noteTime: Date.now() });
  const { shareSecret } = await shop.api.createShareLink({
    shareName: 'People',
    viewPage: 'overview',
    moving: 'day',
    report: [{ part: 'totals', operation: 'reportTotals', request: { from: '2026-01-01', interval: 'month' } }],
  });
  const { page, complaints } = await openConsole(browser, shop);
  const requests: string[] = [];
  page.on('request', (request) => requests.push(request.url()));
  await page.goto(`${shop.url}/console/shared/${shareSecret}`);
  await page.getByRole('slider').waitFor(soon);
  expect(await page.locator('.notes').count()).toBe(0);
  expect(requests.filter((url) => url.includes('Notes'))).toEqual([]);
  expect([...complaints, ...viewer.complaints]).toEqual([]);
});
