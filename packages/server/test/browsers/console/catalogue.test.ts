/** Merging catalogue entries, with the mouse, in Chromium. */
import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { launchChromium } from '../../../../tracker/test/chromium.ts';
import { measures, violations } from '../../fixtures/in-page.js';
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
  await shop.api.updateAccount({ tag: [{ tagID: 'VIP' }] });
  await shop.api.updateContact({ contactEmailaddress: 'ben@shop.example', contactTagID: 'VIP' });
});
afterAll(async () => {
  for (const end of ends.toReversed()) await end();
  await browser?.close();
});

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const waitForText = (page: Page, text: string) => page.getByText(text).first().waitFor(soon);
const mergedTags = async () =>
  (await shop.api.getAccount({})).account.tag.flatMap(({ tagID, mergedInto }) =>
    mergedInto ? `${tagID} into ${mergedInto}` : [],
  );
const withTag = async (contactTagID: string) => (await shop.api.searchContact({ contactTagID })).contact.length;

/** Takes a screenshot to review. PICTURES is the path to a folder for the screenshots. */
const picture = async (page: Page, name: string) => {
  if (process.env.PICTURES) await page.screenshot({ path: `${process.env.PICTURES}/${name}.png`, fullPage: true });
};

for (const [device, viewport] of Object.entries({
  laptop: { width: 1440, height: 900 },
  phone: { width: 390, height: 844 },
}))
  for (const colorScheme of ['light', 'dark'] as const)
    it(`merges two tags, and separates them again: ${device}, ${colorScheme}`, async () => {
      const { page, signIn, complaints } = await openConsole(browser, shop, { viewport, colorScheme });
      await signIn(shop.serverToken, 'catalogue?tab=tag');
      await button(page, 'Merge VIP').click();
      const dialog = page.getByRole('dialog');
      await dialog.waitFor(soon);
      await waitForText(page, 'Contacts tagged “VIP” count as tagged “Best customers (vip)”.');
      await picture(page, `merging-${device}-${colorScheme}`);
      await page.evaluate(axe.source);
      expect(await page.evaluate(violations)).toEqual([]);
      await dialog.getByLabel('Keep').selectOption({ label: 'VIP' });
      await waitForText(page, 'Contacts tagged “Best customers (vip)” count as tagged “VIP”.');
      await dialog.getByLabel('Keep').selectOption({ label: 'Best customers (vip)' });
      await dialog.getByRole('button', { name: 'Merge' }).click();

      await waitForText(page, 'also VIP');
      expect(await mergedTags()).toEqual(['VIP into vip']);
      expect([await withTag('vip'), await withTag('VIP')]).toEqual([2, 2]);
      expect(await page.locator('tbody tr').count()).toBe(1);
      await picture(page, `merged-${device}-${colorScheme}`);
      await page.evaluate(axe.source);
      expect(await page.evaluate(violations)).toEqual([]);
      const { scroll, shown } = await page.evaluate(measures);
      expect(scroll).toBeLessThanOrEqual(shown);
      await button(page, 'Undo').click();
      await waitForText(page, 'Undone.');
      expect(await mergedTags()).toEqual([]);

      await button(page, 'Merge VIP').click();
      await dialog.getByRole('button', { name: 'Merge' }).click();
      await button(page, 'Separate VIP').click();
      await waitForText(page, '“VIP” is separate again.');
      expect([await withTag('vip'), await withTag('VIP')]).toEqual([1, 1]);
      expect(complaints).toEqual([]);
    });

it('shows merged entries to a viewer, without buttons to change them', async () => {
  await shop.api.mergeEntry({ catalogue: 'event', entryID: 1, otherEntryID: 2 });
  const { page, signIn } = await openConsole(browser, shop);
  await signIn(shop.viewerToken, 'catalogue');
  await waitForText(page, 'also Purchased (2)');
  const { count = 0 } = (await shop.api.getEvent({ include: 'definition', limit: 1 })).eventDefinition?.[0] ?? {};
  expect(await page.locator('tbody tr').first().textContent()).toContain(String(count));
  expect(await page.getByRole('button', { name: /^(Merge|Separate|Remove)/ }).count()).toBe(0);
  await shop.api.unmergeEntry({ catalogue: 'event', otherEntryID: 2 });
});

it('lists an event name that arrived after the console was opened', async () => {
  const { page, signIn } = await openConsole(browser, shop);
  await signIn(shop.serverToken);
  await page.locator('.measures').waitFor(soon);
  await shop.api.logEvent({ userUUID: 'visitor-number-1', eventName: 'Newsletter joined' });
  await page.getByRole('link', { name: 'Catalogue', exact: true }).click();
  await button(page, 'Rename Newsletter joined').waitFor(soon);
  expect(await page.getByText('not listed').count()).toBe(0);
  expect(await page.getByLabel('Browser tokens may use Newsletter joined').isChecked()).toBe(true);
});
