/** End-to-end tests of the console, in Chromium. */
import { readFileSync } from 'node:fs';
import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchChromium } from '../../../../tracker/test/chromium.ts';
import { measures, press, stored, violations } from '../../fixtures/in-page.js';
import { serveHere } from '../../fixtures/serving.ts';
import { soon } from '../../fixtures/timeouts.ts';
import { openConsole } from './open-console.ts';
import { fillShop, openShop, type Shop } from './shop.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser?.close());

const waitForText = (page: Page, text: string | RegExp) => page.getByText(text).first().waitFor(soon);
const waitForHeading = (page: Page, name: string | RegExp) =>
  page.getByRole('heading', { level: 1, name }).waitFor(soon);
const readMeasure = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Measure' }).getByRole('link', { name }).locator('strong').innerText();

describe('the sign-in form', () => {
  it('explains why a token is rejected, and accepts a valid one', async () => {
    const shop = await openShop();
    const { page, goto } = await openConsole(browser, shop);
    await goto('people');
    await page.getByRole('button', { name: 'Use a token instead' }).click();
    await page.getByLabel('Server token or viewer token').fill(shop.browserToken);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await expect.poll(() => page.getByRole('alert').innerText()).toMatch(/this one is of kind browser/);
    await page.getByLabel('Server token or viewer token').fill(shop.viewerToken);
    await page.keyboard.press('Enter');
    await waitForHeading(page, 'People');
    await waitForText(page, 'Read-only');
    expect(await page.evaluate(stored)).toBe('[{},{},""]');
  });

  it('accepts a one-time link once, and removes its code from the URL', async () => {
    const { url, consoleURL = '' } = await serveHere({}, { demo: true });
    const { page, complaints } = await openConsole(browser, { url });
    await page.goto(consoleURL);
    await waitForHeading(page, 'Overview');
    expect(page.url()).toBe(`${url}/console/`);
    expect(complaints).toEqual([]);
    const other = await openConsole(browser, { url });
    await other.page.goto(consoleURL);
    await expect.poll(() => other.page.getByRole('alert').innerText()).toMatch(/it works once/);
  });

  it('appears after signing out and after the session is revoked, and returns to the same page', async () => {
    const shop = await openShop();
    const { page, signIn } = await openConsole(browser, shop);
    await signIn(shop.viewerToken, 'people?list=everybody&range=7d');
    const { account } = await shop.api.getAccount({});
    const session = account.token?.find((token) => token.session);
    await expect.poll(() => page.locator('[aria-busy=true]').count()).toBe(0);
    await shop.api.revokeToken({ tokenID: session?.tokenID ?? '' });
    // The page polls every 20 seconds. On a slow machine, it may already have noticed the end of the session and show
    // no link.
    const isLive = await page.evaluate(press, 'Live');
    await waitForText(page, 'Your session has ended');
    const address = page.url();
    expect(address).toMatch(isLive ? /\/live\?range=7d/ : /\/people\?list=everybody&range=7d$/);
    await page.getByRole('button', { name: 'Use a token instead' }).click();
    await page.getByLabel('Server token or viewer token').fill(shop.viewerToken);
    await page.keyboard.press('Enter');
    await waitForHeading(page, isLive ? 'Live' : 'People');
    expect(page.url()).toBe(address);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await waitForHeading(page, 'Sign in to Firsthand');
    // Without the link, the history has no earlier console page to go back to.
    if (isLive) await page.goBack();
    await waitForHeading(page, 'Sign in to Firsthand');
  });
});

