/**
 * Follows the guides for React and Next.js to the end, in Chromium, as a new OS user. A block that begins with a file
 * name becomes that file; commands are run. The token, the server's URL and the folder of the tarballs are replaced.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createClient } from '@firsthand/client';
import type { Page } from 'playwright-core';
import { expect, it, onTestFinished, vi } from 'vitest';
import { launchChromium } from '../../../tracker/test/chromium.ts';
import { readConfig } from '../../src/config/config.ts';
import { scriptTag } from '../../src/http/script-tag.ts';
import { readBlocks } from '../fixtures/documents/guides.ts';
import { createAccount, serveHere } from '../fixtures/serving.ts';
import { freePort } from '../tools/ports.ts';
import { createNewcomer } from './newcomer.ts';

/** The time limit, in milliseconds: long enough for a busy machine. */
const timeoutMilliseconds = 300_000;

const fileName = /^\/\/ (\S+\.tsx?)\n/;
/** Matches the last line of a block that starts the app. */
const startCommand = /^npm run (?:dev|start)\n$/m;

const [, stub = ''] = /<script>(.*?)<\/script>/.exec(scriptTag('', '', readConfig({}))) ?? [];

const open = async () => {
  const serving = await serveHere();
  const { browserTokenUUID, serverTokenUUID } = await createAccount(serving.url);
  const api = createClient({ url: serving.url, token: serverTokenUUID });
  const newcomer = createNewcomer();
  onTestFinished(newcomer.leave);
  const browser = await launchChromium();
  onTestFinished(() => browser.close());

  const app = join(newcomer.folder, 'shop');
  const write = (file: string, text: string) => {
    mkdirSync(join(app, dirname(file)), { recursive: true });
    writeFileSync(join(app, file), text);
    newcomer.takeOwnership();
  };
  /** Runs commands in the app's folder, or in its parent folder until it exists. */
  const run = (command: string, env?: Readonly<Record<string, string>>) =>
    newcomer.run(`[ ! -d shop ] || cd shop\n${command}`, env);

  /** Starts the app, visits it in a browser with `look`, and stops the app. Returns the result of `look`. */
  const visit = async <Result>(command: string, look: (page: Page) => Promise<Result>): Promise<Result> => {
    const running = newcomer.start(`cd shop\n${command}`, { PORT: String(await freePort()) });
    const [url] = await running.waitForOutput(/http:\/\/localhost:\d+/);
    await vi.waitUntil(() => fetch(url).catch(() => undefined), { timeout: timeoutMilliseconds });
    const context = await browser.newContext();
    const page = await context.newPage();
    page.setDefaultTimeout(timeoutMilliseconds);
    const complaints: string[] = [];
    page.on('pageerror', (error) => complaints.push(String(error)));
    await page.goto(`${url}?utm_campaign=spring`, { referer: 'https://news.example/' });
    const result = await look(page);
    await context.close();
    running.child.kill('SIGTERM');
    await running.ended;
    expect(complaints).toEqual([]);
    return result;
  };

  /** Follows a guide. `look` does what the reader does in the browser. Returns the output of the last command. */
  const follow = async (guide: string, look: (page: Page) => Promise<void>): Promise<string> => {
    let output = '';
    for (const { language, code: written } of readBlocks(guide)) {
      const code = written
        .replaceAll('/path/to/', `${newcomer.folder}/`)
        .replaceAll('http://127.0.0.1:3000', serving.url)
        .replaceAll('browser_…', browserTokenUUID)
        .replaceAll('server_…', serverTokenUUID)
        .replaceAll("'…'", JSON.stringify(stub));
      const [, file] = fileName.exec(code) ?? [];
      if (file !== undefined) write(file, code);
      else if (language !== 'sh') throw new Error(`${guide} has a block without a name:\n${code}`);
      else if (startCommand.test(code)) await visit(code, look);
      else
        output = await run(
          code,
          code.startsWith('curl') ? { FIRSTHAND_URL: serving.url, SERVER_TOKEN: serverTokenUUID } : {},
        );
    }
    return output;
  };

  /** Waits until a visitor has `count` events. Returns their sorted names, their values and their owners. */
  const eventsOf = async (userUUID: string, count: number) => {
    const read = async () => (await api.getEvent({ userUUID })).event;
    await expect.poll(async () => (await read()).length).toBe(count);
    const event = await read();
    const valuesOf = (id: string) =>
      event
        .flatMap(({ eventAttrArray }) => eventAttrArray)
        .flatMap(({ attrID, attrValue }) => (attrID === id ? [attrValue] : []))
        .sort();
    return {
      names: event.map(({ eventName }) => eventName).sort(),
      paths: valuesOf('path'),
      campaigns: valuesOf('utm_campaign'),
      referrers: valuesOf('referrer'),
      owners: [...new Set(event.map(({ contactUUID }) => contactUUID))],
    };
  };

  return { app, write, run, visit, follow, eventsOf };
};

