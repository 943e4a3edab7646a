/**
 * WebKitGTK's MiniBrowser, under Xvfb. WebDriver always gives MiniBrowser an ephemeral profile, so a session with a
 * profile folder is controlled through the inspector instead.
 */
import { Builder, Capabilities, Key as keys, type WebDriver } from 'selenium-webdriver';
import { freePort } from '../../../server/test/tools/ports.ts';
import type { Engine, Key, LaunchOptions, Session, Tab } from './engine.ts';
import { DriverTimeout, killGroup, startGroup, waitFor, withTimeout } from './processes.ts';
import { openScreen } from './virtual-display.ts';
import { launchInspected, miniBrowserPath } from './webkit-inspector.ts';

const driverPath = '/usr/bin/WebKitWebDriver';
/** The number of consecutive tabs that may fail before the driver counts as broken. */
const maxFailedTabs = 3;

/** The code points of WebDriver (section 17.4.2, Keyboard Actions). */
const keyCodes: Readonly<Record<Key, string>> = {
  Tab: keys.TAB,
  Enter: keys.ENTER,
  Escape: keys.ESCAPE,
  ArrowDown: keys.ARROW_DOWN,
  ArrowRight: keys.ARROW_RIGHT,
};

/** Creates a queue of calls, each with its tab, because WebDriver controls only one tab at a time. */
const createCallQueue = (driver: WebDriver) => {
  let last: Promise<unknown> = Promise.resolve();
  return <Result>(handle: string, call: () => Promise<Result>): Promise<Result> => {
    const result = last.then(async () => {
      await driver.switchTo().window(handle);
      return call();
    });
    last = result.catch(() => {});
    return result;
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
    // Stays open, because a session ends with its last window.
    const first = await driver.getWindowHandle();
    const enqueue = createCallQueue(driver);

    const openUnchecked = async (url: string): Promise<Tab> => {
      const handle = await enqueue(first, async () => {
        await driver.switchTo().newWindow('tab');
        return driver.getWindowHandle();
      });
      const tab: Tab = {
        goto: (to) => enqueue(handle, () => driver.get(to)),
        run: (script, ...scriptArgs) =>
          enqueue(handle, () => {
            const expression = `(${script})(...${JSON.stringify(scriptArgs)})`;
            // The driver's own timeout starts only when the script runs in the page, so it doesn't cover a script that
            // never starts.
            return withTimeout(expression, driver.executeScript(`return ${expression}`));
          }),
        key: (key) => enqueue(handle, () => driver.actions().sendKeys(keyCodes[key]).perform()),
        type: (text) => enqueue(handle, () => driver.actions().sendKeys(text).perform()),
        cookies: () =>
          enqueue(handle, async () =>
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
        close: () => enqueue(handle, () => driver.close()),
      };
      await tab.goto(url);
      return tab;
    };

    // Retries, because in one case a new tab ran no script for five minutes, while earlier and later tabs did.
    const openTab = async (url: string): Promise<Tab> => {
      for (let attempt = 1; ; attempt += 1) {
        const tab = await openUnchecked(url);
        // A page may make every script fail, which is a response too.
        const response = await tab.run(() => true).catch((error) => error);
        if (!(response instanceof DriverTimeout)) return tab;
        if (attempt === maxFailedTabs) throw response;
        console.error(`WebKitWebDriver does not respond in a new tab: opening ${url} again`);
        await withTimeout('closing a tab', tab.close()).catch(() => {});
      }
    };

    return {
      openTab,
      crashTabs: () =>
        Promise.reject(new Error('WebKitWebDriver exits when its page crashes: launch with a profile folder')),
      kill,
      close: async () => {
        const timeout = new Promise((resolve) => setTimeout(resolve, 5_000).unref());
        await Promise.race([driver.quit().catch(() => {}), timeout]);
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
  firesPagehideOnClose: true,
  hasNavigationAPI: false,
  // Source/WebKit/NetworkProcess/storage/SQLiteStorageArea.cpp: a transaction lasts 500 ms.
  flushMilliseconds: 2_000,
  launch,
};
