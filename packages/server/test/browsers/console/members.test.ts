/** People with names, several accounts, and the sample shop, in Chromium. */
import axe from 'axe-core';
import type { Browser, Page, Route } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { launchChromium } from '../../../../tracker/test/chromium.ts';
import { violations } from '../../fixtures/in-page.js';
import { soon } from '../../fixtures/patience.ts';
import { serveHere } from '../../fixtures/serving.ts';
import { openConsole } from './opened.ts';
import { openShop } from './shop.ts';

const password = 'stone teapots sing at dawn';

let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser?.close());

const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { level: 1, name }).waitFor(soon);
const shows = (page: Page, text: string | RegExp) => page.getByText(text).first().waitFor(soon);

it('an owner invites a person, who joins and signs in by keys alone, gets another role, and is removed', async () => {
  const shop = await openShop();
  const owner = await openConsole(browser, shop);
  await owner.signIn(shop.serverToken, 'settings?tab=team');
  await shows(owner.page, 'You are signed in by a link or a token, not as a person.');
  await owner.page.getByRole('button', { name: 'Invite a person …' }).click();
  await owner.page.getByLabel('E-mail address').fill('ben@shop.example');
  await owner.page.getByRole('radio', { name: 'editor' }).check();
  await owner.page.keyboard.press('Enter');
  const link = owner.page.locator('.new-token code');
  await link.waitFor(soon);

  const ben = await openConsole(browser, shop);
  await ben.page.goto(await link.innerText());
  await heading(ben.page, 'Join Shop');
  expect(ben.page.url()).toBe(`${shop.url}/console/join`);
  await ben.page.getByLabel('Your name').fill('Ben Lime');
  await ben.page.getByLabel('Password').fill(password);
  await ben.page.keyboard.press('Enter');
  await heading(ben.page, 'Overview');
  await ben.goto('settings?tab=team');
  await shows(ben.page, 'Only an owner can read who may sign in');
  await ben.page.getByRole('button', { name: 'Sign out' }).click();
  await heading(ben.page, 'Sign in to Firsthand');
  await ben.page.getByLabel('E-mail address').focus();
  await ben.page.keyboard.type('ben@shop.example');
  await ben.page.keyboard.press('Tab');
  await ben.page.keyboard.type('not this one, not this');
  await ben.page.keyboard.press('Enter');
  await expect.poll(() => ben.page.getByRole('alert').innerText()).toMatch(/do not belong together/);
  await ben.page.getByLabel('Password', { exact: true }).fill(password);
  await ben.page.keyboard.press('Enter');
  await shows(ben.page, 'Only an owner can read who may sign in');

  const row = owner.page.getByRole('row', { name: /ben@shop\.example/ });
  await owner.page.reload();
  await row.getByText('Ben Lime').waitFor(soon);
  await row.getByRole('button', { name: 'editor, the role of ben@shop.example' }).click();
  await owner.page.getByRole('radio', { name: 'viewer' }).check();
  await owner.page.getByRole('button', { name: 'Change' }).click();
  await shows(owner.page, 'ben@shop.example is viewer now.');
  await owner.page.getByRole('button', { name: 'Undo' }).click();
  await shows(owner.page, 'Undone.');
  expect((await shop.api.listMembers({})).member).toMatchObject([{ memberName: 'Ben Lime', memberRole: 'editor' }]);
  await owner.page.getByRole('link', { name: 'Audit log' }).click();
  await owner.page
    .getByRole('row', { name: /Role of a person changed Ben Lime, editor/ })
    .first()
    .waitFor(soon);
  await owner.page
    .getByRole('row', { name: /^Signed in Ben Lime/ })
    .first()
    .waitFor(soon);
  await owner.page.getByRole('link', { name: 'Tokens' }).click();
  await owner.page.getByRole('row', { name: /this session .* now / }).waitFor(soon);
  await owner.page.getByRole('row', { name: /Ben Lime reads and edits/ }).waitFor(soon);
  await owner.page.getByRole('link', { name: 'Team' }).click();
  await row.getByRole('button', { name: 'Remove ben@shop.example' }).click();
  const revoking = owner.page.getByRole('checkbox', { name: /^Also revoke the tokens, share links/ });
  expect(await revoking.isChecked()).toBe(false);
  await owner.page.getByRole('button', { name: 'Remove', exact: true }).click();
  await shows(owner.page, 'ben@shop.example can no longer sign in.');
  await ben.page.getByRole('link', { name: 'Live' }).click();
  await shows(ben.page, 'Your session has ended');
  expect(owner.complaints).toEqual([]);
});