it('shows the first event immediately, and lists the next steps', async () => {
  const shop = await openShop();
  const { page, signIn, complaints } = await openConsole(browser, shop);
  await signIn(shop.serverToken, 'set-up');
  await waitForText(page, 'Waiting for your first event');
  expect(await page.locator('.tag code').innerText()).toContain(
    `src="${shop.url}/main.full.js" data-token="${shop.browserToken}" data-page-views="Page viewed"`,
  );
  await waitForText(page, '403: the site is not in your list of sites, or the tag has a server token.');
  await shop.api.logEvent({ userUUID: 'visitor-number-1', eventName: 'Page viewed' });
  await waitForText(page, 'Events are arriving');
  const logsMore = page.locator('.check-list li', { hasText: 'Log your own events' });
  expect(await logsMore.getByRole('img', { name: 'To do' }).count()).toBe(1);
  await shop.api.logEvent({ userUUID: 'visitor-number-1', eventID: 2 });
  await logsMore.getByRole('img', { name: 'Done' }).waitFor(soon);
  await waitForText(page, 'No unlisted proxy detected');
  const origin = page.getByLabel('Site', { exact: true });
  await origin.fill('https://shop.example/cart');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').filter({ hasText: 'Enter only the scheme and host' }).waitFor(soon);
  expect(complaints.splice(0)).toEqual([expect.stringContaining('status of 400')]);
  expect(await origin.getAttribute('aria-describedby')).toBe('origin-problem');
  expect(await page.locator('body').innerText()).not.toContain('accountOrigin');
  await origin.fill('shop.example/');
  await page.keyboard.press('Enter');
  await waitForText(page, 'Pages on https://shop.example may now use the tag.');
  expect((await shop.api.getAccount({})).account.accountOrigin).toEqual(['https://shop.example']);
  await page.getByRole('button', { name: 'Undo' }).click();
  await waitForText(page, 'Undone.');
  expect((await shop.api.getAccount({})).account.accountOrigin).toEqual([]);
  await page.getByText('No events from a page?').click();
  await waitForText(page, '401 or “firsthand: invalid_token”: the token in the tag is wrong.');
  await origin.fill('localhost:5173');
  await page.keyboard.press('Enter');
  await waitForText(page, 'Pages on http://localhost:5173 may now use the tag.');
  expect((await shop.api.getAccount({})).account.accountOrigin).toEqual(['http://localhost:5173']);
  expect(complaints).toEqual([]);
});

it('also shows a refused site in Settings, and allows it', async () => {
  const shop = await openShop();
  await shop.api.updateAccount({ accountOrigin: ['https://shop.example'] });
  const { status } = await fetch(`${shop.url}/event/logEvent`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${shop.browserToken}`,
      origin: 'https://other.example',
      'content-type': 'application/json',
    },
    body: JSON.stringify({ userUUID: 'visitor-number-1', eventID: 1 }),
  });
  expect(status).toBe(403);
  const { page, signIn, complaints } = await openConsole(browser, shop);
  await signIn(shop.serverToken, 'settings?tab=refused');
  await waitForText(page, 'No refused requests');
  await waitForText(page, 'is not in your list of sites');
  await page.getByRole('button', { name: 'Allow this site' }).click();
  await waitForText(page, 'Pages on https://other.example may now use the tag.');
  expect((await shop.api.getAccount({})).account.accountOrigin).toContain('https://other.example');
  expect(complaints).toEqual([]);
});

it('warns in Set up about a page that sends a server token, until the token is revoked', async () => {
  const shop = await openShop();
  const { tokenUUID = '', tokenID } = await shop.api.createToken({ tokenKind: 'server', tokenName: 'backend' });
  const { status } = await fetch(`${shop.url}/event/logEvent`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${tokenUUID}`,
      origin: 'https://shop.example',
      'content-type': 'application/json',
    },
    body: JSON.stringify({ userUUID: 'visitor-number-1', eventID: 1 }),
  });
  expect(status).toBe(403);
  const { page, signIn, complaints } = await openConsole(browser, shop);
  await signIn(shop.serverToken, 'set-up');
  await waitForText(page, 'the page sends the secret token “backend”, which is now public.');
  expect(await page.getByRole('link', { name: 'All warnings and how to fix them' }).getAttribute('href')).toBe(
    '../docs/troubleshooting',
  );
  await page.getByRole('link', { name: 'Revoke this token' }).click();
  await waitForHeading(page, 'Settings');
  await shop.api.revokeToken({ tokenID });
  await page.goto(`${shop.url}/console/set-up`);
  await waitForText(page, 'Waiting for your first event');
  await page.getByText('which is now public').waitFor({ state: 'detached' });
  expect(complaints).toEqual([]);
});

it('links from an account without events to the script tag, and shows numbers after the first event', async () => {
  const shop = await openShop();
  const { page, signIn, complaints } = await openConsole(browser, shop);
  await signIn(shop.serverToken);
  await waitForText(page, 'No events yet');
  expect(await page.getByRole('link', { name: 'Set up the script tag' }).getAttribute('href')).toBe('set-up');
  await shop.api.logEvent({ userUUID: 'visitor-number-1', eventID: 1 });
  await expect.poll(() => readMeasure(page, 'People')).toBe('1');
  expect(complaints).toEqual([]);
});

