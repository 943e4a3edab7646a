/** Tests each page's main task, with the keyboard alone, in Chromium, Firefox and WebKit. */
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { Session, Tab } from '../../../../tracker/test/engines/engine.ts';
import { describeEngines } from '../../../../tracker/test/engines/engines.ts';
import { address, clickAll, focusedName, pointDown, problems, recordProblems } from '../../fixtures/in-page.js';
import { pressOn, tabTo, waitForCount, waitForNoText, waitForText } from '../console/in-tab.ts';
import { fillShop, openShop, type Shop } from '../console/shop.ts';

let shop: Shop;
let who: Awaited<ReturnType<typeof fillShop>>;
const ends: (() => unknown)[] = [];
beforeAll(async () => {
  shop = await openShop((end) => ends.push(end));
  who = await fillShop(shop);
});
afterAll(async () => {
  for (const end of ends.toReversed()) await end();
});

const undo = async (tab: Tab): Promise<void> => {
  await pressOn(tab, 'Undo');
  await waitForText(tab, 'Undone.');
};
const readSearchText = async (tab: Tab) => new URL(String(await tab.run(address))).searchParams.get('text');

interface Task {
  readonly title: string;
  readonly path: () => string;
  /** A text or label that appears once the page has loaded. */
  readonly ready: string;
  readonly task: (tab: Tab) => Promise<unknown>;
}

