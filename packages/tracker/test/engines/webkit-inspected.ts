/**
 * MiniBrowser as its user starts it, with a profile on the disk, driven through WebKit's remote inspector over a
 * WebSocket. The inspector opens no tabs: it has those that it was started with.
 */
import { join } from 'node:path';
import { WebSocket } from 'ws';
import { freePort } from '../../../server/test/tools/ports.ts';
import type { Session, Tab } from './engine.ts';
import { answeredInTime, crash, findDescendants, killGroup, startGroup, waitFor } from './processes.ts';
import { openScreen } from './screen.ts';

export const miniBrowserPath = process.env.MINIBROWSER_PATH ?? '/usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser';

const tabsAtMost = 5;

interface Evaluated {
  readonly result: {
    readonly wasThrown?: boolean;
    readonly result: { readonly value?: unknown; readonly description?: string };
  };
}

type Evaluate = (expression: string) => Promise<unknown>;

/** Where the inspector has each of the tabs, once all of them are there. */
const findTabs = (port: number): Promise<string[]> =>
  waitFor('the tabs of MiniBrowser', async () => {
    const list = await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined);
    const paths = (await list?.text())?.match(/socket\/\d+\/\d+\/WebPage/g) ?? [];
    return paths.length === tabsAtMost ? paths : undefined;
  });

/** Connects to the page in one tab. */
const inspect = async (port: number, path: string): Promise<Evaluate> => {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/${path}`);
  const waiting = new Map<number, (answer: Evaluated) => void>();
  let page: string | undefined;
  let lastID = 0;
  socket.on('error', () => {});
  socket.on('message', (data) => {
    const { method, params } = JSON.parse(String(data));
    if (method === 'Target.targetCreated' && params.targetInfo.type === 'page') page = params.targetInfo.targetId;
    // A page on another site is rendered by another process.
    if (method === 'Target.didCommitProvisionalTarget') page = params.newTargetId;
    if (method === 'Target.dispatchMessageFromTarget') {
      const answer = JSON.parse(params.message);
      waiting.get(answer.id)?.(answer);
      waiting.delete(answer.id);
    }
  });
  await waitFor('a page to inspect', () => page);
  return async (expression) => {
    const id = ++lastID;
    const message = JSON.stringify({ id, method: 'Runtime.evaluate', params: { expression, returnByValue: true } });
    const targetId = page;
    const evaluated = new Promise<Evaluated>((resolve) => {
      waiting.set(id, resolve);
      socket.send(JSON.stringify({ id, method: 'Target.sendMessageToTarget', params: { targetId, message } }));
    });
    const answer = await answeredInTime(expression, evaluated).finally(() => waiting.delete(id));
    if (answer.result.wasThrown) throw new Error(answer.result.result.description);
    return answer.result.result.value;
  };
};

const openTab = async (evaluate: Evaluate, url: string): Promise<Tab> => {
  const loaded = (address: string) =>
    waitFor(address, async () =>
      (await evaluate('document.readyState + " " + location.href').catch(() => '')) === `complete ${address}`
        ? true
        : undefined,
    );
  const tab: Tab = {
    goto: async (to) => {
      await evaluate(`void (location.href = ${JSON.stringify(to)})`);
      await loaded(to);
    },
    // biome-ignore lint/suspicious/noExplicitAny: what comes back is what the script answers
    run: (script, ...given) => evaluate(`(${script})(...${JSON.stringify(given)})`) as any,
    key: () => Promise.reject(new Error('the inspector presses no key: leave out the profile folder')),
    type: () => Promise.reject(new Error('the inspector types nothing: leave out the profile folder')),
    cookies: () => Promise.reject(new Error('the inspector is not asked for cookies: leave out the profile folder')),
    close: () => Promise.reject(new Error('the inspector closes no tab: leave out the profile folder')),
  };
  await tab.goto(url);
  return tab;
};

interface Started {
  readonly leader: ReturnType<typeof startGroup>;
  readonly port: number;
}

const start = async (profileFolder: string, display: string): Promise<Started> => {
  const port = await freePort();
  const leader = startGroup(
    miniBrowserPath,
    [
      '--enable-developer-extras=true',
      `--cookies-file=${join(profileFolder, 'cookies.db')}`,
      ...Array<string>(tabsAtMost).fill('data:text/html,'),
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

/** Only one session may have a profile folder at a time. */
export const launchInspected = async (profileFolder: string): Promise<Session> => {
  const screen = await openScreen();
  let { leader, port } = await start(profileFolder, screen.display);
  let tabs: string[] | undefined;
  const kill = async () => {
    await killGroup(leader);
    await screen.close();
  };
  return {
    openTab: async (url) => {
      tabs ??= await findTabs(port);
      const path = tabs.pop();
      if (!path) throw new Error(`MiniBrowser with a profile has ${tabsAtMost} tabs only: use goto`);
      return openTab(await inspect(port, path), url);
    },
    crashTabs: async () => {
      // Long enough for the browser to write to the disk what the page had stored. Then it is started anew, since the
      // inspector can't reach into a window whose page has crashed.
      await crash(findDescendants(leader, /WebKitWebProcess/));
      await killGroup(leader);
      ({ leader, port } = await start(profileFolder, screen.display));
      tabs = undefined;
    },
    kill,
    close: kill,
  };
};
