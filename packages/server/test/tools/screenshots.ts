/**
 * Takes the pictures of the README: the demo page at the moment at which a visitor says who she is, light and dark. `npm run
 * screenshots` writes them to `docs/images/`.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { readConfig } from '../../src/config.ts';
import { serve } from '../../src/serving/serve.ts';
import { launchChromium } from '../fixtures/chromium.ts';

const images = new URL('../../../docs/images/', import.meta.url);
const size = { width: 1280, height: 730 };

const folder = mkdtempSync(join(tmpdir(), 'firsthand-screenshots-'));
// As a visitor's browser: the tracker marks robots.
const browser = await launchChromium('--disable-blink-features=AutomationControlled');
const userAgent =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';
const config = readConfig({ DATABASE_URL: `sqlite:${folder}/firsthand.db`, PORT: '0' });
const serving = await serve(config, { demo: true, log: pino({ level: 'silent' }) });
try {
  for (const colorScheme of ['light', 'dark'] as const) {
    const context = await browser.newContext({
      viewport: size,
      deviceScaleFactor: 1.5,
      colorScheme,
      reducedMotion: 'reduce',
      userAgent,
    });
    const page = await context.newPage();
    await page.goto(`${serving.url}/demo/`);
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
    // The things of the shop, and what the form says, beside the panel.
    await page.evaluate("window.scrollTo(0, document.querySelector('.goods').offsetTop - 32)");
    // Chromium's own picture, because Playwright has no WebP.
    const session = await context.newCDPSession(page);
    const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 80 });
    writeFileSync(new URL(`demo-${colorScheme}.webp`, images), Buffer.from(data, 'base64'));
    await context.close();
  }
} finally {
  await serving.close();
  await browser.close();
  rmSync(folder, { recursive: true });
}
