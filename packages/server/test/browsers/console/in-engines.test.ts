/** The console in Chromium, Firefox and WebKit: signing in, each page, undoing a wrong link, going back, signing out. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Session, Tab } from '../../../../tracker/test/engines/engine.ts';
import { describeEngines } from '../../../../tracker/test/engines/engines.ts';
import { fill, goBack, isDrawn, press, stored, visibleText } from '../../fixtures/in-page.js';
import { fillShop, openShop, type Shop } from './shop.ts';

/** On a busy machine, too. */
const soon = { timeout: 60_000 };

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

const sees = (tab: Tab, text: string) => expect.poll(() => tab.run(visibleText), soon).toContain(text);
const presses = (tab: Tab, text: string) => expect.poll(() => tab.run(press, text), soon).toBe(true);
const signIn = async (tab: Tab, token: string) => {
  await expect.poll(() => tab.run(fill, '#token', token), soon).toBe(true);
  await presses(tab, 'Sign in');
};

describeEngines('the console', (engine) => {
  let session: Session;
  beforeAll(async () => {
    session = await engine.launch();
  });
  afterAll(() => session?.close());

  test('signs in, shows each page, undoes a wrong link, goes back, and signs out', async () => {
    const tab = await session.openTab(`${shop.url}/console/`);
    await signIn(tab, shop.browserToken);
    await sees(tab, 'this one is a browser token');
    await signIn(tab, shop.serverToken);
    await sees(tab, 'Overview');
    const { people } = (
      await shop.api.reportTotals({ from: new Date(Date.now() - 29 * 86_400_000).toISOString().slice(0, 10) })
    ).total;
    await sees(tab, `People\n${people}`);
    await expect.poll(() => tab.run(isDrawn), soon).toBe(true);
    expect(await tab.run(stored)).toBe('[{},{},""]');

    await presses(tab, 'Live');
    await sees(tab, 'people in the last five minutes');
    await shop.api.logEvent({ userUUID: 'visitor-number-1', eventName: `Seen in ${engine.name}` });
    await sees(tab, `Seen in ${engine.name}`);

    await presses(tab, 'People');
    await presses(tab, 'Ann Lemon');
    await sees(tab, 'Recognized: the anonymous history of this browser became theirs');
    const owner = async () => (await shop.api.getEvent({ userUUID: 'the-phone-of-ben' })).event[0]?.contactUUID;
    expect(await owner()).toBe(who.ann);
    await presses(tab, 'Ignore this link');
    await sees(tab, 'The link is ignored now');
    expect(await owner()).toBe('');
    await presses(tab, 'Undo');
    await sees(tab, 'Undone.');
    expect(await owner()).toBe(who.ann);

    await presses(tab, 'Set up');
    await sees(tab, `data-token="${shop.browserToken}"`);
    await sees(tab, 'Events arrive');
    await tab.run(goBack);
    await sees(tab, 'Ann Lemon');
    await tab.goto(`${shop.url}/console/people?list=everybody`);
    await sees(tab, 'Visitor mber-1');
    await presses(tab, 'Sign out');
    await sees(tab, 'Sign in to Firsthand');
  });
});
