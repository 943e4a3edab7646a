/** Opens a site built from a guide's code blocks in Chromium, with a server at its path /s/. */
import { type Client, createClient } from '@firsthand/client';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished } from 'vitest';
import { launchChromium } from '../../../tracker/test/chromium.ts';
import { type Block, readBlocks, runBlock } from '../fixtures/documents/guides.ts';
import { createAccount, serveHere } from '../fixtures/serving.ts';

/** A headless browser's default User-Agent would be marked as a bot. */
const userAgent =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';

/** The placeholders that all guides use. */
const siteOrigin = 'https://shop.example';
const browserToken = 'browser_…';

export interface GuideSite {
  /** `http://127.0.0.1:…`, which replaces https://shop.example. */
  readonly origin: string;
  readonly api: Client;
  readonly context: BrowserContext;
  /** The environment variables that all guides use. */
  readonly env: Readonly<Record<'FIRSTHAND_URL' | 'BROWSER_TOKEN' | 'SERVER_TOKEN', string>>;
  /** The requests that the site's pages sent to the server, as method and path. */
  readonly requests: readonly string[];
  /** The guide's code blocks in the given language, with placeholders replaced. */
  blocks(language: string): string[];
  /** Publishes a page or a script. */
  publish(path: string, html: string, headers?: Readonly<Record<string, string>>): void;
  /** Opens a page on the site, or another URL. */
  open(path: string): Promise<Page>;
  cookie(): Promise<{ value: string; expires: number } | undefined>;
  /** Runs the guide's nth `sh` block until its output matches the next block. */
  expectPrinted(nth?: number): Promise<void>;
}

let browser: Browser;

export const describeGuide = (name: string, tests: () => void): void => {
  describe(`the guide ${name}`, () => {
    beforeAll(async () => {
      browser = await launchChromium(
        // Makes navigator.webdriver false, because the tracker marks bots.
        '--disable-blink-features=AutomationControlled',
        // Allows pages from a test to send requests to a server on this machine.
        '--disable-features=LocalNetworkAccessChecks',
      );
    });
    afterAll(() => browser?.close());
    tests();
  });
};

/** Parses a JSON block as an expectation in which `…` matches any text. */
const parseExpectation = ({ code }: Block): unknown =>
  JSON.parse(code, (_, value) => (value === '…' ? expect.any(String) : value));

export const openGuideSite = async (guide: string): Promise<GuideSite> => {
  const { url } = await serveHere({ BASE_PATH: '/s/' });
  const { browserTokenUUID, serverTokenUUID } = await createAccount(url);
  const { origin } = new URL(url);
  const context = await browser.newContext({ userAgent });
  onTestFinished(() => context.close());
  const pages = new Map<string, { body: string; headers: Readonly<Record<string, string>> }>();
  const requests: string[] = [];
  await context.route(`${origin}/**`, async (route) => {
    const { pathname } = new URL(route.request().url());
    const page = pages.get(pathname);
    if (page)
      return route.fulfill({ ...page, contentType: pathname.endsWith('.js') ? 'text/javascript' : 'text/html' });
    if (!pathname.startsWith('/s/')) return route.fulfill({ status: 404 });
    requests.push(`${route.request().method()} ${pathname}`);
    return route.continue();
  });
  const fill = (text: string): string => text.replaceAll(siteOrigin, origin).replaceAll(browserToken, browserTokenUUID);
  const env = { FIRSTHAND_URL: url.replace(/\/$/, ''), BROWSER_TOKEN: browserTokenUUID, SERVER_TOKEN: serverTokenUUID };

  return {
    origin,
    env,
    context,
    requests,
    api: createClient({ url, token: serverTokenUUID }),
    blocks: (language) => readBlocks(guide).flatMap((block) => (block.language === language ? [fill(block.code)] : [])),
    publish: (path, body, headers = {}) => void pages.set(path, { body, headers }),
    open: async (path) => {
      const page = await context.newPage();
      await page.goto(new URL(path, origin).href);
      return page;
    },
    cookie: async () => (await context.cookies()).find(({ name }) => name === 'userUUID'),
    expectPrinted: async (nth = 0) => {
      const blocks = readBlocks(guide);
      const index = blocks.findIndex((block) => block === blocks.filter(({ language }) => language === 'sh')[nth]);
      const [block, outputBlock] = blocks.slice(index) as [Block, Block];
      expect(outputBlock.language).toBe('json');
      await expect
        .poll(async () => JSON.parse(await runBlock(block, env)))
        .toMatchObject(parseExpectation(outputBlock) as object);
    },
  };
};
