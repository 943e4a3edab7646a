/** Passkeys in Chromium, with an authenticator of the DevTools protocol in place of a fingerprint. */
import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { launchChromium } from '../../fixtures/chromium.ts';
import { violations } from '../../fixtures/in-page.js';
import { openConsole } from './opened.ts';
import { openShop } from './shop.ts';

/** On a busy machine, too. */
const soon = { timeout: 60_000 };

let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser?.close());

/** A shop at a host with a name, which passkeys need. */
const openNamedShop = async () => {
  const shop = await openShop();
  return { ...shop, url: shop.url.replace('127.0.0.1', 'localhost') };
};

/** Gives a page an authenticator: that of a laptop, or a key to plug in. Returns how many passkeys it has, and whom it verifies. */
const addAuthenticator = async (page: Page, transport: 'internal' | 'usb' = 'internal') => {
  const devTools = await page.context().newCDPSession(page);
  await devTools.send('WebAuthn.enable');
  const { authenticatorId } = await devTools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      ...{ protocol: 'ctap2', transport, hasResidentKey: true },
      ...{ hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true },
    },
  });
  return {
    count: async () => (await devTools.send('WebAuthn.getCredentials', { authenticatorId })).credentials.length,
    verifies: (isUserVerified: boolean) =>
      devTools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified }),
  };
};

const shows = (page: Page, text: string | RegExp) => page.getByText(text).first().waitFor(soon);
const isAccessible = async (page: Page) => {
  await page.evaluate(axe.source);
  expect(await page.evaluate(violations)).toEqual([]);
};
const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name }).waitFor(soon);
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();

it('a person joins with a passkey, signs in with it, adds another one, and removes the first', async () => {
  const shop = await openNamedShop();
  const { invitationCode } = await shop.api.inviteMember({
    ...{ memberEmailaddress: 'ben@shop.example', memberRole: 'owner' },
  });
  const { page, goto, complaints } = await openConsole(browser, shop);
  const authenticator = await addAuthenticator(page);
  await page.goto(`${shop.url}/console/join#code=${invitationCode}`);
  await heading(page, 'Join Shop');
  await page.getByLabel('Your name').fill('Ben Lime');
  await isAccessible(page);
  await press(page, 'Join with a passkey instead');
  await heading(page, 'Overview');
  expect(await authenticator.count()).toBe(1);

  await press(page, 'Sign out');
  await heading(page, 'Sign in to Firsthand');
  await isAccessible(page);
  await press(page, 'Sign in with a passkey');
  await heading(page, 'Overview');

  await goto('settings?tab=people');
  await shows(page, 'Your passkeys · 1');
  const first = page.getByRole('row', { name: /^Passkey/ });
  await expect.poll(() => first.innerText(), soon).not.toContain('never');
  await first.getByRole('button', { name: /^Remove the passkey/ }).click();
  await isAccessible(page);
  await press(page, 'Remove');
  await shows(page, 'is your only way to sign in');
  await press(page, 'Close');

  // This device has one already: another one takes the second.
  await press(page, 'Add a passkey …');
  await page.getByLabel('Name').fill('Phone');
  await isAccessible(page);
  await press(page, 'Add');
  await shows(page, 'This device has a passkey of yours already.');
  await addAuthenticator(page, 'usb');
  await press(page, 'Add');
  await shows(page, 'Your passkeys · 2');
  await page.getByRole('row', { name: /Phone/ }).waitFor(soon);
  await first.getByRole('button', { name: /^Remove the passkey/ }).click();
  await press(page, 'Remove');
  await shows(page, 'Your passkeys · 1');
  expect(await first.count()).toBe(0);
  await page.getByRole('link', { name: 'Audit log' }).click();
  await page
    .getByRole('row', { name: /Passkey removed Ben Lime/ })
    .first()
    .waitFor(soon);
  // The refusal to remove the last one, which a browser writes to its console.
  expect(complaints).toEqual([expect.stringContaining('status of 400')]);
});

it('says why nobody was signed in: the person was not verified, or the passkey was removed', async () => {
  const shop = await openNamedShop();
  const { invitationCode, memberID } = await shop.api.inviteMember({
    ...{ memberEmailaddress: 'ben@shop.example', memberRole: 'viewer' },
  });
  const { page } = await openConsole(browser, shop);
  const authenticator = await addAuthenticator(page);
  await page.goto(`${shop.url}/console/join#code=${invitationCode}`);
  await page.getByLabel('Your name').fill('Ben Lime');
  await press(page, 'Join with a passkey instead');
  await heading(page, 'Overview');
  await press(page, 'Sign out');
  await authenticator.verifies(false);
  await press(page, 'Sign in with a passkey');
  await expect.poll(() => page.getByRole('alert').innerText(), soon).toMatch(/^No passkey was used: it was cancelled/);
  await authenticator.verifies(true);
  await shop.api.removeMember({ memberID });
  await press(page, 'Sign in with a passkey');
  await expect.poll(() => page.getByRole('alert').innerText(), soon).toMatch(/The passkey does not sign in here/);
});

it('offers no passkey at an IP address, nor to a browser that does not read its options', async () => {
  const shop = await openShop();
  const { page, goto } = await openConsole(browser, shop);
  await goto('');
  await heading(page, 'Sign in to Firsthand');
  expect(await page.getByRole('button', { name: /passkey/ }).count()).toBe(0);
  const named = { ...shop, url: shop.url.replace('127.0.0.1', 'localhost') };
  const older = await openConsole(browser, named);
  await older.page.addInitScript('delete PublicKeyCredential.parseRequestOptionsFromJSON');
  await older.goto('');
  await heading(older.page, 'Sign in to Firsthand');
  expect(await older.page.getByRole('button', { name: /passkey/ }).count()).toBe(0);
});
