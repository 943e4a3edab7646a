/**
 * WebKitGTK's MiniBrowser, under Xvfb. Driven through WebDriver it forgets everything at its end (its data manager is
 * ephemeral whenever it is automated), so a session with a profile folder is driven through the inspector instead.
 */
import { Builder, Capabilities, Key as keys, type WebDriver } from 'selenium-webdriver';
import { freePort } from '../../../server/test/tools/ports.ts';
import type { Engine, Key, LaunchOptions, Session, Tab } from './engine.ts';
import { answeredInTime, killGroup, NoAnswer, startGroup, waitFor } from './processes.ts';
import { openScreen } from './screen.ts';
import { launchInspected, miniBrowserPath } from './webkit-inspected.ts';

const driverPath = '/usr/bin/WebKitWebDriver';
/** How many tabs in a row may be lost before the driver counts as broken. */
const maxTabsLost = 3;

/** By WebDriver's code points (section 17.4.2, Keyboard Actions). */
const codes: Readonly<Record<Key, string>> = {
  Tab: keys.TAB,
  Enter: keys.ENTER,
  Escape: keys.ESCAPE,
  ArrowDown: keys.ARROW_DOWN,
  ArrowRight: keys.ARROW_RIGHT,
};

/** WebDriver speaks to one tab at a time: one call after another, each to its own. */
const createTurns = (driver: WebDriver) => {
  let last: Promise<unknown> = Promise.resolve();
  return <Result>(handle: string, call: () => Promise<Result>): Promise<Result> => {
    const turn = last.then(async () => {
      await driver.switchTo().window(handle);
      return call();
    });
    last = turn.catch(() => {});
    return turn;
  };
};

const launch = async ({ profileFolder, proxyPort }: LaunchOptions = {}): Promise<Session> => {
  if (profileFolder) return launchInspected(profileFolder);
  const screen = await openScreen();
  const port = await freePort();
  const leader = startGroup(driverPath, ['-p', String(port)], { env: { DISPLAY: screen.display } });
  const kill = async () => {
    await killGroup(leader);
    await screen.close();
  };
  try {
    const server = `http://127.0.0.1:${port}`;
    await waitFor('WebKitWebDriver', () =>
      fetch(`${server}/status`).then(
        ({ ok }) => ok || undefined,
        () => undefined,
      ),
    );
    const capabilities = new Capabilities().setBrowserName('MiniBrowser').set('webkitgtk:browserOptions', {
      binary: miniBrowserPath,
      args: ['--automation', ...(proxyPort ? [`--proxy=http://127.0.0.1:${proxyPort}`] : [])],
    });
    const driver = await new Builder().usingServer(server).withCapabilities(capabilities).build();
    // It stays open, since a session ends with its last window.
    const first = await driver.getWindowHandle();
    const take = createTurns(driver);

    const openOne = async (url: string): Promise<Tab> => {
      const handle = await take(first, async () => {
        await driver.switchTo().newWindow('tab');
        return driver.getWindowHandle();
      });
      const tab: Tab = {
        goto: (to) => take(handle, () => driver.get(to)),
        run: (script, ...given) =>
          take(handle, () => {
            const expression = `(${script})(...${JSON.stringify(given)})`;
            // The driver's own limit counts only once the script runs in the page: one that never began is not ended.
            return answeredInTime(expression, driver.executeScript(`return ${expression}`));
          }),
        key: (key) => take(handle, () => driver.actions().sendKeys(codes[key]).perform()),
        type: (text) => take(handle, () => driver.actions().sendKeys(text).perform()),
        cookies: () =>
          take(handle, async () =>
            (await driver.manage().getCookies()).map(
              ({ name, value, domain = '', path = '', expiry, sameSite = '' }) => ({
                name,
                value,
                domain,
                path,
                expires: Number(expiry ?? 0),
                sameSite,
              }),
            ),
          ),
        close: () => take(handle, () => driver.close()),
      };
      await tab.goto(url);
      return tab;
    };

    // Once, a new tab answered no script for five minutes, while tabs opened before and after it did.
    const openTab = async (url: string): Promise<Tab> => {
      for (let nth = 1; ; nth += 1) {
        const tab = await openOne(url);
        // A page may make every script fail. That is an answer.
        const answer = await tab.run(() => true).catch((error) => error);
        if (!(answer instanceof NoAnswer)) return tab;
        if (nth === maxTabsLost) throw answer;
        console.error(`WebKitWebDriver has lost a tab: ${url} is opened again`);
        await answeredInTime('the closing of a tab', tab.close()).catch(() => {});
      }
    };

    return {
      openTab,
      crashTabs: () => Promise.reject(new Error('WebKitWebDriver ends with its page: launch with a profile folder')),
      kill,
      close: async () => {
        const late = new Promise((resolve) => setTimeout(resolve, 5_000).unref());
        await Promise.race([driver.quit().catch(() => {}), late]);
        await kill();
      },
    };
  } catch (error) {
    await kill();
    throw error;
  }
};

export const webkit: Engine = {
  name: 'WebKitGTK',
  hearsClosing: true,
  hasNavigationAPI: false,
  // Source/WebKit/NetworkProcess/storage/SQLiteStorageArea.cpp: a transaction lasts 500 ms.
  flushMilliseconds: 2_000,
  launch,
};