it('reports that events from bots are not counted if there are no other events', async () => {
  const shop = await openShop();
  const { page, signIn, complaints } = await openConsole(browser, shop);
  await signIn(shop.serverToken);
  await shop.api.logEvent({
    userUUID: 'a-robot-of-the-web',
    eventID: 1,
    eventAttrArray: [{ attrID: 'robot', attrValue: 'true' }],
  });
  await waitForText(page, '1 event from a bot is not counted.');
  expect(await page.getByRole('link', { name: 'See bots in Live' }).getAttribute('href')).toBe('live');
  await shop.api.logEvent({ userUUID: 'visitor-number-1', eventID: 1 });
  await page.reload();
  await expect.poll(() => readMeasure(page, 'People')).toBe('1');
  expect(await page.getByText('from a bot').count()).toBe(0);
  expect(complaints).toEqual([]);
});

it('keeps the date range and filter when it opens a whole list', async () => {
  const shop = await openShop();
  const paths = Array.from({ length: 12 }, (_, nth) => `/page-${nth}`);
  for (const [nth, path] of [...paths, ...paths].entries())
    await shop.api.logEvent({
      userUUID: `visitor-of-page-${nth}`,
      eventID: 1,
      eventAttrArray: [
        { attrID: 'path', attrValue: path },
        { attrID: 'plan', attrValue: nth < 12 ? 'pro' : 'free' },
      ],
    });
  const { page, signIn, complaints } = await openConsole(browser, shop);
  const filter = JSON.stringify([{ attrID: 'plan', is: ['pro'] }]);
  await signIn(shop.viewerToken, `?range=7d&filter=${encodeURIComponent(filter)}`);
  await page.getByRole('region', { name: 'Pages' }).getByRole('link', { name: '4 more' }).click();
  await waitForHeading(page, 'Events');
  const rows = page.getByRole('region', { name: 'All events by page' }).getByRole('row');
  await expect.poll(() => rows.count()).toBe(1 + 1 + paths.length);
  // Expects no revenue column, because no event has an amount.
  expect((await rows.nth(1).getByRole('cell').allInnerTexts()).slice(-3)).toEqual(['12', '12', '12']);
  expect(await page.getByLabel('Range').inputValue()).toBe('7d');
  await waitForText(page, 'plan is pro');
  expect(complaints).toEqual([]);
});

it('links from the account menu to the documentation and shortcuts on a phone', async () => {
  const shop = await openShop();
  const { page, signIn } = await openConsole(browser, shop, { viewport: { width: 390, height: 844 } });
  await signIn(shop.viewerToken);
  await page.locator('.account-menu > summary').click();
  expect(await page.getByRole('link', { name: 'Docs' }).getAttribute('href')).toBe('../docs/');
  await page.getByRole('button', { name: 'Sign out', exact: true }).waitFor(soon);
  await page.getByRole('button', { name: 'Shortcuts' }).click();
  await page.getByRole('dialog', { name: 'Shortcuts' }).waitFor(soon);
});

