/** Members, several accounts, the sample shop, and refused requests, in Chromium. */
import axe from 'axe-core';
import type { Browser, Page, Route } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { launchChromium } from '../../../../tracker/test/chromium.ts';
import { press, violations } from '../../fixtures/in-page.js';
import { serveHere } from '../../fixtures/serving.ts';
import { soon } from '../../fixtures/timeouts.ts';
import { openConsole } from './open-console.ts';
import { openShop } from './shop.ts';

const password = 'stone teapots sing at dawn';

let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser?.close());

const waitForHeading = (page: Page, name: string | RegExp) =>
  page.getByRole('heading', { level: 1, name }).waitFor(soon);
const waitForText = (page: Page, text: string | RegExp) => page.getByText(text).first().waitFor(soon);

it('lets an owner invite a member, who joins and signs in by keyboard, gets another role, and is removed', async () => {
  const shop = await openShop();
  const owner = await openConsole(browser, shop);
  await owner.signIn(shop.serverToken, 'settings?tab=team');
  await waitForText(owner.page, 'You are signed in with a link or token, not as a member.');
  await owner.page.getByRole('button', { name: 'Invite a member…' }).click();
  await owner.page.getByLabel('E-mail address').fill('ben@shop.example');
  await owner.page.getByRole('radio', { name: 'editor' }).check();
  await owner.page.keyboard.press('Enter');
  const link = owner.page.locator('.new-token code');
  await link.waitFor(soon);

  const ben = await openConsole(browser, shop);
  await ben.page.goto(await link.innerText());
  await waitForHeading(ben.page, 'Join Shop');
  expect(ben.page.url()).toBe(`${shop.url}/console/join`);
  await ben.page.getByLabel('Your name').fill('Ben Lime');
  await ben.page.getByLabel('Password').fill(password);
  await ben.page.keyboard.press('Enter');
  await waitForHeading(ben.page, 'Overview');
  await ben.goto('settings?tab=team');
  await waitForText(ben.page, 'Only owners can see the team');
  await ben.page.getByRole('button', { name: 'Sign out' }).click();
  await waitForHeading(ben.page, 'Sign in to Firsthand');
  await ben.page.getByLabel('E-mail address').focus();
  await ben.page.keyboard.type('ben@shop.example');
  await ben.page.keyboard.press('Tab');
  await ben.page.keyboard.type('not this one, not this');
  await ben.page.keyboard.press('Enter');
  await expect.poll(() => ben.page.getByRole('alert').innerText()).toMatch(/wrong e-mail address or password/i);
  await ben.page.getByLabel('Password', { exact: true }).fill(password);
  await ben.page.keyboard.press('Enter');
  await waitForText(ben.page, 'Only owners can see the team');

  const row = owner.page.getByRole('row', { name: /ben@shop\.example/ });
  await owner.page.reload();
  await row.getByText('Ben Lime').waitFor(soon);
  await row.getByRole('button', { name: 'editor, role of ben@shop.example' }).click();
  await owner.page.getByRole('radio', { name: 'viewer' }).check();
  await owner.page.getByRole('button', { name: 'Change' }).click();
  await waitForText(owner.page, 'The role of ben@shop.example is now viewer.');
  await owner.page.getByRole('button', { name: 'Undo' }).click();
  await waitForText(owner.page, 'Undone.');
  expect((await shop.api.listMembers({})).member).toMatchObject([{ memberName: 'Ben Lime', memberRole: 'editor' }]);
  await owner.page.getByRole('link', { name: 'Audit log' }).click();
  await owner.page
    .getByRole('row', { name: /Member role changed Ben Lime, editor/ })
    .first()
    .waitFor(soon);
  await owner.page
    .getByRole('row', { name: /^Signed in Ben Lime/ })
    .first()
    .waitFor(soon);
  await owner.page.getByRole('link', { name: 'Tokens' }).click();
  await owner.page.getByRole('row', { name: /this session .* now / }).waitFor(soon);
  await owner.page.getByRole('row', { name: /Ben Lime read and edit/ }).waitFor(soon);
  await owner.page.getByRole('link', { name: 'Team' }).click();
  await row.getByRole('button', { name: 'Remove ben@shop.example' }).click();
  const revoking = owner.page.getByRole('checkbox', { name: /^Also revoke the tokens, share links/ });
  expect(await revoking.isChecked()).toBe(false);
  await owner.page.getByRole('button', { name: 'Remove', exact: true }).click();
  await waitForText(owner.page, 'ben@shop.example can no longer sign in.');
  // The page polls, and may already show the sign-in form.
  await ben.page.evaluate(press, 'Live');
  await waitForText(ben.page, 'Your session has ended');
  expect(owner.complaints).toEqual([]);
});

