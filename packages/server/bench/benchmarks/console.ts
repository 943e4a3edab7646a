/**
 * Measures how fast the console responds with a long history. Chromium opens its pages and runs a session of clicks and
 * keys with the CPU slowed down to a quarter. Each interaction is measured until the next paint (Event Timing API; less
 * than 16 ms counts as 16 ms).
 */
import type { Browser, Page } from 'playwright-core';
import { launchChromium } from '../../../tracker/test/chromium.ts';
import { signInWith } from '../../test/browsers/console/sign-in.ts';
import { firstPaint, layoutShift, longestEvent, watchInteractions } from '../../test/fixtures/in-page.js';
import { serverToken } from '../account.ts';
import type { Options, Row } from '../benchmark.ts';
import { withCopy } from '../cached-database.ts';
import { openHistory } from '../history.ts';
import { createLatencies } from '../latencies.ts';
import { startService } from '../processes/service.ts';

/** The CPU throttling rate. */
const slowdown = 4;
/** The shortest event duration that the browser reports. */
const thresholdMs = 16;
/** The pause between interactions: long enough for the next paint, too short for most responses. */
const pauseMs = 300;

/** The number of slowest interactions to list. */
const slowestCount = 5;

const pages = ['', 'live', 'events', 'events?tab=funnel', 'events?tab=retention', 'people', 'people?list=everybody'];
const otherPages = ['catalogue', 'settings', 'set-up'];

const slowDown = async (page: Page, rate: number): Promise<void> => {
  const devTools = await page.context().newCDPSession(page);
  await devTools.send('Emulation.setCPUThrottlingRate', { rate });
};

/** Waits until all responses have arrived. A report over all events can take seconds. */
const waitUntilLoaded = async (page: Page): Promise<void> => {
  await page.locator('.card').first().waitFor({ timeout: 120_000 });
  while ((await page.locator('[aria-busy=true]').count()) > 0) await page.waitForTimeout(50);
};

/** A mouse or keyboard action. */
interface Interaction {
  readonly name: string;
  readonly run: (page: Page) => Promise<unknown>;
}

const press = (key: string, name = key): Interaction => ({
  name: `key ${name}`,
  run: (page) => page.keyboard.press(key),
});
const click = (name: string, selector: string, nth = 0): Interaction => ({
  name: `click ${name}`,
  run: (page) => page.locator(selector).nth(nth).click({ timeout: 30_000 }),
});
const link = (name: string): Interaction => click(name, `nav a:text-is("${name}")`);
const button = (name: string): Interaction => click(name, `button:has-text("${name}")`);
/** Types letters, each of which is an interaction. */
const typeText = (text: string): Interaction[] => [...text].map((letter) => press(letter));
/** Selects the next option in a list. */
const choose = (label: string, key = 'ArrowDown'): Interaction => ({
  name: `choose ${label}`,
  run: async (page) => {
    await page.getByLabel(label, { exact: true }).focus();
    await page.keyboard.press(key);
  },
});

const session: readonly Interaction[] = [
  ...[
    link('Live'),
    link('Events'),
    link('People'),
    link('Catalogue'),
    link('Settings'),
    link('Set up'),
    link('Overview'),
  ],
  ...['l', 'e', 'p', 'c', 't', 's', 'o'].flatMap((key) => [press('g'), press(key, `g ${key}`)]),
  ...[choose('Range'), choose('Range', 'ArrowUp'), choose('Range', 'ArrowUp'), choose('Compare with')],
  ...[1, 2, 3, 0].map((nth) => click(`measure ${nth}`, '.measures a', nth)),
  ...[link('Entry'), link('Exit'), link('All'), link('Campaigns'), link('Browsers'), link('Hours')],
  click('a row', 'a.bar-label', 1),
  click('remove the condition', '.filters a'),
  ...[press('Control+k'), ...typeText('visitor'), press('ArrowDown'), press('ArrowUp'), press('Escape')],
  ...[press('Shift+?', '?'), press('Escape')],
  ...[
    link('Live'),
    button('Pause'),
    button('Resume'),
    click('an event', '.event-name', 2),
    click('an event', '.event-name', 5),
  ],
  ...[click('the filter', '.live-events input'), ...typeText('prod')],
  ...[link('Events'), choose('Break down by'), choose('Break down by'), choose('Event')],
  ...[3, 2, 1, 0].map((nth) => click(`sorted by measure ${nth}`, '.measures a', nth)),
  ...[click('a number', '.number-link', 1), press('Escape')],
  ...[link('Funnel'), button('Add a step'), button('Up'), button('Remove'), choose('Within'), choose('Step 2')],
  ...[click('a number', '.number-link', 1), press('Escape')],
  ...[
    link('Retention'),
    choose('Interval'),
    choose('First event'),
    click('a number', '.number-link', 3),
    press('Escape'),
  ],
  ...[link('People'), button('Show more'), click('the search', 'main input[type=search]'), ...typeText('visitor 1')],
  ...[link('Everyone'), button('Show more'), link('Contacts')],
  ...[
    click('a person', '.person-link', 3),
    click('a session', '.session-head', 1),
    click('an event', '.event-name', 0),
  ],
  ...[button('Merge'), press('Escape'), button('Erase'), press('Escape')],
  ...[link('Catalogue'), link('Attributes'), link('Tags'), button('Add …'), press('Escape'), link('Segments')],
  ...[link('Settings'), button('Create a token'), press('Escape'), link('Account'), link('Audit log'), link('Tokens')],
];

