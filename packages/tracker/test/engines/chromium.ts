/** Debian's Chromium, headless, started here and controlled through the DevTools protocol. */
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, type BrowserContext, chromium as playwright } from 'playwright-core';
import { testTimeoutMilliseconds } from '../test-timeout.ts';
import type { Engine, LaunchOptions, Session, Tab } from './engine.ts';
import { crash, findDescendants, killGroup, startGroup, waitFor } from './processes.ts';

export const executablePath = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';

const args = [
  '--headless=new',
  // Let Chromium run as root, and prevent its own network requests.
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--no-default-browser-check',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-dev-shm-usage',
  '--disable-features=HttpsUpgrades,HttpsFirstBalancedModeAutoEnable',
  // Keeps both tabs of a race running at full speed, instead of throttling one of them.
  '--disable-background-timer-throttling',
  '--disable-backgrounding-occluded-windows',
  '--disable-renderer-backgrounding',
  '--remote-debugging-port=0',
];

const openTab = async (context: BrowserContext, url: string): Promise<Tab> => {
  const page = await context.newPage();
  page.setDefaultTimeout(testTimeoutMilliseconds);
  const tab: Tab = {
    goto: async (to) => {
      await page.goto(to);
    },
    // biome-ignore lint/suspicious/noExplicitAny: playwright's own types take one argument
    run: (script, ...scriptArgs) => page.evaluate(`(${script})(...${JSON.stringify(scriptArgs)})`) as any,
    key: (key) => page.keyboard.press(key),
    type: (text) => page.keyboard.type(text),
    addAuthenticator: async (transport) => {
      const devTools = await context.newCDPSession(page);
      await devTools.send('WebAuthn.enable');
      const { authenticatorId } = await devTools.send('WebAuthn.addVirtualAuthenticator', {
        options: {
          ...{ protocol: 'ctap2', transport, hasResidentKey: true },
          ...{ hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true },
        },
      });
      return {
        count: async () => (await devTools.send('WebAuthn.getCredentials', { authenticatorId })).credentials.length,
        verifies: async (isUserVerified) => {
          await devTools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified });
        },
        remove: async () => {
          await devTools.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId });
        },
      };
    },
    cookies: async () =>
      (await context.cookies(page.url())).map((cookie) => ({ ...cookie, expires: Math.max(0, cookie.expires) })),
    close: () => page.close({ runBeforeUnload: true }),
  };
  await tab.goto(url);
  return tab;
};

/**
 * Opens a page in a browser without automation, because a browser controlled by playwright does not prerender pages.
 */
export const openUnautomated = async (url: string): Promise<{ close(): Promise<void> }> => {
  const folder = await mkdtemp(join(tmpdir(), 'firsthand-chromium-'));
  const leader = startGroup(executablePath, [...args, `--user-data-dir=${folder}`, url], {});
  return {
    close: async () => {
      await killGroup(leader);
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
};

const launch = async ({ profileFolder, proxyPort }: LaunchOptions = {}): Promise<Session> => {
  const folder = profileFolder ?? (await mkdtemp(join(tmpdir(), 'firsthand-chromium-')));
  const portFile = join(folder, 'DevToolsActivePort');
  await rm(portFile, { force: true });
  const proxy = proxyPort ? [`--proxy-server=127.0.0.1:${proxyPort}`, '--proxy-bypass-list=<-loopback>'] : [];
  const leader = startGroup(executablePath, [...args, ...proxy, `--user-data-dir=${folder}`, 'about:blank'], {});
  const removeFolder = () => (profileFolder ? undefined : rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  const kill = async () => {
    await killGroup(leader);
    await removeFolder();
  };
  try {
    const address = await waitFor('Chromium', () => {
      const [port, path] = existsSync(portFile) ? readFileSync(portFile, 'utf8').split('\n') : [];
      return path ? `ws://127.0.0.1:${port}${path}` : undefined;
    });
    const browser: Browser = await playwright.connectOverCDP(address);
    const openInBrowser = (url: string) => openTab(browser.contexts()[0] as BrowserContext, url);
    return {
      openTab: openInBrowser,
      crashTabs: async () => {
        await crash(findDescendants(leader, /--type=renderer/));
        // This has also killed Chromium's spare process for the next tab, which a busy Chromium may be slow to notice.
        const canOpenTab = async () => {
          const tab = await openInBrowser('about:blank');
          await tab.close();
          return true;
        };
        await waitFor('a working tab', () => canOpenTab().catch(() => undefined));
      },
      kill,
      close: async () => {
        const devtools = await browser.newBrowserCDPSession().catch(() => undefined);
        const exited = waitFor('Chromium to exit', () => leader.exitCode ?? leader.signalCode ?? undefined, 5_000);
        await devtools?.send('Browser.close').catch(() => {});
        await exited.catch(() => {});
        await kill();
      },
    };
  } catch (error) {
    await kill();
    throw error;
  }
};

export const chromium: Engine = {
  name: 'Chromium',
  firesPagehideOnClose: true,
  hasNavigationAPI: true,
  // components/services/storage/dom_storage: kCommitDefaultDelaySecs is 5.
  flushMilliseconds: 6_500,
  launch,
};
