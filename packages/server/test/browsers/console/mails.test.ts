/** Tests creating a digest and an alert from a page in Chromium, and managing them in Settings, Mails. */
import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { launchChromium } from '../../../../tracker/test/chromium.ts';
import { violations } from '../../fixtures/in-page.js';
import { soon } from '../../fixtures/timeouts.ts';
import { openConsole } from './open-console.ts';
import { fillShop, openShop, type Shop } from './shop.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser?.close());

/** Nothing listens on the mail server's port. */
const mailSettings = {
  SMTP_URL: 'smtp://127.0.0.1:9',
  MAIL_FROM: 'reports@shop.example',
  CONSOLE_ORIGIN: 'https://console.shop.example',
};

const waitForText = (page: Page, text: string | RegExp) => page.getByText(text).first().waitFor(soon);
const click = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click(soon);

/** Opens the console as a new member. */
const joinAs = async (shop: Shop, memberName: string, memberRole: 'owner' | 'viewer') => {
  const memberEmailaddress = `${memberName.toLowerCase()}@shop.example`;
  const { invitationCode } = await shop.api.inviteMember({ memberEmailaddress, memberRole });
  const opened = await openConsole(browser, shop);
  const { page } = opened;
  await page.goto(`${shop.url}/console/join#code=${invitationCode}`);
  await page.getByLabel('Your name').fill(memberName);
  await page.getByLabel('Password').fill('three teapots and a kettle');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Overview' }).waitFor(soon);
  return opened;
};

const openDialog = async (page: Page) => {
  await page.locator('.views-menu summary').click(soon);
  await click(page, 'Mail this view…');
  const dialog = page.getByRole('dialog', { name: 'Mail this view' });
  await dialog.waitFor(soon);
  return dialog;
};

it('creates a digest and an alert from a page, and pauses, shares and removes them', async () => {
  const shop = await openShop(onTestFinished, mailSettings);
  await fillShop(shop);
  const cleo = await joinAs(shop, 'Cleo', 'viewer');
  const { page, goto, complaints } = await joinAs(shop, 'Ben', 'owner');
  await page.locator('.measures-card').waitFor(soon);
  const digest = await openDialog(page);
  await digest.getByLabel('Name', { exact: true }).fill('Teapots this week');
  await digest.getByLabel('Ben').check();
  await digest.getByLabel('Day', { exact: true }).selectOption('Friday');
  await digest.getByText('It shows: Measures').waitFor(soon);
  await page.evaluate(axe.source);
  expect(await page.evaluate(violations)).toEqual([]);
  await click(page, 'Create');
  await waitForText(page, 'Created “Teapots this week”.');

  const alert = await openDialog(page);
  await alert.getByLabel('Name', { exact: true }).fill('The shop is silent');
  await alert.getByLabel('When there are no events for some hours').check();
  await alert.getByLabel('Hours without events').fill('3');
  await click(page, 'Create');
  await waitForText(page, 'Created “The shop is silent”.');

  await goto('settings?tab=mails');
  await waitForText(page, /Every Friday at 8:00: Measures.* Sent to you \(after confirming the address\)\./);
  await waitForText(page, 'When there are no events for 3 hours. No recipients.');
  await page.evaluate(axe.source);
  expect(await page.evaluate(violations)).toEqual([]);
  const { mail, notification } = await shop.api.listNotifications({});
  expect(mail).toBe(true);
  expect(notification).toMatchObject([
    {
      kind: 'digest',
      every: 'week',
      weekday: 5,
      hour: 8,
      viewPage: 'overview',
      title: expect.arrayContaining(['Measures']),
    },
    { kind: 'silence', hours: 3, title: ['Measures'], recipient: [] },
  ]);

  await click(page, 'Unsubscribe from Teapots this week');
  await waitForText(page, 'You no longer receive Teapots this week.');
  await cleo.goto('settings?tab=mails');
  await click(cleo.page, 'Subscribe to Teapots this week');
  await waitForText(cleo.page, 'You receive Teapots this week.');
  expect(await cleo.page.getByRole('button', { name: 'Pause Teapots this week' }).count()).toBe(0);
  await goto('settings?tab=mails');
  await waitForText(page, /Sent to Cleo \(after confirming the address\)\./);

  await click(page, 'Pause The shop is silent');
  await waitForText(page, 'Paused The shop is silent.');
  await click(page, 'Remove The shop is silent');
  await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click();
  await waitForText(page, 'Removed The shop is silent.');
  await expect.poll(async () => (await shop.api.listNotifications({})).notification).toHaveLength(1);
  expect([...complaints, ...cleo.complaints]).toEqual([]);
});

it('explains how to let the server send mails', async () => {
  const shop = await openShop(onTestFinished);
  await fillShop(shop);
  const { page, signIn, complaints } = await openConsole(browser, shop);
  await signIn(shop.serverToken);
  await page.locator('.measures-card').waitFor(soon);
  const dialog = await openDialog(page);
  await dialog.getByText('Its operator sets SMTP_URL, MAIL_FROM and CONSOLE_ORIGIN').waitFor(soon);
  expect(await dialog.getByRole('button', { name: 'Create' }).isDisabled()).toBe(true);
  expect(complaints).toEqual([]);
});