it('revokes everything that a member created if the owner requests it on removal', async () => {
  const shop = await openShop();
  const { invitationCode } = await shop.api.inviteMember({
    memberEmailaddress: 'ben@shop.example',
    memberRole: 'owner',
  });
  const ben = await openConsole(browser, shop);
  await ben.page.goto(`${shop.url}/console/join#code=${invitationCode}`);
  await waitForHeading(ben.page, 'Join Shop');
  await ben.page.getByLabel('Your name').fill('Ben Lime');
  await ben.page.getByLabel('Password').fill(password);
  await ben.page.keyboard.press('Enter');
  await waitForHeading(ben.page, 'Overview');
  await ben.goto('settings?tab=team');
  await ben.page.getByRole('button', { name: 'Invite a member…' }).click();
  await ben.page.getByLabel('E-mail address').fill('carl@shop.example');
  await ben.page.keyboard.press('Enter');
  await ben.page.locator('.new-token code').waitFor(soon);

  const owner = await openConsole(browser, shop);
  await owner.signIn(shop.serverToken, 'settings?tab=team');
  const row = owner.page.getByRole('row', { name: /ben@shop\.example/ });
  await row.getByRole('button', { name: 'Remove ben@shop.example' }).click();
  await owner.page.getByRole('checkbox', { name: /^Also revoke the tokens, share links/ }).check();
  await owner.page.getByRole('button', { name: 'Remove', exact: true }).click();
  await waitForText(owner.page, 'ben@shop.example can no longer sign in. Everything they created is revoked.');
  await owner.page
    .getByRole('row', { name: /carl@shop\.example/ })
    .getByText('invitation expired')
    .waitFor(soon);
  expect(owner.complaints).toEqual([]);
});

it('changes a member’s password in a dialog, and ends the other sessions', async () => {
  const shop = await openShop();
  const { invitationCode: code } = await shop.api.inviteMember({
    ...{ memberEmailaddress: 'ben@shop.example', memberRole: 'viewer' },
  });
  const [ben, elsewhere] = [await openConsole(browser, shop), await openConsole(browser, shop)];
  await ben.page.goto(`${shop.url}/console/join#code=${code}`);
  await ben.page.getByLabel('Your name').fill('Ben Lime');
  await ben.page.getByLabel('Password').fill(password);
  await ben.page.keyboard.press('Enter');
  await waitForHeading(ben.page, 'Overview');
  await elsewhere.goto('');
  const signIn = async (candidate: string) => {
    await elsewhere.page.getByLabel('E-mail address').fill('ben@shop.example');
    await elsewhere.page.getByLabel('Password', { exact: true }).fill(candidate);
    await elsewhere.page.keyboard.press('Enter');
  };
  await signIn(password);
  await waitForHeading(elsewhere.page, 'Overview');

  await ben.goto('settings?tab=team');
  await waitForText(ben.page, 'You sign in with ben@shop.example and your password.');
  await ben.page.getByRole('button', { name: 'Change password…' }).click();
  const dialog = ben.page.getByRole('dialog', { name: 'Change your password' });
  await dialog.getByText('Your other sessions in this account will end.').waitFor(soon);
  const inputs = dialog.locator('input');
  expect(await inputs.evaluateAll((all) => all.map((each) => each.getAttribute('autocomplete')))).toEqual([
    ...['username', 'current-password', 'new-password'],
  ]);
  expect(await inputs.first().inputValue()).toBe('ben@shop.example');
  expect(await inputs.first().isVisible()).toBe(false);
  await ben.page.evaluate(axe.source);
  expect(await ben.page.evaluate(violations)).toEqual([]);
  const current = dialog.getByLabel('Current password');
  expect(await current.evaluate((field) => field.matches(':focus'))).toBe(true);
  await ben.page.keyboard.type('not this one, not this');
  await ben.page.keyboard.press('Tab');
  await ben.page.keyboard.type('another sentence of words');
  await ben.page.keyboard.press('Enter');
  await expect.poll(() => dialog.getByRole('alert').innerText()).toBe('the current password is wrong');
  await current.fill(password);
  await ben.page.keyboard.press('Enter');
  await waitForText(ben.page, 'Password changed for this account. Your other sessions have ended.');
  expect(await dialog.count()).toBe(0);

  // The page polls, and may already show the sign-in form.
  const isPressed = await elsewhere.page.evaluate(press, 'People');
  await waitForText(elsewhere.page, 'Your session has ended');
  await signIn('another sentence of words');
  await waitForHeading(elsewhere.page, isPressed ? 'People' : 'Overview');
  await ben.page.getByRole('link', { name: 'People' }).first().click();
  await waitForHeading(ben.page, 'People');
});

