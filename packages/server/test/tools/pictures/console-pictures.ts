/**
 * Pictures of each page of the console in each state, size and color scheme, to be looked at one by one. What a program can see of a
 * page is found here too: whether it scrolls sideways, and whether its parts move while it fills.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { signInWith } from '../../browsers/console/signing-in.ts';
import { type State, states, type View, viewsOf } from './console-views.ts';
import type { PicturedServer } from './pictured-server.ts';
import { refuseRequests } from './refusing.ts';
import { findingsOf, watchShifts } from './seen-by-program.ts';

const sizes = {
  laptop: { viewport: { width: 1440, height: 900 } },
  /** The narrowest window in which everything has its usual place. */
  small: { viewport: { width: 1280, height: 800 } },
  phone: { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true },
} as const;
type Size = keyof typeof sizes;
const allSizes = Object.keys(sizes) as Size[];

/** A page is pictured down to here, in CSS pixels. */
const maxHeight = 2_400;
const settleMs = 15_000;
const restMs = 250;

/** Waits until no part of the page waits for an answer. Resolves with whether that came in time. */
export const settle = async (page: Page): Promise<boolean> => {
  const waiting = page.locator('.opening, .skeleton, [aria-busy=true]');
  const end = Date.now() + settleMs;
  while ((await waiting.count()) > 0 && Date.now() < end) await page.waitForTimeout(50);
  const isSettled = (await waiting.count()) === 0;
  // Plots are drawn by a library that is loaded when the first one is seen.
  await page.waitForTimeout(restMs);
  return isSettled;
};

interface Taking {
  readonly browser: Browser;
  readonly server: PicturedServer;
  readonly folder: string;
  /** Only views whose names have this text. */
  readonly only: string;
  readonly report: (line: string) => void;
}

/** Makes the window as high as the page, as far as nothing lies over it, so that what is fixed to its edges is where it belongs. */
const fitHeight = async (page: Page, size: Size): Promise<void> => {
  const { width, height } = sizes[size].viewport;
  const isCovered = (await page.locator('dialog[open]').count()) > 0;
  const whole = await page.evaluate<number>('document.documentElement.scrollHeight');
  await page.setViewportSize({ width, height: isCovered ? height : Math.min(Math.max(whole, height), maxHeight) });
};

const takeView = async (page: Page, { name, path, act }: View, size: Size, state: State, taking: Taking) => {
  const { server, folder, report } = taking;
  await page.setViewportSize(sizes[size].viewport);
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  await page.goto('about:blank');
  await page.goto(`${server.url}/console/${path}`);
  const isSettled = await settle(page);
  const findings = await findingsOf(page);
  if (act) {
    await act(page);
    await settle(page);
  }
  await fitHeight(page, size);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await page.waitForTimeout(restMs);
    const file = `${name}.${size}.${state}.${colorScheme}.png`;
    await page.screenshot({ path: join(folder, file) });
    report([file, ...(isSettled ? [] : ['still waits']), ...(colorScheme === 'light' ? findings : [])].join('  '));
  }
};

const takeState = async (state: State, size: Size, taking: Taking): Promise<void> => {
  const { browser, server, only } = taking;
  const context = await browser.newContext({ ...sizes[size], locale: 'en-GB', timezoneId: 'UTC' });
  const page = await context.newPage();
  await watchShifts(page);
  const views = viewsOf(server).filter((view) => view.name.includes(only) && (view.only ?? states).includes(state));
  const take = async (isOutside: boolean) => {
    for (const view of views)
      if ((view.isOutside ?? false) === isOutside) await takeView(page, view, size, state, taking);
  };
  await take(true);
  await page.goto(`${server.url}/console/`);
  await signInWith(page, state === 'empty' ? server.emptyToken : server.shopToken);
  if (state === 'error') await refuseRequests(page);
  await take(false);
  await context.close();
};

/** Writes the pictures to the folder: `page.size.state.scheme.png`. */
export const takeConsolePictures = async (taking: Taking): Promise<void> => {
  mkdirSync(taking.folder, { recursive: true });
  for (const state of ['full', 'empty', 'error'] as const)
    for (const size of state === 'full' ? allSizes : allSizes.filter((size) => size !== 'small'))
      await takeState(state, size, taking);
};
