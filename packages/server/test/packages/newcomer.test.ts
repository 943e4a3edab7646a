/**
 * Follows a new OS user from the packed tarballs to a first named event. Prints each step's duration. `npm run
 * newcomer` compiles SQLite as npm does; other runs copy the SQLite that is compiled here.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createClient } from '@firsthand/client';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { launchChromium } from '../../../tracker/test/chromium.ts';
import { createNewcomer } from './newcomer.ts';
import { copyCompiledSQLite } from './tarballs.ts';

const isFull = process.env.NEWCOMER === 'full';

const newcomer = createNewcomer();
const seconds: [step: string, seconds: string][] = [];

const step = async <Result>(name: string, work: () => Promise<Result>): Promise<Result> => {
  const began = performance.now();
  const result = await work();
  seconds.push([name, ((performance.now() - began) / 1_000).toFixed(1)]);
  return result;
};

afterAll(async () => {
  await newcomer.leave();
  const total = seconds.reduce((sum, [, one]) => sum + Number(one), 0);
  for (const [name, duration] of [...seconds, ['total', total.toFixed(1)]]) console.log(`${duration} s  ${name}`);
});

/** Serves the page as a static site, and opens it in Chromium. */
const openPage = async (html: string) => {
  const site = createServer((_, response) => response.setHeader('Content-Type', 'text/html').end(html)).listen(0);
  onTestFinished(() => void site.close());
  await once(site, 'listening');
  const browser = await launchChromium();
  onTestFinished(() => browser.close());
  const page = await browser.newPage();
  await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`);
  return page;
};

it('lets a newcomer install the tarball, serve, and read back the first events from a command and a page', async () => {
  await step(isFull ? 'npm install, SQLite compiled' : 'npm install, SQLite copied', async () => {
    await newcomer.run(
      `mkdir shop; cd shop; npm init -y; npm install ${isFull ? '' : '--ignore-scripts'} ../firsthand-[0-9]*.tgz`,
    );
    if (!isFull) copyCompiledSQLite(join(newcomer.folder, 'shop'));
  });

  const { url, browserToken, serverToken, tag } = await step('npx firsthand serve --demo', async () => {
    const { waitForOutput } = newcomer.start('cd shop; exec npx firsthand serve --demo --port 0 --log-level info');
    const [, url = ''] = await waitForOutput(/"address":"([^"]+)"/);
    const [, browserToken = ''] = await waitForOutput(/Browser token +(browser_\S+)/);
    const [, serverToken = ''] = await waitForOutput(/Server token +(server_\S+)/);
    const [tag] = await waitForOutput(/<script>[\s\S]*<\/script>/);
    return { url, browserToken, serverToken, tag };
  });

  const env = { URL: url, PORT: new URL(url).port, FIRSTHAND_TOKEN: serverToken };
  await step('curl logs an event by its name', () =>
    newcomer.run(
      `curl -sf $URL/event/logEvent -H "Authorization: Bearer $FIRSTHAND_TOKEN" -d '{
        "eventName": "Signed up", "userUUID": "first-visitor-of-all" }'`,
      env,
    ),
  );
  const eventList = await step('npx firsthand event list', () =>
    newcomer.run('cd shop; npx firsthand event list --name "Signed up"', env),
  );
  expect(eventList).toMatch(/1000000 Signed up +first-visitor-of-all +anonymous/);

  expect(tag).toContain(browserToken);
  await step('the tag on a static site’s page, in Chromium', async () => {
    await openPage(`<!doctype html>${tag}<script>tracker.log('Came by', { page: 'first' })</script>`);
    const api = createClient({ url, token: serverToken });
    const read = async () => (await api.getEvent({ eventName: 'Came by' })).event.map((event) => event.eventAttrArray);
    await expect.poll(read).toEqual([expect.arrayContaining([{ attrID: 'page', attrValue: 'first' }])]);
  });
});
