/** Pictures as WebP. */
import type { Page } from 'playwright-core';

/** What the window shows, as WebP. Playwright makes no WebP, so Chromium is asked directly. */
export const takeWebP = async (page: Page): Promise<Buffer> => {
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 80 });
  await session.detach();
  return Buffer.from(data, 'base64');
};
