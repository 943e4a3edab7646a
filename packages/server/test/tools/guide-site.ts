/** A site that is put together as a guide says, in Chromium: its pages are code blocks of the guide, and a server has its path /s/. */
import { type Client, createClient } from '@firsthand/client';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished } from 'vitest';
import { launchChromium } from '../../../tracker/test/chromium.ts';
import { type Block, blocksOf, runBlock } from '../fixtures/documents/guides.ts';
import { createAccount, serveHere } from '../fixtures/serving.ts';

/** A headless browser says that it is one, and would be marked as a robot. */
const userAgent =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';

/** The placeholders of all guides. */
const siteOrigin = 'https://shop.example';
const browserToken = 'browser_…';

export interface GuideSite {
  /** `http://127.0.0.1:…`, in place of https://shop.example. */
  readonly origin: string;
  readonly api: Client;
  readonly context: BrowserContext;
  /** The variables that all guides use. */
  readonly env: Readonly<Record<'FIRSTHAND_URL' | 'BROWSER_TOKEN' | 'SERVER_TOKEN', string>>;
  /** Requests of its pages to the server, as method and path. */
  readonly requests: readonly string[];
  /** The guide's blocks in this language, with the placeholders filled in. */
  blocks(language: string): string[];
  /** Publishes a page, or a script. */
  publish(path: string, html: string, headers?: Readonly<Record<string, string>>): void;
  /** Opens a page of the site, or another address. */
  open(path: string): Promise<Page>;
  cookie(): Promise<{ value: string; expires: number } | undefined>;
  /** Runs the guide's block of that number among its `sh` blocks, until it prints what the next block shows. */
  expectPrinted(nth?: number): Promise<void>;
}

let browser: Browser;

export const describeGuide = (name: string, tests: () => void): void => {
  describe(`the guide ${name}`, () => {
    beforeAll(async () => {
      browser = await launchChromium(
        // navigator.webdriver is false, as visitors have it: the tracker marks robots.
        '--disable-blink-features=AutomationControlled',
        // A page that a test makes up may else not send to a server on this machine.
        '--disable-features=LocalNetworkAccessChecks',
      );
    });
    afterAll(() => browser?.close());
    tests();
  });
};

/** What a JSON block shows: `…` stands for any text, and fields may be left out. */
const shownIn = ({ code }: Block): unknown =>
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
    blocks: (language) => blocksOf(guide).flatMap((block) => (block.language === language ? [fill(block.code)] : [])),
    publish: (path, body, headers = {}) => void pages.set(path, { body, headers }),
    open: async (path) => {
      const page = await context.newPage();
      await page.goto(new URL(path, origin).href);
      return page;
    },
    cookie: async () => (await context.cookies()).find(({ name }) => name === 'userUUID'),
    expectPrinted: async (nth = 0) => {
      const blocks = blocksOf(guide);
      const at = blocks.findIndex((block) => block === blocks.filter(({ language }) => language === 'sh')[nth]);
      const [block, shown] = blocks.slice(at) as [Block, Block];
      expect(shown.language).toBe('json');
      await expect.poll(async () => JSON.parse(await runBlock(block, env))).toMatchObject(shownIn(shown) as object);
    },
  };
};
