/** The console in Chromium. */
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { onTestFinished } from 'vitest';
import type { Shop } from './shop.ts';

/** Opens a browser's console; `complaints` is what the browser finds wrong, and what the page asks of anybody else. */
export const openConsole = async (
  browser: Browser,
  { url }: Pick<Shop, 'url'>,
  options: BrowserContextOptions = {},
) => {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, locale: 'en-GB', ...options });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => complaints.push(message.text()));
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== url && !request.url().startsWith('blob:'))
      complaints.push(`requested ${request.url()}`);
  });
  const goto = (path: string) => page.goto(`${url}/console/${path}`);
  const signIn = async (token: string, path = '') => {
    await goto(path);
    await page.getByLabel('Server token or viewer token').fill(token);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('navigation', { name: 'Console' }).waitFor();
  };
  return { page, context, goto, signIn, complaints };
};