const userOf = async (page: Page): Promise<string> => {
  const read = async () => (await page.context().cookies()).find(({ name }) => name === 'userUUID')?.value;
  await expect.poll(read).toBeTruthy();
  return (await read()) as string;
};

/** The attributes of page views in a visit from a campaign on another site. */
const campaignVisit = {
  campaigns: ['spring'],
  referrers: [expect.stringMatching(/^http:.*\/$/), 'https://news.example/'],
};

it('follows react.md: logs each navigation and event once, and creates a contact after the form is submitted', async () => {
  const { follow, visit, write, run, eventsOf } = await open();
  let user = '';
  const look = async (page: Page) => {
    await page.getByRole('button', { name: 'Buy' }).click();
    await page.getByRole('link', { name: 'Sign up here' }).click();
    await page.getByLabel('E-mail address').fill('ann@shop.example');
    await page.getByRole('button', { name: 'Sign up' }).click();
    await expect.poll(() => page.locator('output').textContent()).toBe('Welcome!');
    user = await userOf(page);
    expect(await eventsOf(user, 3)).toEqual({
      names: ['Bought', 'Page viewed', 'Page viewed'],
      paths: ['/', '/sign-up'],
      ...campaignVisit,
      owners: [expect.stringMatching(/./)],
    });
  };
  // With `npm run dev`, StrictMode runs effects twice.
  const { event } = JSON.parse(await follow('react.md', look));
  expect(event).toMatchObject([{ eventName: 'Bought', userUUID: user, contactUUID: expect.stringMatching(/./) }]);

  await run('npm run build');
  await visit('npm run preview', look);

  write('src/wrong.ts', "import { tracker } from './tracker.ts';\ntracker.log('Bougt', {});\n");
  await expect(run('npm run build')).rejects.toThrow('\'"Bougt"\' is not assignable');
});

const titleOfNextjs =
  'follows nextjs.md: logs from pages, the browser and the server for one visitor, with the package and with the tag';
// Skipped except by `npm run newcomer`, because its builds take longer than all other tests in this tier.
const itBeforeRelease = process.env.NEWCOMER === 'full' ? it : () => {};
itBeforeRelease(titleOfNextjs, async () => {
  const { app, follow, visit, write, eventsOf } = await open();
  const look = async (page: Page) => {
    const updateResponse = page.waitForResponse((response) => response.url().endsWith('/s/update'));
    await page.getByRole('button', { name: 'Buy' }).click();
    expect(await (await updateResponse).headerValue('set-cookie')).toMatch(/^userUUID=.*Max-Age=34560000/);
    await page.getByRole('link', { name: 'About us' }).click();
    await page.getByRole('heading', { name: 'About us' }).waitFor();
    expect(await eventsOf(await userOf(page), 4)).toEqual({
      names: ['Bought', 'Ordered', 'Page viewed', 'Page viewed'],
      paths: ['/', '/about'],
      ...campaignVisit,
      owners: [''],
    });
  };
  const { event } = JSON.parse(await follow('nextjs.md', look));
  expect(event).toMatchObject([{ eventName: 'Ordered' }]);

  const layout = readFileSync(join(app, 'app/layout.tsx'), 'utf8');
  write('app/layout.tsx', layout.replaceAll('page-views', 'script-tag').replaceAll('PageViews', 'ScriptTag'));
  const rendered =
    "export default function Page() {\n  tracker.log('Bought', { product: '', price: 0 });\n  return <h1>On a server</h1>;\n}\n";
  write('app/rendered/page.tsx', `import { tracker } from '../tracker';\n${rendered}`);
  await visit('npm run dev', async (page) => {
    await page.getByRole('link', { name: 'About us' }).click();
    await page.getByRole('heading', { name: 'About us' }).waitFor();
    expect(await eventsOf(await userOf(page), 2)).toMatchObject({ paths: ['/', '/about'] });
    // The page is a server component that imports the tracker.
    await page.goto(new URL('/rendered', page.url()).href);
    await page.getByRole('heading', { name: 'On a server' }).waitFor();
  });
});
