/** Takes screenshots of the demo page just after a visitor has identified herself, in light and dark mode. */
import { writeFileSync } from 'node:fs';
import type { Browser } from 'playwright-core';
import { takeWebP } from './webp.ts';

const size = { width: 1280, height: 730 };
const userAgent =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';

/** Writes `demo-light.webp` and `demo-dark.webp` to the folder. */
export const takeDemoPictures = async (browser: Browser, url: string, images: URL): Promise<void> => {
  for (const colorScheme of ['light', 'dark'] as const) {
    const context = await browser.newContext({
      viewport: size,
      deviceScaleFactor: 1.5,
      colorScheme,
      reducedMotion: 'reduce',
      userAgent,
    });
    const page = await context.newPage();
    await page.goto(`${url}/demo/`);
    for (const name of [
      'Look closer: Stone teapot',
      'Add to basket: Stone teapot',
      'Look closer: First flush, 100 g',
    ]) {
      await page.waitForTimeout(1_500);
      await page.getByRole('button', { name }).click();
    }
    await page.getByLabel('First name').fill('Ann');
    await page.getByLabel('E-mail address').fill('ann@shop.example');
    await page.getByRole('button', { name: 'Join' }).click();
    await page.locator('.row.owned').nth(4).waitFor();
    // Shows the shop's products and the form's message next to the panel.
    await page.evaluate("window.scrollTo(0, document.querySelector('.goods').offsetTop - 32)");
    writeFileSync(new URL(`demo-${colorScheme}.webp`, images), await takeWebP(page));
    await context.close();
  }
};
