import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { launchChromium } from '../../../tracker/test/chromium.ts';
import { temporaryDatabase } from '../fixtures/command.ts';
import { serveHere } from '../fixtures/serving.ts';

describe('the demo page’s panel', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser?.close());

  /** Opens a new server's demo page. `complaints` collects errors and console messages. */
  const open = async (env: Readonly<Record<string, string>> = {}, headers: Record<string, string> = {}) => {
    const { url, close } = await serveHere(env, { demo: true });
    const context = await browser.newContext({ extraHTTPHeaders: headers });
    onTestFinished(() => context.close());
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('console', (message) => complaints.push(message.text()));
    await page.goto(url);
    return { page, url, close, complaints };
  };

  const textOf = (page: Page, selector: string) => page.locator(selector).textContent();
  const expectText = (page: Page, selector: string) => expect.poll(() => textOf(page, selector));

  const join = async (page: Page, name: string, address: string) => {
    await page.getByLabel('First name').fill(name);
    await page.getByLabel('E-mail address').fill(address);
    await page.getByRole('button', { name: 'Join' }).click();
  };

  it('shows who the events belong to, before and after the form is sent, and after logging out', async () => {
    const { page, complaints } = await open({ BASE_PATH: '/base' });
    await page.getByRole('button', { name: 'Add to basket: Morning cup' }).click();
    await expect.poll(() => page.locator('.owner').allInnerTexts()).toEqual(['anonymous', 'anonymous']);
    await expectText(page, '#name').toMatch(/^Anonymous/);
    const user = await textOf(page, '#user');

    await join(page, 'Ann', 'ann@shop.example');
    await expect.poll(() => page.locator('.owner').allInnerTexts()).toEqual(['Ann', 'Ann', 'Ann']);
    await expectText(page, '#name').toBe('Ann, ann@shop.example');
    expect(await page.locator('.past').allInnerTexts()).toEqual([
      '',
      'logged while anonymous',
      'logged while anonymous',
    ]);
    expect(await textOf(page, '#user')).toBe(user);

    await page.getByRole('button', { name: 'Log out' }).click();
    await expectText(page, '#user').not.toBe(user);
    await expect.poll(() => page.locator('.owner').allInnerTexts()).toEqual(['anonymous']);
    expect(complaints, 'the policy allows everything that the page does').toEqual([]);
  });

  it('shows markup as text', async () => {
    const { page, complaints } = await open();
    await join(page, '<img src=x onerror=alert(1)>', 'ann@shop.example');
    await expectText(page, '#name').toBe('<img src=x onerror=alert(1)>, ann@shop.example');
    expect(await page.locator('img').count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  it('explains what is wrong with an e-mail address', async () => {
    const { page } = await open();
    await join(page, 'Ann', '');
    await expectText(page, '#said').toMatch(/^Enter an e-mail address/);
    await join(page, 'Ann', 'ann');
    await expectText(page, '#said').toMatch(/contactEmailaddress/);
    await expectText(page, '#name').toMatch(/^Anonymous/);
  });

  it('reconnects after the server restarts', async () => {
    const { env } = temporaryDatabase();
    const first = await open(env);
    await expect.poll(() => first.page.locator('.row').count()).toBe(1);
    await first.close();
    await expectText(first.page, '#state').toBe('reconnecting');
    await serveHere({ ...env, PORT: new URL(first.url).port }, { demo: true });
    await expectText(first.page, '#state').toBe('live');
    await first.page.getByRole('button', { name: 'Look closer: Stone teapot' }).click();
    await expect.poll(() => first.page.locator('.row').count()).toBe(2);
  });

  it('explains why it is empty on another machine', async () => {
    const { page } = await open({}, { 'x-forwarded-for': '192.0.2.1' });
    await expectText(page, '#state').toBe('not available');
    await expectText(page, '#nothing').toMatch(/works only on the machine/);
  });
});
