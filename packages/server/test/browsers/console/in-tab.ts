/** Test actions in a tab of any engine: wait for text, click, fill in fields, and use the keyboard. */
import { expect, vi } from 'vitest';
import type { Key, Tab } from '../../../../tracker/test/engines/engine.ts';
import { fill, focusedName, hasFocusMoved, press, recordFocus, textsOf, visibleText } from '../../fixtures/in-page.js';

/** The maximum number of tab stops: more than any page has controls. */
const maxStops = 200;

export const waitForText = (tab: Tab, text: string | RegExp) => expect.poll(() => tab.run(visibleText)).toMatch(text);
export const waitForNoText = (tab: Tab, text: string) => expect.poll(() => tab.run(visibleText)).not.toContain(text);
/** Waits until exactly `count` elements match. */
export const waitForCount = (tab: Tab, selector: string, count: number) =>
  expect.poll(async () => (await tab.run(textsOf, selector)).length).toBe(count);
export const clickText = (tab: Tab, text: string) => expect.poll(() => tab.run(press, text)).toBe(true);
export const fillField = (tab: Tab, field: string, text: string) =>
  expect.poll(() => tab.run(fill, field, text)).toBe(true);

export const signIn = async (tab: Tab, token: string): Promise<void> => {
  await clickText(tab, 'Use a token instead');
  await fillField(tab, '#token', token);
  await clickText(tab, 'Sign in');
};

/** Presses Tab until the control with this name has focus. The page may still be loading. */
export const tabTo = async (tab: Tab, name: string | RegExp): Promise<void> => {
  const stops: string[] = [];
  for (let nth = 0; nth < maxStops; nth += 1) {
    const stop = String(await tab.run(focusedName));
    if (typeof name === 'string' ? stop === name : name.test(stop)) return;
    stops.push(stop);
    await tab.run(recordFocus);
    await tab.key('Tab');
    // Waits for the focus to move: drivers return before a busy page has handled the key, and a second Tab would go too
    // far. If there is only one control, it keeps focus.
    await vi.waitUntil(() => tab.run(hasFocusMoved), { timeout: 2_000, interval: 5 }).catch(() => {});
  }
  throw new Error(`no Tab reaches ${name}: ${[...new Set(stops)].join(', ')}`);
};
/** Focuses a control with Tab, then presses a key. */
export const pressOn = async (tab: Tab, name: string | RegExp, key: Key = 'Enter'): Promise<void> => {
  await tabTo(tab, name);
  await tab.key(key);
};
