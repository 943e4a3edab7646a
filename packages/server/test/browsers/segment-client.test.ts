/**
 * Tests Segment's client for pages, @segment/analytics-next, in Chromium: a page that uses it needs only a different
 * endpoint.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createClient } from '@firsthand/client';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { launchChromium } from '../../../tracker/test/chromium.ts';
import { createAccount, serveHere } from '../fixtures/serving.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser?.close());

const packageFolder = join(createRequire(import.meta.url).resolve('@segment/analytics-next'), '../../..');
const script = readFileSync(join(packageFolder, 'dist/umd/index.js'), 'utf8');

it('stores page views with their campaign, events, and the claim from an identify call', async () => {
  const { url } = await serveHere();
  const { browserTokenUUID, serverTokenUUID } = await createAccount(url);
  const context = await browser.newContext();
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const requested: string[] = [];
  page.on('request', (request) => requested.push(new URL(request.url()).origin));
  // Serves the page from another origin, so that responses need CORS.
  const site = createServer((_, response) => response.end('<title>Tea</title>'));
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void site.close());
  const origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  await page.goto(`${origin}/tea?utm_source=news`);
  await page.addScriptTag({ content: script });
  await page.evaluate(
    async ({ url, writeKey }) => {
      const { AnalyticsBrowser } = (globalThis as unknown as { AnalyticsNext: { AnalyticsBrowser: Loader } })
        .AnalyticsNext;
      interface Loader {
        load(
          settings: object,
          options: object,
        ): Record<'page' | 'track' | 'identify', (...args: unknown[]) => Promise<unknown>>;
      }
      const apiHost = `${new URL(url).host}/v1`;
      const analytics = AnalyticsBrowser.load(
        { writeKey, cdnURL: url },
        { integrations: { 'Segment.io': { apiHost, protocol: 'http' } } },
      );
      await analytics.page();
      await analytics.track('Bought', { price: 9 });
      await analytics.identify('u-1', { email: 'ann@shop.example', plan: 'pro' });
    },
    { url, writeKey: browserTokenUUID },
  );
  const api = createClient({ url, token: serverTokenUUID });
  // If a claim has an address, the address identifies its contact.
  const owned = { contactEmailaddress: 'ann@shop.example' };
  await expect.poll(() => api.getContact(owned).catch(() => undefined)).toMatchObject({ contact: owned });
  const { contact } = await api.getContact(owned);
  expect(contact.claimed).toContain('contactEmailaddress');
  const { event } = await api.getEvent({ contactUUID: contact.contactUUID, order: 'asc' });
  const [view, bought] = event;
  expect(view).toMatchObject({ eventName: 'Page viewed' });
  expect(view?.eventAttrArray).toEqual(
    expect.arrayContaining([
      { attrID: 'path', attrValue: '/tea' },
      { attrID: 'title', attrValue: 'Tea' },
      { attrID: 'utm_source', attrValue: 'news' },
    ]),
  );
  expect(bought).toMatchObject({
    eventName: 'Bought',
    eventAttrArray: expect.arrayContaining([{ attrID: 'price', attrValue: '9' }]),
  });
  expect(new Set(requested)).toEqual(new Set([origin, url]));
});
