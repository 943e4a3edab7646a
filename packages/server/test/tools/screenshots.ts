/**
 * Takes screenshots. `npm run screenshots` writes those for the README and the documentation to `docs/images/`, and
 * those of every console page to the folder SCREENSHOTS, by default a new temporary folder. `npm run screenshots --
 * live` takes only the console pages named `live`.
 */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { launchChromium } from '../../../tracker/test/chromium.ts';
import { takeConsolePictures } from './pictures/console-pictures.ts';
import { takeDemoPictures } from './pictures/demo-pictures.ts';
import { takeDocumentationPictures } from './pictures/documentation-pictures.ts';
import { openSampleServer } from './pictures/sample-server.ts';

const images = new URL('../../../docs/images/', import.meta.url);
const maxMs = 15 * 60_000;

const [, , only] = process.argv;
const folder = process.env.SCREENSHOTS ?? mkdtempSync(join(tmpdir(), 'firsthand-screenshots-'));
const report = (line: string): void => console.log(line);

setTimeout(() => {
  console.error(`screenshots are not complete after ${maxMs / 60_000} minutes`);
  process.exit(1);
}, maxMs).unref();

const server = await openSampleServer();
// Makes navigator.webdriver false, because the tracker marks bots.
const browser = await launchChromium('--disable-blink-features=AutomationControlled');
try {
  if (only === undefined) {
    await takeDocumentationPictures(browser, server, images);
    await takeDemoPictures(browser, server.url, images);
  }
  await takeConsolePictures({ browser, server, folder, only: only ?? '', report });
  report(`Wrote the console screenshots to ${folder}`);
} finally {
  await browser.close();
  await server.close();
}
