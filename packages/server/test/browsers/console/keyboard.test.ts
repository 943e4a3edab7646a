/** The main task of each page, done and undone by somebody who has a keyboard only. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { launchChromium } from '../../fixtures/chromium.ts';
import { focusedName } from '../../fixtures/in-page.js';
import { openConsole } from './opened.ts';
import { fillShop, openShop, type Shop } from './shop.ts';

const soon = { timeout: 60_000 };
/** No page has as many controls as that. */
const mostStops = 200;

let browser: Browser;
let shop: Shop;
let who: Awaited<ReturnType<typeof fillShop>>;
const ends: (() => void | Promise<void>)[] = [];
beforeAll(async () => {
  browser = await launchChromium();
  shop = await openShop((end) => ends.push(end));
  who = await fillShop(shop);
});
afterAll(async () => {
  await browser?.close();
  for (const end of ends) await end();
});

const shows = (page: Page, text: string | RegExp) => page.getByText(text).first().waitFor(soon);

/** Goes on with Tab to the control of this name, as often as it takes; the page may still be filling. */
const reach = async (page: Page, name: string | RegExp): Promise<void> => {
  const stops: string[] = [];
  for (let nth = 0; nth < mostStops; nth += 1) {
    await page.keyboard.press('Tab');
    const stop = await page.evaluate(focusedName);
    stops.push(stop);
    if (typeof name === 'string' ? stop === name : name.test(stop)) return;
  }
  throw new Error(`no Tab reaches ${name}: ${[...new Set(stops)].join(', ')}`);
};
const press = async (page: Page, name: string | RegExp): Promise<void> => {
  await reach(page, name);
  await page.keyboard.press('Enter');
};
const undo = async (page: Page): Promise<void> => {
  await press(page, 'Undo');
  await shows(page, 'Undone.');
};

interface Task {
  readonly page: string;
  readonly path: () => string;
  /** A text or label of the page when it has been filled. */
  readonly ready: string;
  readonly task: (page: Page) => Promise<unknown>;
}

