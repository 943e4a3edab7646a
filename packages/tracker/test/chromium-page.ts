/** A page of a site with the snippet, in Chromium; the service is a recorder. Everything is new for each test. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, vi } from 'vitest';
import { buildTracker } from '../build/build.ts';
import { launchChromium } from './chromium.ts';
import { patienceMilliseconds } from './patience.ts';
import { fillSnippet, openRecorder, type Recorder } from './recorder.ts';

export const soon = <T>(look: () => T | Promise<T>) =>
  vi.waitFor(look, { timeout: patienceMilliseconds, interval: 25 });
export const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** The tracker as built now, in no folder that another test reads. */
export let folder: string;
let browser: Browser;
export let context: BrowserContext;
export let recorder: Recorder;
/** The site: localhost, where pages have Web Locks. The service is another origin, 127.0.0.1. */
export let site: string;
export let service: string;
export let consoleTexts: string[];
/** What the console was given: an argument for each part of a message. */
export let consoleArguments: Promise<unknown[]>[];
let pageErrors: unknown[];

const openContext = async (): Promise<BrowserContext> => {
  const made = await browser.newContext();
  made.on('weberror', (error) => pageErrors.push(error.error()));
  made.on('console', (message) => {
    consoleTexts.push(message.text());
    // In a page that is gone, there is nothing to read any more.
    const values = Promise.all(message.args().map((argument) => argument.jsonValue()));
    consoleArguments.push(values.catch(() => []));
  });
  return made;
};

/** Makes a page of the site that has the snippet, `before` its body and `after` it. Answers its URL. */
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

export const queuedIn = (page: Page) =>
  page.evaluate(() => Object.keys(localStorage).filter((key) => key.startsWith('firsthand:')).length);

/** Tests of a topic; after each, the page's own errors have to be none. */
export const describeInChromium = (topic: string, tests: () => void): void => {
  describe(topic, () => {
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'firsthand-tracker-'));
      await buildTracker(folder);
      browser = await launchChromium(
        // navigator.webdriver is false, as visitors have it.
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
