/** The documentation in a browser. */
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { launchChromium } from '../../../tracker/test/chromium.ts';
import { copied, findFaintTexts, focused, getOutline, measures, scrolling } from '../fixtures/in-page.js';
import { serveHere } from '../fixtures/serving.ts';

const paths = [
  '',
  'identify',
  'operations',
  'reference/',
  'reference/logEvent',
  'reference/searchContact',
  'reference/errors',
  'reference/limits',
];

let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser?.close());

/** Opens a new server's documentation. `complaints` collects errors, console messages and requests to other origins. */
const openDocs = async (options: BrowserContextOptions = {}, env: Readonly<Record<string, string>> = {}) => {
  const { url } = await serveHere(env);
  const context = await browser.newContext(options);
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => complaints.push(message.text()));
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== new URL(url).origin) complaints.push(`requested ${request.url()}`);
  });
  page.on('response', (response) => {
    if (response.status() >= 400) complaints.push(`${response.status()} ${response.url()}`);
  });
  const open = (path: string) => page.goto(`${url}/docs/${path}`);
  return { url, page, open, complaints, context };
};

describe.each([
  ['a laptop', { width: 1440, height: 900 }],
  ['a phone', { width: 390, height: 844 }],
])('the documentation on %s', (_, viewport) => {
  it.each(['light', 'dark'] as const)(
    'fits the window, is legible in %s, and loads nothing from other origins',
    async (colorScheme) => {
      const { page, open, complaints } = await openDocs({ viewport, colorScheme });
      for (const path of paths) {
        await open(path);
        const { scroll, shown, background } = await page.evaluate(measures);
        expect(scroll, `/docs/${path}`).toBeLessThanOrEqual(shown);
        expect(background).toBe(colorScheme === 'dark' ? 'rgb(17, 20, 18)' : 'rgb(255, 255, 255)');
        expect(await page.evaluate(findFaintTexts), `/docs/${path}`).toEqual([]);
      }
      expect(complaints).toEqual([]);
    },
  );
});

describe('the search', () => {
  it('finds an operation and a guide by keyboard', async () => {
    const { url, page, open, complaints } = await openDocs();
    await open('');
    await page.keyboard.press('/');
    const box = page.getByRole('combobox', { name: 'Search the documentation' });
    await box.pressSequentially('search contact');
    const chosen = page.locator('#results [aria-selected=true]');
    await expect.poll(() => chosen.textContent()).toMatch(/^searchContact/);
    expect(await box.getAttribute('aria-activedescendant')).toBe(await chosen.getAttribute('id'));
    await page.keyboard.press('Enter');
    await page.waitForURL(`${url}/docs/reference/searchContact`);

    await page.keyboard.press('Control+k');
    await box.pressSequentially('payment');
    await expect.poll(() => page.locator('#results [role=option]').count()).toBeGreaterThan(1);
    const first = await chosen.textContent();
    await page.keyboard.press('ArrowDown');
    expect(await chosen.textContent()).not.toBe(first);
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await page.waitForURL(`${url}/docs/backend`);
    expect(complaints).toEqual([]);
  });

  it('reports that there are no results, and closes with Escape', async () => {
    const { page, open } = await openDocs();
    await open('reference/logEvent');
    await page.keyboard.press('/');
    await page.keyboard.type('zxqvwjk');
    await expect.poll(() => page.getByRole('status').textContent()).toBe('Nothing found');
    await page.keyboard.press('Escape');
    expect(await page.getByRole('status').textContent()).toBe('');
    expect(await page.evaluate(focused)).toBe('BODY');
  });

  it('shows markup as text', async () => {
    const { page, open, complaints } = await openDocs();
    await open('');
    await page.getByRole('combobox').fill('<img src=x onerror=alert(1)> head');
    await expect.poll(() => page.locator('#results [role=option]').count()).toBeGreaterThan(0);
    expect(await page.locator('#results img, #results script').count()).toBe(0);
    expect(complaints).toEqual([]);
  });
});

describe('an example', () => {
  it('contains the URL in the address bar, including a proxy’s path', async () => {
    const { url, page, open, complaints } = await openDocs({}, { BASE_PATH: '/s/' });
    const { port } = new URL(url);
    await page.goto(`http://localhost:${port}/s/docs/reference/logEvent`);
    await expect
      .poll(() => page.locator('pre').first().textContent())
      .toContain(`curl http://localhost:${port}/s/event/logEvent`);
    await open('');
    await expect.poll(() => page.locator('pre').first().textContent()).toContain(`src="${url}/main.full.js"`);
    expect(complaints.filter((complaint) => !complaint.startsWith('requested http://localhost:'))).toEqual([]);
  });

  it('is shown in the previously chosen language, and can be copied', async () => {
    const { url, page, open, context } = await openDocs();
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: url });
    await open('reference/logEvent');
    await page.getByRole('radio', { name: 'curl' }).focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    expect(await page.locator('.tabs pre:visible').textContent()).toMatch(/^\/\/ By the event's name/);
    await open('reference/createContact');
    expect(await page.locator('.tabs pre:visible').textContent()).toMatch(/tracker\.createContact\(\{/);
    await page.getByRole('button', { name: 'Copy' }).first().click();
    await expect.poll(() => page.evaluate(copied)).toBe(await page.locator('.tabs pre:visible').textContent());
  });
});

it('opens the parents of a nested field that a link points to', async () => {
  const { page, open } = await openDocs();
  await open('reference/logEvents#request-event-eventTime');
  await expect.poll(() => page.locator('#request-event-eventTime').isVisible()).toBe(true);
});

it('opens the menu on a phone without JavaScript', async () => {
  const { page, open } = await openDocs({ viewport: { width: 390, height: 844 }, javaScriptEnabled: false });
  await open('reference/logEvent');
  const link = page.getByRole('navigation', { name: 'Documentation' }).getByRole('link', { name: 'searchContact' });
  expect(await link.isVisible()).toBe(false);
  await page.getByRole('button', { name: 'Menu' }).click();
  await link.click();
  await page.waitForURL(/searchContact$/);
  expect(await page.getByRole('combobox').count()).toBe(0);
  expect(await page.locator('.tabs pre:visible').textContent()).toMatch(
    /^curl -G http:\/\/127\.0\.0\.1:\d+\/contact\/searchContact/,
  );
});

it('shows the keyboard focus, and has a link that skips the navigation', async () => {
  const { page, open } = await openDocs({ reducedMotion: 'reduce' });
  await open('identify');
  await page.keyboard.press('Tab');
  const skip = page.getByRole('link', { name: 'Skip to the content' });
  expect(await skip.evaluate(getOutline)).toBe('solid');
  await page.keyboard.press('Enter');
  expect(await page.evaluate(focused)).toBe('content');
  expect(await page.evaluate(scrolling)).toBe('auto');
});
