/** Takes the four screenshots of the sample shop's console for the README and the documentation. */
import { writeFileSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { signInWith } from '../../browsers/console/sign-in.ts';
import { settle } from './console-pictures.ts';
import type { SampleServer } from './sample-server.ts';
import { takeWebP } from './webp.ts';

interface DocumentationPicture {
  /** The name without its prefix: `overview` becomes `console-overview.webp`. */
  readonly name: string;
  readonly path: string;
  readonly viewport: { readonly width: number; readonly height: number };
  readonly isMobile?: boolean;
  readonly colorScheme?: 'dark';
  readonly act?: (page: Page) => Promise<unknown>;
}

/** The documentation shows screenshots at two thirds of their pixel size (`build/images.ts` in the docs). */
const deviceScaleFactor = 1.5;
const laptop = { width: 1280, height: 800 };

/** Collapses the newest sessions, and expands the anonymous sessions below the newest recognition. */
const unfoldRecognition = async (page: Page): Promise<void> => {
  const open = page.locator('.session-head[aria-expanded=true]');
  while ((await open.count()) > 0) await open.first().click();
  const anonymous = page.locator('.turn-recognition ~ .session-anonymous .session-head');
  for (const nth of [0, 1]) await anonymous.nth(nth).click();
  await page.mouse.move(0, 0);
  await page.evaluate('document.activeElement.blur(), scrollTo(0, 0)');
};

const listPictures = ({ ada }: SampleServer): readonly DocumentationPicture[] => [
  { name: 'overview', path: '', viewport: laptop },
  { name: 'person', path: `person?contact=${ada}`, viewport: laptop, act: unfoldRecognition },
  { name: 'phone', path: '', viewport: { width: 390, height: 844 }, isMobile: true },
  { name: 'funnel-dark', path: 'events?tab=funnel&steps=2,3,4,5', viewport: laptop, colorScheme: 'dark' },
];

/** Writes `console-….webp` to the folder. */
export const takeDocumentationPictures = async (browser: Browser, server: SampleServer, images: URL): Promise<void> => {
  for (const { name, path, viewport, isMobile = false, colorScheme = 'light', act } of listPictures(server)) {
    const context = await browser.newContext({
      viewport,
      deviceScaleFactor,
      isMobile,
      hasTouch: isMobile,
      colorScheme,
      reducedMotion: 'reduce',
      locale: 'en-GB',
      timezoneId: 'UTC',
    });
    const page = await context.newPage();
    await page.goto(`${server.url}/console/${path}`);
    await signInWith(page, server.shopToken);
    await settle(page);
    await act?.(page);
    await settle(page);
    writeFileSync(new URL(`console-${name}.webp`, images), await takeWebP(page));
    await context.close();
  }
};