const signIn = async (browser: Browser, url: string) => {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  await page.goto(`${url}/console/`);
  await signInWith(page, serverToken);
  await waitUntilLoaded(page);
  const state = await context.storageState();
  await context.close();
  return state;
};
type SessionState = Awaited<ReturnType<typeof signIn>>;

const measureConsole = async (browser: Browser, url: string, { quick }: Options): Promise<Row[]> => {
  // The first report builds the report files.
  const storageState: SessionState = await signIn(browser, url);
  const open = async (path: string, rate: number): Promise<Page> => {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, storageState });
    const page = await context.newPage();
    await page.addInitScript(watchInteractions);
    if (rate > 1) await slowDown(page, rate);
    await page.goto(`${url}/console/${path}`);
    return page;
  };

  const paints = async (rate: number): Promise<Row> => {
    const latencies = createLatencies();
    for (let round = 0; round < (quick ? 5 : 20); round += 1) {
      const page = await open('', rate);
      latencies.record(Number(await page.evaluate(firstPaint)));
      await page.context().close();
    }
    return {
      measured: `first contentful paint of /console/${rate > 1 ? `, CPU × ${rate} slower` : ''}: median ms`,
      ours: latencies.quantile(0.5).toFixed(0),
      bar: rate > 1 ? '' : '< 200',
    };
  };

  const shifts: { path: string; shift: number; moved: string }[] = [];
  for (const path of [...pages, ...otherPages]) {
    const page = await open(path, slowdown);
    await waitUntilLoaded(page);
    await page.waitForTimeout(pauseMs);
    shifts.push({ path, ...((await page.evaluate(layoutShift)) as { shift: number; moved: string }) });
    await page.context().close();
  }
  const [worst] = shifts.toSorted((a, b) => b.shift - a.shift);

  const latencies = createLatencies();
  const slowest: { name: string; milliseconds: number }[] = [];
  const page = await open('', slowdown);
  await waitUntilLoaded(page);
  await page.evaluate(longestEvent);
  for (const { name, run: interact } of session) {
    await interact(page);
    await page.waitForTimeout(pauseMs);
    const milliseconds = Math.max(thresholdMs, Number(await page.evaluate(longestEvent)));
    latencies.record(milliseconds);
    slowest.push({ name, milliseconds });
  }
  slowest.sort((a, b) => b.milliseconds - a.milliseconds);
  await page.context().close();

  const title = `interaction to next paint, CPU × ${slowdown} slower, ${session.length} interactions`;
  return [
    await paints(1),
    await paints(slowdown),
    { measured: `${title}: p50 ms`, ours: latencies.quantile(0.5).toFixed(0), bar: '' },
    { measured: `${title}: p98 ms`, ours: latencies.quantile(0.98).toFixed(0), bar: '< 100' },
    {
      measured: `${title}: slowest, ms`,
      ours: slowest
        .slice(0, slowestCount)
        .map(({ name, milliseconds }) => `${milliseconds} (${name})`)
        .join(', '),
      bar: '',
    },
    {
      measured: `layout shift of ${shifts.length} pages, CPU × ${slowdown} slower: max`,
      ours: worst && worst.shift > 0 ? `${worst.shift.toFixed(4)} (/console/${worst.path}: ${worst.moved})` : '0',
      bar: '0',
    },
  ];
};

export const run = async (options: Options): Promise<Row[]> =>
  withCopy(await openHistory(options.events), async (path) => {
    const service = await startService('from the build', path);
    const browser = await launchChromium().catch(async (error) => {
      await service.kill();
      throw error;
    });
    try {
      return await measureConsole(browser, `http://127.0.0.1:${service.port}`, options);
    } finally {
      await browser.close();
      await service.kill();
    }
  });