const tasks: readonly Task[] = [
  {
    title: 'filters Overview by a page, reads the plot, and removes the filter',
    path: () => '',
    ready: 'People by day',
    task: async (tab) => {
      await pressOn(tab, '/pricing');
      await waitForText(tab, 'Page is /pricing');
      await tabTo(tab, 'People by day');
      await tab.key('ArrowRight');
      await waitForText(tab, / · People \d/);
      await pressOn(tab, 'Remove the condition: Page is /pricing');
      await waitForNoText(tab, 'Page is /pricing');
    },
  },
  {
    title: 'opens the menus of Overview, and closes them with Escape, Tab and a click elsewhere',
    path: () => '',
    ready: 'People by day',
    task: async (tab) => {
      await pressOn(tab, /^Account:/);
      await waitForCount(tab, '.account-menu[open]', 1);
      await pressOn(tab, 'Sign in to another account…', 'Escape');
      await waitForCount(tab, '.account-menu[open]', 0);
      expect(await tab.run(focusedName)).toMatch(/^Account:/);
      await pressOn(tab, 'Views');
      await tabTo(tab, 'Share this view…');
      await waitForCount(tab, '.views-menu[open]', 1);
      await tabTo(tab, 'Segment');
      await waitForCount(tab, '.views-menu[open]', 0);
      await tab.run(clickAll, '.views-menu summary');
      await waitForCount(tab, '.views-menu[open]', 1);
      await tab.run(pointDown, 'h1');
      await waitForCount(tab, '.views-menu[open]', 0);
    },
  },
  {
    title: 'pauses and resumes Live, and expands an event',
    path: () => 'live',
    ready: 'Page view',
    task: async (tab) => {
      await pressOn(tab, 'Pause');
      await pressOn(tab, 'Resume');
      await pressOn(tab, 'Page view');
      await waitForText(tab, /This browser does not belong to a contact yet|The browser was linked to this contact/);
    },
  },
  {
    title: 'opens and closes the people behind a number on Events',
    path: () => 'events?by=attr:path',
    ready: 'All events by page',
    task: async (tab) => {
      await pressOn(tab, /pricing: show the people$/);
      await waitForCount(tab, 'dialog[open]', 1);
      await tab.key('Escape');
      await waitForCount(tab, 'dialog[open]', 0);
    },
  },
  {
    title: 'finds a person on People and opens the page',
    path: () => 'people',
    ready: 'Ann Lemon',
    task: async (tab) => {
      await tabTo(tab, 'Name or e-mail address');
      // Pauses between words, so that the search box updates the URL.
      await tab.type('ann ');
      await expect.poll(() => readSearchText(tab)).toBe('ann');
      await tab.type('lemon');
      await expect.poll(() => readSearchText(tab)).toBe('ann lemon');
      await waitForCount(tab, 'tbody tr', 1);
      await pressOn(tab, /^(?!Select )[\s\S]*Ann Lemon/);
      await waitForText(tab, 'Details');
    },
  },
  {
    title: 'ignores one of a person’s links, and undoes that',
    path: () => `person?contact=${who.ann}`,
    ready: 'Ignore this link',
    task: async (tab) => {
      const owner = async () => (await shop.api.getEvent({ userUUID: 'the-phone-of-ben' })).event[0]?.contactUUID;
      await pressOn(tab, 'Ignore this link');
      await waitForText(tab, 'Link ignored.');
      expect(await owner()).toBe('');
      await undo(tab);
      expect(await owner()).toBe(who.ann);
    },
  },
  {
    title: 'unlinks a person’s browser retroactively, and undoes that',
    path: () => `person?contact=${who.ann}`,
    ready: 'Ignore this link',
    task: async (tab) => {
      const owner = async () => (await shop.api.getEvent({ userUUID: 'the-phone-of-ben' })).event[0]?.contactUUID;
      await pressOn(tab, /^Unlink Visitor of-ben/);
      await tabTo(tab, /^From now on/);
      await tab.key('ArrowDown');
      await pressOn(tab, 'Unlink');
      await waitForText(tab, 'Link ignored.');
      expect(await owner()).toBe('');
      await undo(tab);
      expect(await owner()).toBe(who.ann);
    },
  },
  {
    title: 'renames an event in the catalogue, and undoes it',
    path: () => 'catalogue',
    ready: 'Page view',
    task: async (tab) => {
      await pressOn(tab, 'Rename Page view');
      await tab.type('Page seen');
      await tab.key('Enter');
      await waitForText(tab, 'Page seen');
      await undo(tab);
      expect((await shop.api.getAccount({})).account.event[0]?.eventName).toBe('Page view');
    },
  },
  {
    title: 'offers to merge two events when one is given the other’s name',
    path: () => 'catalogue',
    ready: 'Page view',
    task: async (tab) => {
      await pressOn(tab, 'Rename Purchased');
      await tab.type('pageview');
      await tab.key('Enter');
      await waitForText(tab, 'There is already an event named “Page view”.');
      await pressOn(tab, 'Merge them…');
      await waitForText(tab, 'All “Purchased (2)” events count as “Page view (1)”');
      await tab.key('Escape');
      await waitForCount(tab, 'dialog[open]', 0);
      await expect.poll(() => tab.run(focusedName)).toBe('Rename Purchased');
      expect((await shop.api.getAccount({})).account.event[1]?.eventName).toBe('Purchased');
    },
  },
  {
    title: 'merges two events in the catalogue, and undoes it',
    path: () => 'catalogue',
    ready: 'Page view',
    task: async (tab) => {
      await pressOn(tab, 'Merge Purchased');
      await waitForText(tab, 'All “Purchased (2)” events count as “Page view (1)”');
      await pressOn(tab, 'Merge');
      await waitForText(tab, 'also Purchased (2)');
      expect((await shop.api.getAccount({})).account.event[1]?.mergedInto).toBe(1);
      await undo(tab);
      expect((await shop.api.getAccount({})).account.event[1]?.mergedInto).toBeUndefined();
    },
  },
  {
    title: 'creates a token in Settings, and revokes it',
    path: () => 'settings',
    ready: 'Create a token…',
    task: async (tab) => {
      await pressOn(tab, 'Create a token…');
      await tabTo(tab, 'Name');
      await tab.type('By keys');
      await tab.key('Enter');
      await waitForText(tab, 'By keys');
      await pressOn(tab, 'Revoke By keys');
      await pressOn(tab, 'Revoke token');
      const revoked = async () => {
        const { token = [] } = (await shop.api.getAccount({})).account;
        const created = token.filter(({ tokenName }) => tokenName === 'By keys');
        return created.length > 0 && created.every(({ revokedTime }) => revokedTime !== undefined);
      };
      await expect.poll(revoked).toBe(true);
    },
  },
  {
    title: 'adds a site in Set up, and undoes it',
    path: () => 'set-up',
    ready: 'Sites',
    task: async (tab) => {
      await tabTo(tab, 'Site');
      await tab.type('https://keys.example');
      await tab.key('Enter');
      await waitForText(tab, 'Pages on https://keys.example may now use the tag.');
      await undo(tab);
      expect((await shop.api.getAccount({})).account.accountOrigin).toEqual([]);
    },
  },
];

describeEngines('the console, operated by keyboard', (engine) => {
  let session: Session;
  beforeAll(async () => {
    session = await engine.launch();
  });
  afterAll(() => session?.close());

  /**
   * Uses a new tab, because in Firefox under test, keys no longer press buttons once a page has handled an arrow key.
   */
  const open = async (path: string): Promise<Tab> => {
    const tab = await session.openTab(`${shop.url}/console/${path}`);
    onTestFinished(() => tab.close());
    return tab;
  };

  test('signs in with a token', async () => {
    const tab = await open('');
    await pressOn(tab, 'Use a token instead');
    await tabTo(tab, 'Server token or viewer token');
    await tab.type(shop.serverToken);
    await tab.key('Enter');
    await waitForText(tab, 'Overview');
  });

  test.each(tasks.map((each) => [each.title, each] as const))('%s', async (_, { path, ready, task }) => {
    const tab = await open(path());
    await waitForText(tab, ready);
    await waitForCount(tab, '[aria-busy=true]', 0);
    await tab.run(recordProblems);
    await task(tab);
    expect(await tab.run(problems)).toEqual([]);
  });
});
