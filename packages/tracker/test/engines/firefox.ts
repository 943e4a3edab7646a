/** Debian's Firefox ESR, headless, controlled through WebDriver BiDi. */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import puppeteer, { type Browser } from 'puppeteer-core';
import { testTimeoutMilliseconds } from '../test-timeout.ts';
import type { Engine, LaunchOptions, Session, Tab } from './engine.ts';
import { createAddAuthenticator, marionettePreferences } from './marionette.ts';
import { adoptGroup, crash, findDescendants, killGroup } from './processes.ts';

const executablePath = process.env.FIREFOX_PATH ?? '/usr/bin/firefox-esr';

const preferences = {
  'dom.security.https_first': false,
  'dom.security.https_first_pbm': false,
  'browser.tabs.crashReporting.sendReport': false,
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false,
  'app.update.enabled': false,
  'datareporting.policy.dataSubmissionEnabled': false,
  'toolkit.telemetry.reportingpolicy.firstRun': false,
  // Keeps both tabs of a race running at full speed, instead of throttling one of them.
  'dom.min_background_timeout_value': 4,
  'dom.timeout.enable_budget_timer_throttling': false,
};

const createProxyPreferences = (port: number) => ({
  'network.proxy.type': 1,
  'network.proxy.http': '127.0.0.1',
  'network.proxy.http_port': port,
  'network.proxy.allow_hijacking_localhost': true,
  'network.proxy.no_proxies_on': '',
});

const openTab = async (browser: Browser, url: string, addAuthenticator: Tab['addAuthenticator']): Promise<Tab> => {
  const page = await browser.newPage();
  page.setDefaultTimeout(testTimeoutMilliseconds);
  const tab: Tab = {
    goto: async (to) => {
      await page.goto(to);
    },
    // biome-ignore lint/suspicious/noExplicitAny: the result is what the script returns
    run: (script, ...scriptArgs) => page.evaluate(`(${script})(...${JSON.stringify(scriptArgs)})`) as any,
    key: (key) => page.keyboard.press(key),
    type: (text) => page.keyboard.type(text),
    // Not `page.cookies()`, which omits the cookies of `.shop.example` on shop.example itself.
    cookies: async () =>
      (await browser.cookies())
        .filter(({ domain }) => `.${new URL(page.url()).hostname}`.endsWith(`.${domain.replace(/^\./, '')}`))
        .map((cookie) => ({ ...cookie, expires: Math.max(0, cookie.expires), sameSite: cookie.sameSite ?? '' })),
    ...(addAuthenticator && { addAuthenticator }),
    close: () => page.close({ runBeforeUnload: true }),
  };
  await tab.goto(url);
  return tab;
};

const launch = async ({ profileFolder, proxyPort }: LaunchOptions = {}): Promise<Session> => {
  const folder = profileFolder ?? (await mkdtemp(join(tmpdir(), 'firsthand-firefox-')));
  await mkdir(folder, { recursive: true });
  const browser = await puppeteer.launch({
    browser: 'firefox',
    protocol: 'webDriverBiDi',
    executablePath,
    headless: true,
    userDataDir: folder,
    args: ['--marionette'],
    extraPrefsFirefox: {
      ...preferences,
      ...marionettePreferences,
      ...(proxyPort && createProxyPreferences(proxyPort)),
    },
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
  });
  const leader = adoptGroup(browser.process() as NonNullable<ReturnType<Browser['process']>>);
  const addAuthenticator = createAddAuthenticator(folder);
  const removeFolder = () => (profileFolder ? undefined : rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  const kill = async () => {
    await killGroup(leader);
    await removeFolder();
  };
  return {
    openTab: (url) => openTab(browser, url, addAuthenticator),
    crashTabs: () => crash(findDescendants(leader, /-contentproc.* tab$/)),
    kill,
    close: async () => {
      const timeout = new Promise((resolve) => setTimeout(resolve, 5_000).unref());
      await Promise.race([browser.close().catch(() => {}), timeout]);
      await kill();
    },
  };
};

export const firefox: Engine = {
  name: 'Firefox',
  // Of 100 pages without a tracker that were closed through BiDi or `window.close`, only 13 fired pagehide.
  firesPagehideOnClose: false,
  hasNavigationAPI: true,
  // dom/localstorage/ActorsParent.cpp: kFlushTimeoutMs is 5000.
  flushMilliseconds: 6_500,
  launch,
};