it('rejects an invalid invitation, and opens a valid one in the same tab', async () => {
  const shop = await openShop();
  const { page } = await openConsole(browser, shop);
  await page.goto(`${shop.url}/console/join#code=invitation_of-nobody`);
  await waitForHeading(page, 'This invitation isn’t valid');
  expect(await page.evaluate('document.activeElement.tagName')).toBe('H1');
  expect(await page.getByRole('alert').innerText()).toMatch(/an invitation works once/);
  const { invitationCode } = await shop.api.inviteMember({
    ...{ memberEmailaddress: 'ben@shop.example', memberRole: 'viewer' },
  });
  await page.evaluate(`location.hash = 'code=${invitationCode}'`);
  await waitForHeading(page, 'Join Shop');
  await page.reload();
  await waitForText(page, 'Open the original link again');
  await page.getByRole('link', { name: 'Go to the console' }).click();
  await waitForHeading(page, 'Sign in to Firsthand');
});

it('opens the sample shop, switches between accounts, and removes the sample shop', async () => {
  const { url, consoleURL = '' } = await serveHere({}, { demo: true });
  const { page, complaints } = await openConsole(browser, { url });
  await page.goto(consoleURL);
  await waitForHeading(page, 'Overview');
  const menu = page.locator('.account-menu');
  const shown = () => menu.locator('summary span').last().innerText();
  const own = await shown();
  await page.getByRole('button', { name: 'Explore sample data' }).click();
  await waitForText(page, 'This is sample data:');
  expect(await shown()).toBe('Sample shop (demo data)');
  const address = page.url();
  expect(address).toMatch(/\/console\/\?account=sample-shop-/);
  await page.getByRole('link', { name: 'People' }).first().click();
  await waitForText(page, /@example\.(?:com|org|net)/);
  expect(page.url()).toContain('account=sample-shop-');
  await page.getByRole('link', { name: 'Set up' }).first().click();
  await waitForText(page, 'The tag for your pages is in your own account');
  await menu.locator('summary').click();
  await menu.getByRole('link', { name: own }).click();
  await expect.poll(shown).toBe(own);
  expect(await page.getByText('This is sample data:').count()).toBe(0);
  // Delays one of the page's requests until the account is gone, but the page has not noticed yet.
  const held: Route[] = [];
  await page.route('**/reportBreakdown*', (route) => void held.push(route));
  await page.route('**/sample-shop/remove', async (route) => {
    const response = await route.fetch();
    await Promise.all(held.splice(0).map((report) => report.continue().catch(() => {})));
    await page.waitForTimeout(200);
    await page.unroute('**/reportBreakdown*');
    await route.fulfill({ response });
  });
  await page.goBack();
  await waitForText(page, 'This is sample data:');
  await expect.poll(() => held.length).toBeGreaterThan(0);
  await page.getByRole('button', { name: 'Remove sample data' }).click();
  await page.getByRole('button', { name: 'Remove', exact: true }).click();
  await expect.poll(shown).toBe(own);
  await page.goto(address);
  await waitForText(page, 'This link belongs to an account that you are not signed in to.');
  await page.getByRole('link', { name: own }).click();
  await waitForHeading(page, 'Overview');
  expect(complaints).toEqual([]);
});

it('fixes and resends a refused request', async () => {
  const shop = await openShop();
  const { page, signIn, complaints } = await openConsole(browser, shop);
  await shop.api.logEvent({ userUUID: 'visitor-number-1', eventID: 'three' as unknown as number }).catch(() => {});
  await signIn(shop.serverToken, 'set-up');
  await waitForText(page, 'Refused requests: 1.');
  await page.getByRole('link', { name: 'See why' }).click();
  await waitForText(page, '1 event: the event ID must be a whole number');
  await waitForText(page, 'sent: “three”');
  await page.getByRole('button', { name: 'Resend' }).click();
  await page.locator('.notice-problem').waitFor(soon);
  await page.getByRole('button', { name: 'Fix and send…' }).click();
  expect(await page.getByRole('dialog').getByRole('textbox').count()).toBe(1);
  await page.getByLabel('The event ID').fill('3');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await waitForText(page, 'No refused requests');
  await waitForText(page, '1 fixed and stored.');
  expect((await shop.api.getEvent({ userUUID: 'visitor-number-1' })).event).toMatchObject([{ eventID: 3 }]);
  expect(complaints).toEqual([]);
});