it('revokes what a person made when an owner asks for it while removing the person', async () => {
  const shop = await openShop();
  const { invitationCode } = await shop.api.inviteMember({
    memberEmailaddress: 'ben@shop.example',
    memberRole: 'owner',
  });
  const ben = await openConsole(browser, shop);
  await ben.page.goto(`${shop.url}/console/join#code=${invitationCode}`);
  await heading(ben.page, 'Join Shop');
  await ben.page.getByLabel('Your name').fill('Ben Lime');
  await ben.page.getByLabel('Password').fill(password);
  await ben.page.keyboard.press('Enter');
  await heading(ben.page, 'Overview');
  await ben.goto('settings?tab=team');
  await ben.page.getByRole('button', { name: 'Invite a person …' }).click();
  await ben.page.getByLabel('E-mail address').fill('carl@shop.example');
  await ben.page.keyboard.press('Enter');
  await ben.page.locator('.new-token code').waitFor(soon);

  const owner = await openConsole(browser, shop);
  await owner.signIn(shop.serverToken, 'settings?tab=team');
  const row = owner.page.getByRole('row', { name: /ben@shop\.example/ });
  await row.getByRole('button', { name: 'Remove ben@shop.example' }).click();
  await owner.page.getByRole('checkbox', { name: /^Also revoke the tokens, share links/ }).check();
  await owner.page.getByRole('button', { name: 'Remove', exact: true }).click();
  await shows(owner.page, 'ben@shop.example can no longer sign in, and what this person made is revoked.');
  await owner.page
    .getByRole('row', { name: /carl@shop\.example/ })
    .getByText('invitation ended')
    .waitFor(soon);
  expect(owner.complaints).toEqual([]);
});

it('changes the password of a member in a dialog, and ends the other sessions', async () => {
  const shop = await openShop();
  const { invitationCode: code } = await shop.api.inviteMember({
    ...{ memberEmailaddress: 'ben@shop.example', memberRole: 'viewer' },
  });
  const [ben, elsewhere] = [await openConsole(browser, shop), await openConsole(browser, shop)];
  await ben.page.goto(`${shop.url}/console/join#code=${code}`);
  await ben.page.getByLabel('Your name').fill('Ben Lime');
  await ben.page.getByLabel('Password').fill(password);
  await ben.page.keyboard.press('Enter');
  await heading(ben.page, 'Overview');
  await elsewhere.goto('');
  const signIn = async (given: string) => {
    await elsewhere.page.getByLabel('E-mail address').fill('ben@shop.example');
    await elsewhere.page.getByLabel('Password', { exact: true }).fill(given);
    await elsewhere.page.keyboard.press('Enter');
  };
  await signIn(password);
  await heading(elsewhere.page, 'Overview');

  await ben.goto('settings?tab=team');
  await shows(ben.page, 'You sign in with ben@shop.example and your password.');
  await ben.page.getByRole('button', { name: 'Change password …' }).click();
  const dialog = ben.page.getByRole('dialog', { name: 'Change your password' });
  await dialog.getByText('Your other sessions in it end.').waitFor(soon);
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
  await shows(ben.page, 'Password changed for this account. Your other sessions in it have ended.');
  expect(await dialog.count()).toBe(0);

  await elsewhere.page.getByRole('link', { name: 'People' }).first().click();
  await shows(elsewhere.page, 'Your session has ended');
  await signIn('another sentence of words');
  await heading(elsewhere.page, 'People');
  await ben.page.getByRole('link', { name: 'People' }).first().click();
  await heading(ben.page, 'People');
});

