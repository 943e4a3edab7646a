/** What a test does in a tab of any engine: waits for texts, presses what it sees, fills fields in, and uses the keyboard. */
import { expect } from 'vitest';
import type { Key, Tab } from '../../../../tracker/test/engines/engine.ts';
import { fill, focusedName, press, textsOf, visibleText } from '../../fixtures/in-page.js';

/** On a busy machine, too. */
export const soon = { timeout: 60_000 };
/** No page has as many controls as that. */
const mostStops = 200;

export const sees = (tab: Tab, text: string | RegExp) => expect.poll(() => tab.run(visibleText), soon).toMatch(text);
export const seesNoMore = (tab: Tab, text: string) => expect.poll(() => tab.run(visibleText), soon).not.toContain(text);
/** How many elements match comes to be `count`. */
export const has = (tab: Tab, selector: string, count: number) =>
  expect.poll(async () => (await tab.run(textsOf, selector)).length, soon).toBe(count);
export const presses = (tab: Tab, text: string) => expect.poll(() => tab.run(press, text), soon).toBe(true);
export const fills = (tab: Tab, field: string, text: string) =>
  expect.poll(() => tab.run(fill, field, text), soon).toBe(true);

export const signIn = async (tab: Tab, token: string): Promise<void> => {
  await fills(tab, '#token', token);
  await presses(tab, 'Sign in');
};

/** Goes on with Tab to the control of this name, unless it has the focus, as often as it takes; the page may still be filling. */
export const reach = async (tab: Tab, name: string | RegExp): Promise<void> => {
  const stops: string[] = [];
  for (let nth = 0; nth < mostStops; nth += 1) {
    const stop = String(await tab.run(focusedName));
    if (typeof name === 'string' ? stop === name : name.test(stop)) return;
    stops.push(stop);
    await tab.key('Tab');
  }
  throw new Error(`no Tab reaches ${name}: ${[...new Set(stops)].join(', ')}`);
};
/** Goes on to a control, and presses a key there. */
export const keyOn = async (tab: Tab, name: string | RegExp, key: Key = 'Enter'): Promise<void> => {
  await reach(tab, name);
  await tab.key(key);
};