describe('a shop’s console', () => {
  let shop: Shop;
  let who: Awaited<ReturnType<typeof fillShop>>;
  const ends: (() => unknown)[] = [];
  afterAll(async () => {
    for (const end of ends.toReversed()) await end();
  });
  beforeAll(async () => {
    shop = await openShop((end) => ends.push(end));
    who = await fillShop(shop);
  });
  const readTotals = async () => {
    const from = new Date(Date.now() - 29 * 86_400_000).toISOString().slice(0, 10);
    return (await shop.api.reportTotals({ from, attrID: 'amount' })).total;
  };

  it('shows the same numbers as the API, filters on a click, and supports back and forward', async () => {
    const { page, signIn, complaints } = await openConsole(browser, shop);
    await signIn(shop.viewerToken);
    await expect.poll(() => readMeasure(page, 'People')).toBe(String((await readTotals()).people));
    const { users, sessions, events, value } = await readTotals();
    expect(await readMeasure(page, 'Browsers')).toBe(String(users));
    expect(await readMeasure(page, 'Sessions')).toBe(String(sessions));
    expect(await readMeasure(page, 'Events')).toBe(String(events));
    expect(await readMeasure(page, 'Revenue')).toBe(`£${value?.sum?.toFixed(2)}`);
    await page.getByRole('button', { name: 'Pages: save as CSV' }).click();
    await waitForText(page, /The file has \d rows?, including those not on this page/);
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save', exact: true }).click(),
    ]);
    expect(file.suggestedFilename()).toBe('pages.csv');
    expect(readFileSync(await file.path(), 'utf8')).toMatch(
      /^\ufeffattr:path,events,users,people,sessions\r\n\/pricing,3,3,3,3\r\n/,
    );
    await page.getByRole('link', { name: '/pricing' }).click();
    await waitForText(page, 'Page is /pricing');
    await expect.poll(() => readMeasure(page, 'People')).toBe('3');
    await page.reload();
    await expect.poll(() => readMeasure(page, 'People')).toBe('3');
    await page.goBack();
    await expect.poll(() => readMeasure(page, 'People')).toBe(String((await readTotals()).people));
    await page.goForward();
    await expect.poll(() => readMeasure(page, 'People')).toBe('3');
    await page.getByRole('link', { name: /Remove the condition/ }).click();
    await expect.poll(() => readMeasure(page, 'People')).toBe(String((await readTotals()).people));
    expect(complaints).toEqual([]);
  });

  it('shows the number of rows before it saves a CSV file, even if the page does not know that number', async () => {
    const { page, signIn, goto, complaints } = await openConsole(browser, shop);
    await signIn(shop.serverToken);
    const saves = async (title: string, note = ', including those not on this page') => {
      await page.getByRole('button', { name: `${title}: save as CSV` }).click();
      const dialog = page.getByRole('dialog', { name: `${title} as CSV` });
      await dialog.getByText(new RegExp(`The file has \\d+ rows?${note}\\.$`)).waitFor(soon);
      const [, count] = /(\d+) row/.exec(await dialog.innerText()) ?? [];
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        dialog.getByRole('button', { name: 'Save', exact: true }).click(),
      ]);
      const lines = readFileSync(await file.path(), 'utf8')
        .trim()
        .split('\r\n');
      expect([title, lines.length - 1]).toEqual([title, Number(count)]);
      return Number(count);
    };
    await goto(`person?contact=${who.ann}`);
    expect(await saves('History')).toBe((await shop.api.getEvent({ contactUUID: who.ann, limit: 100 })).event.length);
    await goto(`events?by=attr%3Apath&who=${encodeURIComponent('{"value":["/pricing"]}')}`);
    expect(await saves('All events, page: /pricing')).toBe(3);
    await goto('settings?tab=audit&action=linkUser');
    expect(await saves('Audit log')).toBe((await shop.api.listAudit({ action: 'linkUser' })).audit.length);
    await goto('settings');
    expect(await saves('Tokens', '')).toBeGreaterThan(1);
    await goto('settings?tab=team');
    expect(await saves('Team', '')).toBe((await shop.api.listMembers({})).member.length);
    await goto('settings?tab=shared');
    expect(await saves('Share links', '')).toBe((await shop.api.listShareLinks({})).shareLink.length);
    await goto('live');
    await page.locator('.event-line').first().waitFor(soon);
    expect(await saves('Live events', '')).toBe((await shop.api.getEvent({ limit: 30 })).event.length);
    expect(complaints).toEqual([]);
  });

  it('shows the sources of all people, including those without one', async () => {
    const { page, signIn } = await openConsole(browser, shop);
    await signIn(shop.viewerToken);
    const sources = page.getByRole('region', { name: 'Sources' });
    await sources.getByText('news.example').waitFor(soon);
    const { people } = await readTotals();
    expect(await sources.getByRole('row').allInnerTexts()).toEqual([
      expect.stringContaining('Visit’s referring site'),
      expect.stringMatching(/^news\.example\s+3 /),
      expect.stringMatching(new RegExp(`^Direct / none\\s+${people - 3} `)),
    ]);
  });

  it('distinguishes a person’s browsers, in the card and in the history', async () => {
    const { page, signIn } = await openConsole(browser, shop);
    await signIn(shop.viewerToken, `person?contact=${who.ann}`);
    const browsers = page.getByRole('region', { name: /^Browsers/ }).getByRole('listitem');
    await expect.poll(() => browsers.count()).toBe(2);
    await expect.poll(() => browsers.filter({ hasText: 'first seen' }).count()).toBe(2);
    const numbers = await browsers.locator('.browser-mark').allInnerTexts();
    const copied = await browsers.locator('.copyable').evaluateAll((all) => all.map((each) => each.title));
    expect(numbers.map((number, nth) => [number.trim().slice(-1), copied[nth]]).sort()).toEqual([
      ['1', 'Copy ann-with-a-laptop'],
      ['2', 'Copy the-phone-of-ben'],
    ]);
    await page.locator('.session-head').first().waitFor(soon);
    const sessions = page.locator('.session');
    for (const session of await sessions.all()) {
      const isOfPhone = (await session.locator('.session-head').innerText()).includes('of-ben');
      expect(await session.locator('.browser-mark').innerText()).toContain(isOfPhone ? '2' : '1');
    }
  });

  it('moves to the next day if it stays open past midnight', async () => {
    const { page, signIn } = await openConsole(browser, shop);
    await page.clock.install({ time: Date.now() });
    await signIn(shop.viewerToken, '?range=today');
    await expect.poll(() => page.locator('[aria-busy=true]').count()).toBe(0);
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
    const reportRequest = page.waitForRequest(
      (request) => new URL(request.url()).searchParams.get('from') === tomorrow,
      soon,
    );
    await page.clock.fastForward(86_400_000);
    expect((await reportRequest).url()).toContain('/report/');
  });

  it('shows what people who came from a campaign bought', async () => {
    const { page, signIn } = await openConsole(browser, shop);
    await signIn(shop.viewerToken);
    await page.getByRole('link', { name: 'Campaigns' }).click();
    await waitForText(page, 'Some people are counted in several rows.');
    await page.getByRole('link', { name: 'autumn' }).click();
    await waitForText(page, 'came from campaign autumn since');
    // The link covers only visits in the range, like the count in the row.
    expect(JSON.parse(new URL(page.url()).searchParams.get('filter') ?? '')).toEqual([
      { did: { filter: { attrID: 'utm_campaign', is: ['autumn'] }, from: expect.stringMatching(/T.*Z$/) } },
    ]);
    await expect.poll(() => readMeasure(page, 'People')).toBe('1');
    expect(await readMeasure(page, 'Revenue')).toBe('£48.50');
  });

  it('finds a person by keyboard, and shows when the visitor was identified', async () => {
    const { page, signIn, complaints } = await openConsole(browser, shop);
    await signIn(shop.viewerToken);
    await waitForHeading(page, 'Overview');
    await page.keyboard.press('Control+K');
    await page.keyboard.type('erase');
    await page.getByRole('option', { name: /People/ }).waitFor(soon);
    await page.keyboard.press('Control+A');
    await page.keyboard.type('ann');
    await page.getByRole('option', { name: /Ann Lemon/ }).waitFor(soon);
    await page.keyboard.press('Enter');
    await waitForHeading(page, 'Ann Lemon');
    await waitForText(page, 'Recognized: this browser’s anonymous history now belongs to this person');
    await waitForText(page, 'anonymous at the time');
    expect(await page.getByRole('button', { name: 'Unlink' }).count()).toBe(0);
    await page.keyboard.press('g');
    await page.keyboard.press('l');
    await waitForHeading(page, 'Live');
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Shortcuts' }).waitFor(soon);
    await page.keyboard.press('Escape');
    expect(complaints).toEqual([]);
  });

  it('shows events as soon as they are stored, but not while paused', async () => {
    const { page, signIn } = await openConsole(browser, shop);
    await signIn(shop.viewerToken, 'live');
    const lines = page.locator('.live-events .event');
    await lines.first().waitFor(soon);
    const log = (path: string) =>
      shop.api.logEvent({
        userUUID: 'visitor-number-1',
        eventID: 1,
        eventAttrArray: [{ attrID: 'path', attrValue: path }],
      });
    await log('/just-now');
    await expect.poll(() => lines.first().innerText()).toContain('/just-now');
    await page.getByRole('button', { name: 'Pause' }).click();
    await log('/while-paused');
    await page.getByRole('button', { name: 'Resume' }).click();
    await expect.poll(() => lines.first().innerText()).toContain('/while-paused');
    await lines.first().getByRole('button').click();
    await waitForText(page, 'This browser does not belong to a contact yet.');
  });

  it('ignores a wrong link and merges contacts, and undoes both', async () => {
    const { page, signIn, complaints } = await openConsole(browser, shop);
    await signIn(shop.serverToken, `person?contact=${who.ann}`);
    const owner = async () => (await shop.api.getEvent({ userUUID: 'the-phone-of-ben' })).event[0]?.contactUUID;
    expect(await owner()).toBe(who.ann);
    const turn = page.locator('.turn', { hasText: 'Visitor of-ben' });
    await turn.getByRole('button', { name: 'Ignore this link' }).click();
    await waitForText(page, 'Link ignored.');
    expect(await owner()).toBe('');
    await page.getByRole('button', { name: 'Undo' }).click();
    await waitForText(page, 'Undone.');
    expect(await owner()).toBe(who.ann);
    await page.getByRole('button', { name: 'Merge…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: /Ben/ }).click();
    await waitForText(page, 'into this contact');
    expect((await shop.api.getContact({ contactUUID: who.ben })).contact.contactUUID).toBe(who.ann);
    await page.getByRole('button', { name: 'Undo' }).click();
    await waitForText(page, 'Undone.');
    expect((await shop.api.getContact({ contactUUID: who.ben })).contact.contactUUID).toBe(who.ben);
    expect(complaints).toEqual([]);
  });

  it('unlinks a browser from now on or retroactively, and undoes both', async () => {
    const { page, signIn, complaints } = await openConsole(browser, shop);
    await signIn(shop.serverToken, `person?contact=${who.ann}`);
    const owner = async () => (await shop.api.getEvent({ userUUID: 'the-phone-of-ben' })).event[0]?.contactUUID;
    const links = async () => (await shop.api.getContact({ contactUUID: who.ann, include: 'link' })).link ?? [];
    const isCurrent = async () =>
      (await links()).some(({ userUUID, current }) => userUUID === 'the-phone-of-ben' && current);
    const browserLine = page.locator('.browsers li', { hasText: 'Visitor of-ben' });
    const unlink = async (way: string) => {
      await browserLine.getByRole('button', { name: /^Unlink/ }).click();
      const dialog = page.getByRole('dialog', { name: /^Unlink/ });
      await dialog.getByLabel(way).check();
      await dialog.getByRole('button', { name: 'Unlink' }).click();
    };
    await unlink('From now on');
    await waitForText(page, 'Browser unlinked.');
    expect([await owner(), await isCurrent()]).toEqual([who.ann, false]);
    await page.getByRole('button', { name: 'Undo' }).click();
    await waitForText(page, 'Undone.');
    expect([await owner(), await isCurrent()]).toEqual([who.ann, true]);
    const sessions = () => page.locator('.history .session').count();
    const before = await sessions();
    await unlink('It was never theirs');
    await waitForText(page, 'Link ignored.');
    expect([await owner(), await isCurrent()]).toEqual(['', false]);
    await expect.poll(sessions).toBeLessThan(before);
    await page.getByRole('button', { name: 'Undo' }).click();
    await waitForText(page, 'Undone.');
    expect([await owner(), await isCurrent()]).toEqual([who.ann, true]);
    await expect.poll(sessions).toBe(before);
    await page.locator('.turn').getByRole('link', { name: 'Visitor of-ben' }).click();
    await waitForText(page, 'A browser.');
    await page.getByRole('main').getByRole('link', { name: 'Ann Lemon' }).click();
    await waitForHeading(page, 'Ann Lemon');
    expect(complaints).toEqual([]);
  });

  it('shows the total revenue from each event', async () => {
    const { page, signIn, complaints } = await openConsole(browser, shop);
    await signIn(shop.viewerToken, 'events?measure=revenue');
    const row = page.locator('.breakdown tbody tr', { hasText: 'Purchased' });
    await row.waitFor(soon);
    expect(await row.locator('td').last().innerText()).toBe('£48.50');
    expect(complaints).toEqual([]);
  });

  it('undoes an old merge', async () => {
    const { page, signIn, complaints } = await openConsole(browser, shop);
    await shop.api.mergeContact({ contactUUID: who.ann, otherContactUUID: who.ben });
    await signIn(shop.serverToken, `person?contact=${who.ben}`);
    const merge = page.locator('.turn', { hasText: 'Merged: Ben is now part of this contact' });
    await merge.getByRole('button', { name: 'Unmerge' }).click();
    await waitForText(page, 'Ben is a separate contact again');
    expect((await shop.api.getContact({ contactUUID: who.ben })).contact.contactUUID).toBe(who.ben);
    expect(complaints).toEqual([]);
  });

  it('saves the filter as a segment by keyboard, and finds the people in it who use several browsers', async () => {
    const { page, signIn, complaints } = await openConsole(browser, shop);
    const filter = [{ contact: { contactTagID: 'vip' } }];
    await signIn(shop.serverToken, `?filter=${encodeURIComponent(JSON.stringify(filter))}`);
    await page.getByRole('button', { name: 'Save as a segment…' }).focus();
    await page.keyboard.press('Enter');
    await page.keyboard.type('Best customers');
    await page.keyboard.press('Enter');
    await waitForText(page, 'Saved the segment “Best customers”.');
    await waitForText(page, 'Segment Best customers');
    const choice = page.getByLabel('Segment', { exact: true });
    const showsChosen = () => expect.poll(() => choice.inputValue()).toBe('Best customers');
    await showsChosen();
    const pages = page.getByRole('navigation', { name: 'Console' });
    await pages.getByRole('link', { name: 'Live' }).click();
    await waitForHeading(page, 'Live');
    await pages.getByRole('link', { name: 'Overview' }).click();
    await showsChosen();
    await page.reload();
    await showsChosen();
    expect((await shop.api.listSegments({})).segment).toMatchObject([
      { segmentName: 'Best customers', filter: filter[0] },
    ]);
    await pages.getByRole('link', { name: 'People' }).click();
    await waitForText(page, 'The filter does not apply to contacts.');
    await page.goto(
      page
        .url()
        .replace(/console\/[^?]*/, 'console/people')
        .replace('?', '?list=everybody&'),
    );
    await page.getByLabel('Browsers').selectOption('2 or more browsers');
    await page.waitForURL(/browsers=several/);
    await page.locator('tbody tr').waitFor();
    expect(await page.locator('tbody tr').allInnerTexts()).toEqual([expect.stringMatching(/^AL\s+Ann Lemon/)]);
    expect(complaints).toEqual([]);
    await shop.api.deleteSegment({ segmentName: 'Best customers' });
  });

  it('builds a filter of several conditions, counts its people, and saves it as a segment', async () => {
    const { page, signIn, goto, complaints } = await openConsole(browser, shop);
    await signIn(shop.serverToken);
    await page.getByRole('button', { name: 'Filter', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Filter' });
    const count = () => dialog.getByRole('status').innerText();
    await expect.poll(count).toBe(`${(await readTotals()).people} people in this range`);
    await dialog.getByLabel('Add a condition').selectOption('The person did…');
    await dialog.getByLabel('Event', { exact: true }).selectOption('Page view');
    await dialog.getByLabel('At least').fill('2');
    await dialog.getByLabel('When').selectOption('in the last … days');
    await dialog.getByLabel('Days').fill('30');
    await dialog.getByLabel('Add a condition').selectOption('The person came from a campaign');
    await expect.poll(count).toBe('Fill in the empty fields to see the count.');
    await dialog.getByLabel('Value').fill('autumn');
    const words = ['did “Page view” at least 2 times in the last 30 days', 'came from campaign autumn at any time'];
    await dialog.getByText(words.join(' and ')).waitFor(soon);
    await expect.poll(count).toBe('1 person in this range');
    await dialog.getByRole('button', { name: 'Apply' }).click();
    await expect.poll(() => readMeasure(page, 'People')).toBe('1');
    const shown = page.getByRole('list', { name: 'Filter' }).getByRole('listitem');
    expect((await shown.allInnerTexts()).map((text) => text.replace(/\s*×$/, ''))).toEqual(words);

    await page.getByRole('button', { name: 'Filter · 2' }).click();
    expect(await dialog.getByLabel('At least').first().inputValue()).toBe('2');
    expect(await dialog.getByLabel('Value').inputValue()).toBe('autumn');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Save as a segment…' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('Came back');
    await page.keyboard.press('Enter');
    await waitForText(page, 'Segment Came back');
    expect(await shown.allInnerTexts()).toEqual([expect.stringMatching(/^Segment Came back\s*×$/)]);
    await expect.poll(() => readMeasure(page, 'People')).toBe('1');
    expect((await shop.api.listSegments({})).segment.map(({ filter }) => filter)).toEqual([
      {
        and: [
          { did: { event: [1], atLeast: 2, withinDays: 30 } },
          { did: { filter: { attrID: 'utm_campaign', is: ['autumn'] } } },
        ],
      },
    ]);
    await goto('catalogue?tab=segment');
    await page.getByRole('button', { name: 'Edit Came back' }).click();
    const editor = page.getByRole('dialog', { name: 'Edit the segment “Came back”' });
    await editor.getByRole('button', { name: 'Remove the condition' }).first().click();
    await editor.getByRole('button', { name: 'Save' }).click();
    await waitForText(page, 'Saved the segment “Came back”.');
    expect((await shop.api.listSegments({})).segment.map(({ filter }) => filter)).toEqual([
      { did: { filter: { attrID: 'utm_campaign', is: ['autumn'] } } },
    ]);
    await shop.api.deleteSegment({ segmentName: 'Came back' });
    expect(complaints).toEqual([]);
  });

  it('tags and archives several contacts, and undoes only values that have not changed since', async () => {
    const { page, signIn, complaints } = await openConsole(browser, shop);
    const contacts = [who.ann, who.ben];
    const valuesOf = (contactUUID: string) => shop.api.getContact({ contactUUID }).then(({ contact }) => contact);
    const tags = async () =>
      (await Promise.all(contacts.map(valuesOf))).map(({ tag }) =>
        tag.flatMap(({ tagName, opt }) => (opt ? tagName : [])).join(),
      );
    const statuses = async () => (await Promise.all(contacts.map(valuesOf))).map(({ contactStatus }) => contactStatus);
    await signIn(shop.serverToken, 'people');
    const bar = page.getByRole('region', { name: 'Change the selected contacts' });
    await page.getByLabel('Select Ann Lemon').check();
    await page.getByLabel('Select Ben', { exact: true }).check();
    await bar.getByText('2 contacts selected').waitFor(soon);
    await bar.getByLabel('Tag…', { exact: true }).selectOption('Best customers');
    // Ann already has the tag, so only one contact is changed.
    await waitForText(page, 'Tagged 1 contact “Best customers”; 1 already had it.');
    expect(await tags()).toEqual(['Best customers', 'Best customers']);
    await page.getByRole('button', { name: 'Undo' }).click();
    await waitForText(page, 'Undone.');
    expect(await tags()).toEqual(['Best customers', '']);

    await page.getByText('Select all shown').click();
    await bar.getByText('2 contacts selected').waitFor(soon);
    await bar.getByRole('button', { name: 'Clear selection' }).click();
    await page.getByLabel('Select Ann Lemon').click();
    await page.getByLabel('Select Ben', { exact: true }).click({ modifiers: ['Shift'] });
    await bar.getByRole('button', { name: 'Archive' }).click();
    await waitForText(page, 'Archived 2 contacts.');
    expect(await statuses()).toEqual(['archived', 'archived']);
    await shop.api.updateContact({ contactUUID: who.ben, contactStatus: 'unsubscribed' });
    await page.getByRole('button', { name: 'Undo' }).click();
    await waitForText(page, 'Undone.');
    expect(await statuses()).toEqual(['active', 'unsubscribed']);
    await shop.api.updateContact({ contactUUID: who.ben, contactStatus: 'active' });
    expect(complaints).toEqual([]);
  });

  it('erases a contact only after its name is typed', async () => {
    const { contactUUID } = await shop.api.createContact({
      userUUID: 'somebody-to-erase',
      contactEmailaddress: 'gone@shop.example',
      contactFirstname: 'Gone',
      contactProfileID: 'customer',
    });
    const { page, signIn } = await openConsole(browser, shop);
    await signIn(shop.serverToken, `person?contact=${contactUUID}`);
    await page.getByRole('button', { name: 'Erase…' }).click();
    const erase = page.getByRole('button', { name: 'Erase permanently' });
    expect(await erase.isDisabled()).toBe(true);
    await page.getByLabel(/To confirm, type/).fill('Gone');
    await erase.click();
    await waitForText(page, 'Erased Gone.');
    await expect(shop.api.getContact({ contactUUID })).rejects.toMatchObject({ status: 410 });
    await page.goBack();
    await waitForText(page, 'This contact and all its events were erased');
    expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0);
  });

  describe.each([
    ['a laptop', { width: 1440, height: 900 }],
    ['a phone', { width: 390, height: 844 }],
  ])('on %s', (_, viewport) => {
    it.each(['light', 'dark'] as const)(
      'fits every page into the window and passes axe, in %s',
      async (colorScheme) => {
        const { page, signIn, goto, complaints } = await openConsole(browser, shop, {
          viewport,
          colorScheme,
          // Turns motion off: otherwise, axe may run during a color transition.
          reducedMotion: 'reduce',
        });
        await signIn(shop.serverToken);
        const paths = [
          '',
          'live',
          'events',
          'events?tab=funnel',
          'events?tab=retention',
          `events?who=${encodeURIComponent('{"value":["1"]}')}`,
          'people',
          'people?list=everybody',
          `person?contact=${who.ann}`,
          'person?user=visitor-number-1',
          'catalogue',
          'settings',
          'settings?tab=team',
          'settings?tab=import',
          'settings?tab=webhooks',
          'settings?tab=account',
          'settings?tab=storage',
          'set-up',
        ];
        for (const path of paths) {
          await goto(path);
          await page.locator('.card').first().waitFor(soon);
          await expect.poll(() => page.locator('[aria-busy=true]').count()).toBe(0);
          const { scroll, shown } = await page.evaluate(measures);
          expect(scroll, path).toBeLessThanOrEqual(shown);
          await page.evaluate(axe.source);
          expect([path, await page.evaluate(violations)]).toEqual([path, []]);
        }
        expect(complaints).toEqual([]);
      },
    );
  });
});