it('the page of an invitation that does not work says so, and the same tab takes another one', async () => {
  const shop = await openShop();
  const { page } = await openConsole(browser, shop);
  await page.goto(`${shop.url}/console/join#code=invitation_of-nobody`);
  await heading(page, 'This invitation does not work');
  expect(await page.evaluate('document.activeElement.tagName')).toBe('H1');
  expect(await page.getByRole('alert').innerText()).toMatch(/it works once/);
  const { invitationCode } = await shop.api.inviteMember({
    ...{ memberEmailaddress: 'ben@shop.example', memberRole: 'viewer' },
  });
  await page.evaluate(`location.hash = 'code=${invitationCode}'`);
  await heading(page, 'Join Shop');
  await page.reload();
  await shows(page, 'Open the link again');
  await page.getByRole('link', { name: 'Go to the console' }).click();
  await heading(page, 'Sign in to Firsthand');
});

it('a newcomer looks around in the sample shop, switches between the accounts, and removes it', async () => {
  const { url, consoleURL = '' } = await serveHere({}, { demo: true });
  const { page, complaints } = await openConsole(browser, { url });
  await page.goto(consoleURL);
  await heading(page, 'Overview');
  const menu = page.locator('.account-menu');
  const shown = () => menu.locator('summary span').last().innerText();
  const own = await shown();
  await page.getByRole('button', { name: 'Look around with sample data' }).click();
  await shows(page, 'This is sample data:');
  expect(await shown()).toBe('Sample shop (demo data)');
  const address = page.url();
  expect(address).toMatch(/\/console\/\?account=sample-shop-/);
  await page.getByRole('link', { name: 'People' }).first().click();
  await shows(page, /@example\.(?:com|org|net)/);
  expect(page.url()).toContain('account=sample-shop-');
  await page.getByRole('link', { name: 'Set up' }).first().click();
  await shows(page, 'The tag for your pages is in your own account');
  await menu.locator('summary').click();
  await menu.getByRole('link', { name: own }).click();
  await expect.poll(shown).toBe(own);
  expect(await page.getByText('This is sample data:').count()).toBe(0);
  // A question of the page reaches the server after the account is gone, and before the page knows.
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
  await shows(page, 'This is sample data:');
  await expect.poll(() => held.length).toBeGreaterThan(0);
  await page.getByRole('button', { name: 'Remove it' }).click();
  await page.getByRole('button', { name: 'Remove all of it' }).click();
  await expect.poll(shown).toBe(own);
  await page.goto(address);
  await shows(page, 'This address belongs to an account that you are not signed in to.');
  await page.getByRole('link', { name: own }).click();
  await heading(page, 'Overview');
  expect(complaints).toEqual([]);
});

it('a refused request is fixed and sent again', async () => {
  const shop = await openShop();
  const { page, signIn, complaints } = await openConsole(browser, shop);
  await shop.api.logEvent({ userUUID: 'visitor-number-1', eventID: 'three' as unknown as number }).catch(() => {});
  await signIn(shop.serverToken, 'set-up');
  await shows(page, 'Refused requests: 1.');
  await page.getByRole('link', { name: 'See why' }).click();
  await shows(page, '1 event: the event ID must be a whole number');
  await shows(page, 'sent: “three”');
  await page.getByRole('button', { name: 'Send again' }).click();
  await page.locator('.notice-problem').waitFor(soon);
  await page.getByRole('button', { name: 'Fix and send …' }).click();
  expect(await page.getByRole('dialog').getByRole('textbox').count()).toBe(1);
  await page.getByLabel('The event ID').fill('3');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await shows(page, 'Nothing is waiting for a fix');
  await shows(page, '1 was fixed and stored.');
  expect((await shop.api.getEvent({ userUUID: 'visitor-number-1' })).event).toMatchObject([{ eventID: 3 }]);
  expect(complaints).toEqual([]);
});
