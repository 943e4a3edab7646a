import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { launchChromium } from '../../../tracker/test/chromium.ts';
import { serveHere } from '../fixtures/serving.ts';

describe('the demo page’s Content Security Policy', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser?.close());

  it('allows everything that the page does, and blocks injected scripts and requests', async () => {
    const { url } = await serveHere({}, { demo: true });
    const context = await browser.newContext();
    onTestFinished(() => context.close());
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(String(error)));
    const sent: (string | undefined)[] = [];
    page.on('request', async (request) => sent.push((await request.allHeaders()).referer));
    await page.goto(`${url}/demo/`);
    await expect.poll(() => page.locator('.row').count()).toBe(1);
    expect(complaints).toEqual([]);
    expect(sent.filter((referer) => referer !== undefined)).toEqual([]);

    // Passed as a string, because it runs in the page.
    const ran = await page.evaluate(`(async () => {
      const script = document.createElement('script');
      script.textContent = 'globalThis.smuggled = "a script"';
      document.body.append(script);
      const image = document.createElement('div');
      image.innerHTML = '<img src="data:," onerror="globalThis.smuggled = 1">';
      document.body.append(image);
      const fetched = await fetch('https://example.com/').then(() => 'left', () => 'stayed');
      await new Promise((resolve) => setTimeout(resolve, 100));
      return { smuggled: globalThis.smuggled, fetched };
    })()`);
    expect(ran).toEqual({ smuggled: undefined, fetched: 'stayed' });
    expect(complaints.join('\n')).toMatch(/Content Security Policy/);
  });
});