const tasks: readonly Task[] = [
  {
    page: 'Overview: filters by a page, reads the plot, and takes the filter out',
    path: () => '',
    ready: '/pricing',
    task: async (page) => {
      await press(page, '/pricing');
      await shows(page, 'Page is /pricing');
      await reach(page, 'People by day');
      await page.keyboard.press('End');
      await shows(page, / · People \d/);
      await press(page, 'Remove the condition: Page is /pricing');
      await page.getByText('Page is /pricing').waitFor({ state: 'detached' });
    },
  },
  {
    page: 'Overview: opens the menus, and closes them with Escape, with Tab and with a click elsewhere',
    path: () => '',
    ready: '/pricing',
    task: async (page) => {
      const open = (menu: string) => page.locator(`.${menu}-menu[open]`).count();
      await press(page, /^Account:/);
      await expect.poll(() => open('account'), soon).toBe(1);
      await reach(page, 'Another account …');
      await page.keyboard.press('Escape');
      expect(await open('account')).toBe(0);
      expect(await page.evaluate(focusedName)).toMatch(/^Account:/);
      await press(page, 'Views');
      await reach(page, 'Share this view …');
      expect(await open('views')).toBe(1);
      await reach(page, 'Segment');
      expect(await open('views')).toBe(0);
      await page.locator('.views-menu summary').click();
      expect(await open('views')).toBe(1);
      await page.getByRole('heading', { name: 'Pages' }).click();
      expect(await open('views')).toBe(0);
    },
  },
  {
    page: 'Live: opens an event, pauses, and goes on',
    path: () => 'live',
    ready: 'Page view',
    task: async (page) => {
      await press(page, 'Pause');
      await press(page, 'Go on');
      await press(page, 'Page view');
      await shows(page, /Nobody is known for this browser yet|The browser was linked to this contact/);
    },
  },
  {
    page: 'Events: breaks down, opens the people of a number, and closes them',
    path: () => 'events?by=attr:path',
    ready: 'All events by page',
    task: async (page) => {
      await press(page, /pricing: show the people$/);
      await page.getByRole('dialog').waitFor(soon);
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    },
  },
  {
    page: 'People: finds somebody and opens the page',
    path: () => 'people',
    ready: 'Ann Lemon',
    task: async (page) => {
      await reach(page, 'Name or e-mail address');
      // With a rest, after which the box puts what was typed into the address.
      await page.keyboard.type('ann ');
      await expect.poll(() => new URL(page.url()).searchParams.get('text'), soon).toBe('ann');
      await page.keyboard.type('lemon');
      await expect.poll(() => new URL(page.url()).searchParams.get('text'), soon).toBe('ann lemon');
      await expect.poll(() => page.locator('tbody tr').count(), soon).toBe(1);
      await press(page, /Ann Lemon/);
      await shows(page, 'Who this is');
    },
  },
  {
    page: 'A person: ignores a link, and undoes that',
    path: () => `person?contact=${who.ann}`,
    ready: 'Ignore this link',
    task: async (page) => {
      await press(page, 'Ignore this link');
      await shows(page, 'The link is ignored now');
      await undo(page);
    },
  },
  {
    page: 'Catalogue: renames an event, and undoes that',
    path: () => 'catalogue',
    ready: 'Page view',
    task: async (page) => {
      await press(page, 'Rename Page view');
      await page.keyboard.press('Control+A');
      await page.keyboard.type('Page seen');
      await page.keyboard.press('Enter');
      await shows(page, 'Page seen');
      await undo(page);
      expect((await shop.api.getAccount({})).account.event[0]?.eventName).toBe('Page view');
    },
  },
  {
    page: 'Catalogue: renames an event as another one, and is led to merging them',
    path: () => 'catalogue',
    ready: 'Page view',
    task: async (page) => {
      await press(page, 'Rename Purchased');
      await page.keyboard.press('Control+A');
      await page.keyboard.type('pageview');
      await page.keyboard.press('Enter');
      await shows(page, 'There is an event “Page view” already.');
      await press(page, 'Merge them …');
      await shows(page, 'All events “Purchased (2)” count as “Page view (1)”');
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await expect.poll(() => page.evaluate(focusedName), soon).toBe('Rename Purchased');
      expect((await shop.api.getAccount({})).account.event[1]?.eventName).toBe('Purchased');
    },
  },
  {
    page: 'Catalogue: merges two events, and undoes that',
    path: () => 'catalogue',
    ready: 'Page view',
    task: async (page) => {
      await press(page, 'Merge Purchased');
      await shows(page, 'All events “Purchased (2)” count as “Page view (1)”');
      await press(page, 'Merge');
      await shows(page, 'also Purchased (2)');
      expect((await shop.api.getAccount({})).account.event[1]?.mergedInto).toBe(1);
      await undo(page);
      expect((await shop.api.getAccount({})).account.event[1]?.mergedInto).toBeUndefined();
    },
  },
  {
    page: 'Settings: makes a token, and revokes it',
    path: () => 'settings',
    ready: 'Make a token …',
    task: async (page) => {
      await press(page, 'Make a token …');
      await reach(page, 'Name');
      await page.keyboard.type('By keys');
      await page.keyboard.press('Enter');
      await shows(page, 'By keys');
      await press(page, 'Revoke By keys');
      await press(page, 'Revoke for good');
      const revoked = async () => {
        const { token = [] } = (await shop.api.getAccount({})).account;
        return token.find(({ tokenName }) => tokenName === 'By keys')?.revokedTime !== undefined;
      };
      await expect.poll(revoked, soon).toBe(true);
    },
  },
  {
    page: 'Set up: names a site, and undoes that',
    path: () => 'set-up',
    ready: 'Origin of a site',
    task: async (page) => {
      await reach(page, 'Origin of a site');
      await page.keyboard.type('https://keys.example');
      await page.keyboard.press('Enter');
      await shows(page, 'Pages of https://keys.example may use the tag.');
      await undo(page);
      expect((await shop.api.getAccount({})).account.accountOrigin).toEqual([]);
    },
  },
];

it.each(tasks.map((each) => [each.page, each] as const))('%s', async (_, { path, ready, task }) => {
  const { page, signIn, complaints } = await openConsole(browser, shop);
  await signIn(shop.serverToken, path());
  await page.getByText(ready).or(page.getByLabel(ready)).first().waitFor(soon);
  await expect.poll(() => page.locator('[aria-busy=true]').count(), soon).toBe(0);
  await task(page);
  expect(complaints).toEqual([]);
});
