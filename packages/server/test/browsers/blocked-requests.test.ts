/**
 * Tests visitors with a blocker: requests from the current script tag pass, and requests with the old names are
 * blocked.
 */
import { type Client, createClient } from '@firsthand/client';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { launchChromium } from '../../../tracker/test/chromium.ts';
import { scriptTag } from '../../src/http/script-tag.ts';
import { isBlocked } from '../fixtures/blocker.ts';
import { createAccount, serveHere } from '../fixtures/serving.ts';

describe('a visitor with a blocker, in Chromium', () => {
  let browser: Browser;
  beforeAll(async () => {
    // Overrides a default: Chromium blocks requests from other hosts to a server on this machine.
    browser = await launchChromium('--disable-features=LocalNetworkAccessChecks');
  });
  afterAll(() => browser?.close());

  const kinds: Readonly<Record<string, 'script' | 'image' | 'xhr'>> = { script: 'script', image: 'image' };

  /** Opens a page that logs an event, creates a contact and shows an image. Returns the paths that it requests. */
  const visit = async (tag: string, picture: string) => {
    const context = await browser.newContext();
    onTestFinished(() => context.close());
    const page = await context.newPage();
    const passed: string[] = [];
    const blocked: string[] = [];
    const pageURL = 'http://shop.example/';
    await page.route('**/*', async (route) => {
      const request = route.request();
      const url = request.url();
      if (url === pageURL) {
        const body = `<!doctype html>${tag}<img src="${picture}"><script>
          tracker.log(7);
          tracker.createContact({ contactEmailaddress: 'ann@shop.example', contactProfileID: 'customer' });
        </script>`;
        return route.fulfill({ contentType: 'text/html', body });
      }
      const isStopped = isBlocked(url, pageURL, kinds[request.resourceType()] ?? 'xhr');
      (isStopped ? blocked : passed).push(new URL(url).pathname);
      return isStopped ? route.abort('blockedbyclient') : route.continue();
    });
    await page.goto(pageURL);
    return { page, passed, blocked };
  };

  const eventsOf = async (api: Client) => (await api.getEvent({})).event.map(({ eventID }) => eventID).toSorted();

  test.each([
    ['/main.js', undefined, '/update', '/form', '/picture'],
    ['/assets/shop.js', undefined, '/assets/update', '/assets/form', '/assets/picture'],
    ['/assets/shop.js', '/x/', '/x/update', '/x/form', '/x/picture'],
  ])('is tracked with the script %s and the API under %s', async (trackerPath, apiPrefix, update, form, picture) => {
    const { url } = await serveHere({ TRACKER_PATH: trackerPath, ...(apiPrefix && { API_PREFIX: apiPrefix }) });
    const { browserTokenUUID: token, serverTokenUUID } = await createAccount(url);
    const api = createClient({ url, token: serverTokenUUID });
    const image = `${url}${picture}?tokenUUID=${token}&eventID=8&userUUID=a-mail-reader-of-the-shop`;
    const { passed, blocked } = await visit(scriptTag(url, token, { trackerPath, apiPrefix }), image);
    await expect.poll(() => eventsOf(api)).toEqual([1_000_000, 7, 8]);
    const script = trackerPath.replace('.js', '.full.js');
    await expect.poll(() => [...new Set(passed)].toSorted()).toEqual([script, update, form, picture].toSorted());
    expect(blocked).toEqual([]);
  });

  test('is not tracked with the old names', async () => {
    const { url } = await serveHere();
    const { browserTokenUUID: token } = await createAccount(url);
    const image = `${url}/logEvent?tokenUUID=${token}&eventID=8&userUUID=a-mail-reader-of-the-shop`;
    const { passed, blocked } = await visit(scriptTag(url, token, { trackerPath: '/tracker.js' }), image);
    await expect.poll(() => blocked.toSorted()).toEqual(['/logEvent', '/tracker.full.js']);
    expect(passed).toEqual([]);
  });
});
