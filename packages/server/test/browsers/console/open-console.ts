/** Opens the console in Chromium. */
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { onTestFinished } from 'vitest';
import type { Shop } from './shop.ts';
import { signInWith } from './sign-in.ts';

/** A server on a busy machine may reject a report with `Retry-After`. The page retries, so tests ignore it. */
const isBusy = (message: string) => message.includes('responded with a status of 503');

/** Opens the console in a browser. `complaints` collects errors, console messages and requests to other origins. */
export const openConsole = async (
  browser: Browser,
  { url }: Pick<Shop, 'url'>,
  options: BrowserContextOptions = {},
) => {
  // Reduces motion, because animations use half a CPU in a browser without a GPU.
  const still = { reducedMotion: 'reduce' } as const;
  const window = { viewport: { width: 1440, height: 900 }, locale: 'en-GB' };
  const context = await browser.newContext({ ...window, ...still, ...options });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    if (!isBusy(message.text())) complaints.push(message.text());
  });
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== url && !request.url().startsWith('blob:'))
      complaints.push(`requested ${request.url()}`);
  });
  const goto = (path: string) => page.goto(`${url}/console/${path}`);
  const signIn = async (token: string, path = '') => {
    await goto(path);
    await signInWith(page, token);
  };
  return { page, context, goto, signIn, complaints };
};
