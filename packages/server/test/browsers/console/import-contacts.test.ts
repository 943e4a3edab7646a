/** Contact import in the console, in Chromium. */
import axe from 'axe-core';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { launchChromium } from '../../../../tracker/test/chromium.ts';
import { violations } from '../../fixtures/in-page.js';
import { soon } from '../../fixtures/timeouts.ts';
import { openConsole } from './open-console.ts';
import { openShop } from './shop.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser?.close());

const csv = `email,firstname,city,tags
dora@shop.example,Dora,London,vip
eve@shop.example,Eve,Paris,
fay@shop,Fay,Rome,
`;

it('checks a contact file, imports it, and undoes the import', async () => {
  const shop = await openShop();
  const { page, signIn, complaints } = await openConsole(browser, shop);
  await signIn(shop.serverToken, 'people');
  await page.getByRole('button', { name: 'Import' }).click();
  const dialog = page.getByRole('dialog', { name: 'Import contacts' });
  await dialog
    .getByLabel('CSV file')
    .setInputFiles({ name: 'newsletter.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) });
  await dialog.getByLabel('Import city as').selectOption('contactAttr.city');
  expect(await dialog.getByLabel('Import email as').inputValue()).toBe('contactEmailaddress');
  await page.evaluate(axe.source);
  expect(await page.evaluate(violations)).toEqual([]);

  await dialog.getByRole('button', { name: 'Check' }).click();
  await dialog.getByText('Created: 2, changed: 0, unchanged: 0, refused: 1.').waitFor(soon);
  await dialog.getByText('Line 4, email: must be an e-mail address.').waitFor(soon);
  expect((await shop.api.searchContact({})).contact).toEqual([]);

  await dialog.getByRole('button', { name: 'Import', exact: true }).click();
  await dialog.getByRole('button', { name: 'Done' }).click();
  await page.getByText('Imported newsletter.csv.').waitFor(soon);
  await page.getByText('dora@shop.example').first().waitFor(soon);
  const { contact } = await shop.api.getContact({ contactEmailaddress: 'dora@shop.example' });
  expect(contact).toMatchObject({ contactFirstname: 'Dora', contactAttr: [{ attrID: 'city', attrValue: 'London' }] });

  await page.getByRole('button', { name: 'Undo' }).click();
  await expect.poll(async () => (await shop.api.searchContact({})).contact).toEqual([]);
  expect(complaints).toEqual([]);
});

it('names two columns that are imported as the same field, before it sends anything', async () => {
  const shop = await openShop();
  const { page, signIn, complaints } = await openConsole(browser, shop);
  await signIn(shop.serverToken, 'settings?tab=import');
  await page.getByRole('button', { name: 'Import contacts…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Import contacts' });
  await dialog
    .getByLabel('CSV file')
    .setInputFiles({ name: 'newsletter.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) });
  await dialog.getByLabel('Import city as').selectOption('First name');
  const sent: string[] = [];
  page.on('request', (request) => sent.push(request.url()));
  await dialog.getByRole('button', { name: 'Check' }).click();
  await dialog.getByText('“firstname” and “city” are both imported as First name. Choose one of them.').waitFor(soon);
  expect(sent).toEqual([]);
  expect(complaints).toEqual([]);
});
