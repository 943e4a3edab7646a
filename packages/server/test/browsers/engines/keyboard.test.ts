/** The main task of each page, done and undone by somebody who has a keyboard only, in Chromium, Firefox and WebKit. */
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { Session, Tab } from '../../../../tracker/test/engines/engine.ts';
import { describeEngines } from '../../../../tracker/test/engines/engines.ts';
import { address, clickAll, focusedName, noteProblems, pointDown, problems } from '../../fixtures/in-page.js';
import { has, keyOn, reach, sees, seesNoMore } from '../console/in-tab.ts';
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
  await keyOn(tab, 'Undo');
  await sees(tab, 'Undone.');
};
const searched = async (tab: Tab) => new URL(String(await tab.run(address))).searchParams.get('text');

interface Task {
  readonly page: string;
  readonly path: () => string;
  /** A text or label of the page when it has been filled. */
  readonly ready: string;
  readonly task: (tab: Tab) => Promise<unknown>;
}

const tasks: readonly Task[] = [
  {
    page: 'Overview: filters by a page, reads the plot, and takes the filter out',
    path: () => '',
    ready: 'People by day',
    task: async (tab) => {
      await keyOn(tab, '/pricing');
      await sees(tab, 'Page is /pricing');
      await reach(tab, 'People by day');
      await tab.key('ArrowRight');
      await sees(tab, / · People \d/);
      await keyOn(tab, 'Remove the condition: Page is /pricing');
      await seesNoMore(tab, 'Page is /pricing');
    },
  },
  {
    page: 'Overview: opens the menus, and closes them with Escape, with Tab and with a click elsewhere',
    path: () => '',
    ready: 'People by day',
    task: async (tab) => {
      await keyOn(tab, /^Account:/);
      await has(tab, '.account-menu[open]', 1);
      await keyOn(tab, 'Another account …', 'Escape');
      await has(tab, '.account-menu[open]', 0);
      expect(await tab.run(focusedName)).toMatch(/^Account:/);
      await keyOn(tab, 'Views');
      await reach(tab, 'Share this view …');
      await has(tab, '.views-menu[open]', 1);
      await reach(tab, 'Segment');
      await has(tab, '.views-menu[open]', 0);
      await tab.run(clickAll, '.views-menu summary');
      await has(tab, '.views-menu[open]', 1);
      await tab.run(pointDown, 'h1');
      await has(tab, '.views-menu[open]', 0);
    },
  },
  {
    page: 'Live: opens an event, pauses, and goes on',
    path: () => 'live',
    ready: 'Page view',
    task: async (tab) => {
      await keyOn(tab, 'Pause');
      await keyOn(tab, 'Resume');
      await keyOn(tab, 'Page view');
      await sees(tab, /This browser does not belong to a contact yet|The browser was linked to this contact/);
    },
  },
  {
    page: 'Events: breaks down, opens the people of a number, and closes them',
    path: () => 'events?by=attr:path',
    ready: 'All events by page',
    task: async (tab) => {
      await keyOn(tab, /pricing: show the people$/);
      await has(tab, 'dialog[open]', 1);
      await tab.key('Escape');
      await has(tab, 'dialog[open]', 0);
    },
  },
  {
    page: 'People: finds somebody and opens the page',
    path: () => 'people',
    ready: 'Ann Lemon',
    task: async (tab) => {
      await reach(tab, 'Name or e-mail address');
      // With a rest, after which the box puts what was typed into the address.
      await tab.type('ann ');
      await expect.poll(() => searched(tab)).toBe('ann');
      await tab.type('lemon');
      await expect.poll(() => searched(tab)).toBe('ann lemon');
      await has(tab, 'tbody tr', 1);
      await keyOn(tab, /^(?!Choose )[\s\S]*Ann Lemon/);
      await sees(tab, 'Who this is');
    },
  },
  {
    page: 'A person: ignores a link, and undoes that',
    path: () => `person?contact=${who.ann}`,
    ready: 'Ignore this link',
    task: async (tab) => {
      const owner = async () => (await shop.api.getEvent({ userUUID: 'the-phone-of-ben' })).event[0]?.contactUUID;
      await keyOn(tab, 'Ignore this link');
      await sees(tab, 'Link ignored.');
      expect(await owner()).toBe('');
      await undo(tab);
      expect(await owner()).toBe(who.ann);
    },
  },
  {
    page: 'A person: unlinks a browser that was never theirs, and undoes that',
    path: () => `person?contact=${who.ann}`,
    ready: 'Ignore this link',
    task: async (tab) => {
      const owner = async () => (await shop.api.getEvent({ userUUID: 'the-phone-of-ben' })).event[0]?.contactUUID;
      await keyOn(tab, /^Unlink Visitor of-ben/);
      await reach(tab, /^From now on/);
      await tab.key('ArrowDown');
      await keyOn(tab, 'Unlink');
      await sees(tab, 'Link ignored.');
      expect(await owner()).toBe('');
      await undo(tab);
      expect(await owner()).toBe(who.ann);
    },
  },
  {
    page: 'Catalogue: renames an event, and undoes that',
    path: () => 'catalogue',
    ready: 'Page view',
    task: async (tab) => {
      await keyOn(tab, 'Rename Page view');
      await tab.type('Page seen');
      await tab.key('Enter');
      await sees(tab, 'Page seen');
      await undo(tab);
      expect((await shop.api.getAccount({})).account.event[0]?.eventName).toBe('Page view');
    },
  },
  {
    page: 'Catalogue: renames an event as another one, and is led to merging them',
    path: () => 'catalogue',
    ready: 'Page view',
    task: async (tab) => {
      await keyOn(tab, 'Rename Purchased');
      await tab.type('pageview');
      await tab.key('Enter');
      await sees(tab, 'There is an event “Page view” already.');
      await keyOn(tab, 'Merge them …');
      await sees(tab, 'All events “Purchased (2)” count as “Page view (1)”');
      await tab.key('Escape');
      await has(tab, 'dialog[open]', 0);
      await expect.poll(() => tab.run(focusedName)).toBe('Rename Purchased');
      expect((await shop.api.getAccount({})).account.event[1]?.eventName).toBe('Purchased');
    },
  },
  {
    page: 'Catalogue: merges two events, and undoes that',
    path: () => 'catalogue',
    ready: 'Page view',
    task: async (tab) => {
      await keyOn(tab, 'Merge Purchased');
      await sees(tab, 'All events “Purchased (2)” count as “Page view (1)”');
      await keyOn(tab, 'Merge');
      await sees(tab, 'also Purchased (2)');
      expect((await shop.api.getAccount({})).account.event[1]?.mergedInto).toBe(1);
      await undo(tab);
      expect((await shop.api.getAccount({})).account.event[1]?.mergedInto).toBeUndefined();
    },
  },
  {
    page: 'Settings: makes a token, and revokes it',
    path: () => 'settings',
    ready: 'Create a token …',
    task: async (tab) => {
      await keyOn(tab, 'Create a token …');
      await reach(tab, 'Name');
      await tab.type('By keys');
      await tab.key('Enter');
      await sees(tab, 'By keys');
      await keyOn(tab, 'Revoke By keys');
      await keyOn(tab, 'Revoke for good');
      const revoked = async () => {
        const { token = [] } = (await shop.api.getAccount({})).account;
        const made = token.filter(({ tokenName }) => tokenName === 'By keys');
        return made.length > 0 && made.every(({ revokedTime }) => revokedTime !== undefined);
      };
      await expect.poll(revoked).toBe(true);
    },
  },
  {
    page: 'Set up: names a site, and undoes that',
    path: () => 'set-up',
    ready: 'Sites',
    task: async (tab) => {
      await reach(tab, 'Origin of a site');
      await tab.type('https://keys.example');
      await tab.key('Enter');
      await sees(tab, 'Pages of https://keys.example may use the tag.');
      await undo(tab);
      expect((await shop.api.getAccount({})).account.accountOrigin).toEqual([]);
    },
  },
];

describeEngines('by keys', (engine) => {
  let session: Session;
  beforeAll(async () => {
    session = await engine.launch();
  });
  afterAll(() => session?.close());

  /** In a tab of its own: Firefox under test lets no key press a button once a page has taken an arrow key for itself. */
  const open = async (path: string): Promise<Tab> => {
    const tab = await session.openTab(`${shop.url}/console/${path}`);
    onTestFinished(() => tab.close());
    return tab;
  };

  test('Sign in: takes a token', async () => {
    const tab = await open('');
    await keyOn(tab, 'Use a token instead');
    await reach(tab, 'Server token or viewer token');
    await tab.type(shop.serverToken);
    await tab.key('Enter');
    await sees(tab, 'Overview');
  });

  test.each(tasks.map((each) => [each.page, each] as const))('%s', async (_, { path, ready, task }) => {
    const tab = await open(path());
    await sees(tab, ready);
    await has(tab, '[aria-busy=true]', 0);
    await tab.run(noteProblems);
    await task(tab);
    expect(await tab.run(problems)).toEqual([]);
  });
});
