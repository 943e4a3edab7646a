/**
 * Takes screenshots of each console page in each state, size and color scheme, for a person to review. Also reports
 * problems that a program can detect.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { signInWith } from '../../browsers/console/sign-in.ts';
import { listPictureViews, type State, states, type View } from './console-views.ts';
import { findPageProblems, watchShifts } from './page-problems.ts';
import { refuseRequests } from './refuse-requests.ts';
import type { SampleServer } from './sample-server.ts';

const sizes = {
  laptop: { viewport: { width: 1440, height: 900 } },
  /** The smallest window that shows the full layout. */
  small: { viewport: { width: 1280, height: 800 } },
  phone: { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true },
} as const;
type Size = keyof typeof sizes;
const allSizes = Object.keys(sizes) as Size[];

/** A screenshot's maximum height, in CSS pixels. */
const maxHeight = 2_400;
const settleMs = 15_000;
const restMs = 250;

/** Waits until no part of the page is loading. Returns false after a timeout. */
export const settle = async (page: Page): Promise<boolean> => {
  const waiting = page.locator('.opening, .skeleton, [aria-busy=true]');
  const end = Date.now() + settleMs;
  while ((await waiting.count()) > 0 && Date.now() < end) await page.waitForTimeout(50);
  const isSettled = (await waiting.count()) === 0;
  // Waits for the plotting library, which loads when the first plot becomes visible.
  await page.waitForTimeout(restMs);
  return isSettled;
};

interface PictureOptions {
  readonly browser: Browser;
  readonly server: SampleServer;
  readonly folder: string;
  /** Takes only views whose names contain this text. */
  readonly only: string;
  readonly report: (line: string) => void;
}

/**
 * Makes the window as high as the page, so that fixed elements are at the edges of the page. Does nothing while a
 * dialog is open.
 */
const fitHeight = async (page: Page, size: Size): Promise<void> => {
  const { width, height } = sizes[size].viewport;
  const isCovered = (await page.locator('dialog[open]').count()) > 0;
  const whole = await page.evaluate<number>('document.documentElement.scrollHeight');
  await page.setViewportSize({ width, height: isCovered ? height : Math.min(Math.max(whole, height), maxHeight) });
};

const takeView = async (
  page: Page,
  { name, path, act }: View,
  size: Size,
  state: State,
  pictureOptions: PictureOptions,
) => {
  const { server, folder, report } = pictureOptions;
  await page.setViewportSize(sizes[size].viewport);
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  await page.goto('about:blank');
  await page.goto(`${server.url}/console/${path}`);
  const isSettled = await settle(page);
  const findings = await findPageProblems(page);
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
    report([file, ...(isSettled ? [] : ['still loading']), ...(colorScheme === 'light' ? findings : [])].join('  '));
  }
};

const takeState = async (state: State, size: Size, pictureOptions: PictureOptions): Promise<void> => {
  const { browser, server, only } = pictureOptions;
  const context = await browser.newContext({ ...sizes[size], locale: 'en-GB', timezoneId: 'UTC' });
  const page = await context.newPage();
  await watchShifts(page);
  const views = listPictureViews(server).filter(
    (view) => view.name.includes(only) && (view.only ?? states).includes(state),
  );
  const take = async (isSignedOut: boolean) => {
    for (const view of views)
      if ((view.isSignedOut ?? false) === isSignedOut) await takeView(page, view, size, state, pictureOptions);
  };
  await take(true);
  await page.goto(`${server.url}/console/`);
  await signInWith(page, state === 'empty' ? server.emptyToken : server.shopToken);
  if (state === 'error') await refuseRequests(page);
  await take(false);
  await context.close();
};

/** Writes the screenshots to the folder, as `page.size.state.scheme.png`. */
export const takeConsolePictures = async (pictureOptions: PictureOptions): Promise<void> => {
  mkdirSync(pictureOptions.folder, { recursive: true });
  for (const state of ['full', 'empty', 'error'] as const)
    for (const size of state === 'full' ? allSizes : allSizes.filter((size) => size !== 'small'))
      await takeState(state, size, pictureOptions);
};
