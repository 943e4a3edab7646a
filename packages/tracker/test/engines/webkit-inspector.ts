/**
 * MiniBrowser as a user starts it, with a profile on disk, controlled through WebKit's remote inspector over a
 * WebSocket. The inspector can't open tabs, so the only tabs are those that MiniBrowser opens at startup.
 */
import { join } from 'node:path';
import { WebSocket } from 'ws';
import { freePort } from '../../../server/test/tools/ports.ts';
import type { Session, Tab } from './engine.ts';
import { crash, findDescendants, killGroup, startGroup, waitFor, withTimeout } from './processes.ts';
import { openScreen } from './virtual-display.ts';

export const miniBrowserPath = process.env.MINIBROWSER_PATH ?? '/usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser';

const maxTabs = 5;

interface EvaluationResult {
  readonly result: {
    readonly wasThrown?: boolean;
    readonly result: { readonly value?: unknown; readonly description?: string };
  };
}

type Evaluate = (expression: string) => Promise<unknown>;

/** Waits until all tabs exist, and returns the inspector's path for each. */
const findTabs = (port: number): Promise<string[]> =>
  waitFor('the tabs of MiniBrowser', async () => {
    const list = await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined);
    const paths = (await list?.text())?.match(/socket\/\d+\/\d+\/WebPage/g) ?? [];
    return paths.length === maxTabs ? paths : undefined;
  });

/** Connects to the page in one tab. */
const inspect = async (port: number, path: string): Promise<Evaluate> => {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/${path}`);
  const pending = new Map<number, (response: EvaluationResult) => void>();
  let page: string | undefined;
  let lastID = 0;
  socket.on('error', () => {});
  socket.on('message', (data) => {
    const { method, params } = JSON.parse(String(data));
    if (method === 'Target.targetCreated' && params.targetInfo.type === 'page') page = params.targetInfo.targetId;
    // Continues in another process if the page is on another site.
    if (method === 'Target.didCommitProvisionalTarget') page = params.newTargetId;
    if (method === 'Target.dispatchMessageFromTarget') {
      const response = JSON.parse(params.message);
      pending.get(response.id)?.(response);
      pending.delete(response.id);
    }
  });
  await waitFor('a page to inspect', () => page);
  return async (expression) => {
    const id = ++lastID;
    const message = JSON.stringify({ id, method: 'Runtime.evaluate', params: { expression, returnByValue: true } });
    const targetId = page;
    const evaluation = new Promise<EvaluationResult>((resolve) => {
      pending.set(id, resolve);
      socket.send(JSON.stringify({ id, method: 'Target.sendMessageToTarget', params: { targetId, message } }));
    });
    const response = await withTimeout(expression, evaluation).finally(() => pending.delete(id));
    if (response.result.wasThrown) throw new Error(response.result.result.description);
    return response.result.result.value;
  };
};

const openTab = async (evaluate: Evaluate, url: string): Promise<Tab> => {
  const waitUntilLoaded = (address: string) =>
    waitFor(address, async () =>
      (await evaluate('document.readyState + " " + location.href').catch(() => '')) === `complete ${address}`
        ? true
        : undefined,
    );
  const tab: Tab = {
    goto: async (to) => {
      await evaluate(`void (location.href = ${JSON.stringify(to)})`);
      await waitUntilLoaded(to);
    },
    // biome-ignore lint/suspicious/noExplicitAny: the result is what the script returns
    run: (script, ...scriptArgs) => evaluate(`(${script})(...${JSON.stringify(scriptArgs)})`) as any,
    key: () => Promise.reject(new Error('the inspector cannot press keys: launch without a profile folder')),
    type: () => Promise.reject(new Error('the inspector cannot type: launch without a profile folder')),
    cookies: () => Promise.reject(new Error('the inspector cannot read cookies: launch without a profile folder')),
    close: () => Promise.reject(new Error('the inspector cannot close tabs: launch without a profile folder')),
  };
  await tab.goto(url);
  return tab;
};

interface BrowserProcess {
  readonly leader: ReturnType<typeof startGroup>;
  readonly port: number;
}

const startBrowser = async (profileFolder: string, display: string): Promise<BrowserProcess> => {
  const port = await freePort();
  const leader = startGroup(
    miniBrowserPath,
    [
      '--enable-developer-extras=true',
      `--cookies-file=${join(profileFolder, 'cookies.db')}`,
      ...Array<string>(maxTabs).fill('data:text/html,'),
    ],
    {
      env: {
        DISPLAY: display,
        WEBKIT_INSPECTOR_HTTP_SERVER: `127.0.0.1:${port}`,
        XDG_DATA_HOME: join(profileFolder, 'data'),
        XDG_CACHE_HOME: join(profileFolder, 'cache'),
        XDG_CONFIG_HOME: join(profileFolder, 'config'),
      },
    },
  );
  return { leader, port };
};

/** Launches a browser with a profile folder. Only one session at a time may use a folder. */
export const launchInspected = async (profileFolder: string): Promise<Session> => {
  const screen = await openScreen();
  let { leader, port } = await startBrowser(profileFolder, screen.display);
  let tabs: string[] | undefined;
  const kill = async () => {
    await killGroup(leader);
    await screen.close();
  };
  return {
    openTab: async (url) => {
      tabs ??= await findTabs(port);
      const path = tabs.pop();
      if (!path) throw new Error(`MiniBrowser with a profile has only ${maxTabs} tabs: use goto`);
      return openTab(await inspect(port, path), url);
    },
    crashTabs: async () => {
      // `crash` waits long enough for the browser to write the page's storage to disk. Then the browser is restarted,
      // because the inspector can't reach a window whose page has crashed.
      await crash(findDescendants(leader, /WebKitWebProcess/));
      await killGroup(leader);
      ({ leader, port } = await startBrowser(profileFolder, screen.display));
      tabs = undefined;
    },
    kill,
    close: kill,
  };
};
