/**
 * Opens a page with the snippet in Chromium, and a recorder in place of the service. Each test gets its own page and
 * recorder.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, vi } from 'vitest';
import { buildTracker } from '../build/build.ts';
import { launchChromium } from './chromium.ts';
import { fillSnippet, openRecorder, type Recorder } from './recorder.ts';
import { testTimeoutMilliseconds } from './test-timeout.ts';

export const waitFor = <T>(check: () => T | Promise<T>) =>
  vi.waitFor(check, { timeout: testTimeoutMilliseconds, interval: 25 });
export const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** The tracker's current build, in a folder that no other test reads. */
export let folder: string;
let browser: Browser;
export let context: BrowserContext;
export let recorder: Recorder;
/** The site is localhost, where pages have Web Locks. The service is another origin, 127.0.0.1. */
export let site: string;
export let service: string;
export let consoleTexts: string[];
/** Each console message's arguments. */
export let consoleArguments: Promise<unknown[]>[];
let pageErrors: unknown[];

const openContext = async (): Promise<BrowserContext> => {
  const opened = await browser.newContext();
  opened.on('weberror', (error) => pageErrors.push(error.error()));
  opened.on('console', (message) => {
    consoleTexts.push(message.text());
    // Ignores errors, because the arguments of a closed page can't be read.
    const values = Promise.all(message.args().map((argument) => argument.jsonValue()));
    consoleArguments.push(values.catch(() => []));
  });
  return opened;
};

/** Publishes a page that contains `before`, the snippet and `after`, in this order. Returns its URL. */
export const publish = (
  path: string,
  { before = '', after = '', attributes = '', headers = {}, script = 'tracker.js', at = site } = {},
): string => {
  const html = `<!doctype html><meta charset="utf-8"><head>${before}${fillSnippet(`${service}/${script}`, attributes)}</head><body>${after}</body>`;
  recorder.pages[path] = { html, headers };
  return at + path;
};

export const openPage = async (url: string): Promise<Page> => {
  const page = await context.newPage();
  await page.goto(url);
  await page.waitForFunction(() => Object.hasOwn((window as unknown as { tracker: object }).tracker, 'push'));
  return page;
};

export const logAll = (page: Page, eventIDs: number[]) =>
  page.evaluate((eventIDs) => {
    for (const eventID of eventIDs)
      (window as unknown as { tracker: { log(eventID: number): void } }).tracker.log(eventID);
  }, eventIDs);

export const countQueued = (page: Page) =>
  page.evaluate(() => Object.keys(localStorage).filter((key) => key.startsWith('firsthand:')).length);

/** Describes tests that fail if the page itself reports an error. */
export const describeInChromium = (subject: string, tests: () => void): void => {
  describe(subject, () => {
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'firsthand-tracker-'));
      await buildTracker(folder);
      browser = await launchChromium(
        // Makes navigator.webdriver false, as it is for visitors.
        '--disable-blink-features=AutomationControlled',
        '--host-resolver-rules=MAP *.example 127.0.0.1',
      );
    });

    afterAll(async () => {
      await browser?.close();
      await rm(folder, { recursive: true });
    });

    beforeEach(async () => {
      pageErrors = [];
      consoleTexts = [];
      consoleArguments = [];
      recorder = await openRecorder(folder);
      site = `http://localhost:${recorder.port}`;
      service = `http://127.0.0.1:${recorder.port}`;
      context = await openContext();
    });

    afterEach(async () => {
      await context.close();
      await recorder.down();
      expect(pageErrors).toEqual([]);
    });

    tests();
  });
};
