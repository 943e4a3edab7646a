/** What a test does in a tab of any engine: waits for texts, presses what it sees, fills fields in, and uses the keyboard. */
import { expect, vi } from 'vitest';
import type { Key, Tab } from '../../../../tracker/test/engines/engine.ts';
import { fill, focusedName, hasFocusMoved, noteFocus, press, textsOf, visibleText } from '../../fixtures/in-page.js';

/** No page has as many controls as that. */
const maxStops = 200;

export const sees = (tab: Tab, text: string | RegExp) => expect.poll(() => tab.run(visibleText)).toMatch(text);
export const seesNoMore = (tab: Tab, text: string) => expect.poll(() => tab.run(visibleText)).not.toContain(text);
/** How many elements match comes to be `count`. */
export const has = (tab: Tab, selector: string, count: number) =>
  expect.poll(async () => (await tab.run(textsOf, selector)).length).toBe(count);
export const presses = (tab: Tab, text: string) => expect.poll(() => tab.run(press, text)).toBe(true);
export const fills = (tab: Tab, field: string, text: string) =>
  expect.poll(() => tab.run(fill, field, text)).toBe(true);

export const signIn = async (tab: Tab, token: string): Promise<void> => {
  await presses(tab, 'Use a token instead');
  await fills(tab, '#token', token);
  await presses(tab, 'Sign in');
};

/** Goes on with Tab to the control of this name, unless it has the focus, as often as it takes; the page may still be filling. */
export const reach = async (tab: Tab, name: string | RegExp): Promise<void> => {
  const stops: string[] = [];
  for (let nth = 0; nth < maxStops; nth += 1) {
    const stop = String(await tab.run(focusedName));
    if (typeof name === 'string' ? stop === name : name.test(stop)) return;
    stops.push(stop);
    await tab.run(noteFocus);
    await tab.key('Tab');
    // A driver answers before a busy page has the key, and a second Tab would go too far. A page's only control keeps the focus.
    await vi.waitUntil(() => tab.run(hasFocusMoved), { timeout: 2_000, interval: 5 }).catch(() => {});
  }
  throw new Error(`no Tab reaches ${name}: ${[...new Set(stops)].join(', ')}`);
};
/** Goes on to a control, and presses a key there. */
export const keyOn = async (tab: Tab, name: string | RegExp, key: Key = 'Enter'): Promise<void> => {
  await reach(tab, name);
  await tab.key(key);
};
