/**
 * Takes pictures. `npm run screenshots` writes those of the README and the documentation to `docs/images/`, and those of every page of
 * the console to a temporary folder, whose name it prints. `npm run screenshots -- live` takes only those of the console's pages with
 * `live` in their names, into the folder SCREENSHOTS if that is set.
 */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { launchChromium } from '../../../tracker/test/chromium.ts';
import { takeConsolePictures } from './pictures/console-pictures.ts';
import { takeDemoPictures } from './pictures/demo-pictures.ts';
import { openPicturedServer } from './pictures/pictured-server.ts';
import { takeShownPictures } from './pictures/shown-pictures.ts';

const images = new URL('../../../docs/images/', import.meta.url);
const maxMs = 15 * 60_000;

const [, , only] = process.argv;
const folder = process.env.SCREENSHOTS ?? mkdtempSync(join(tmpdir(), 'firsthand-screenshots-'));
const report = (line: string): void => console.log(line);

setTimeout(() => {
  console.error(`not done after ${maxMs / 60_000} minutes`);
  process.exit(1);
}, maxMs).unref();

const server = await openPicturedServer();
// As a visitor's browser: the tracker marks robots.
const browser = await launchChromium('--disable-blink-features=AutomationControlled');
try {
  if (only === undefined) {
    await takeShownPictures(browser, server, images);
    await takeDemoPictures(browser, server.url, images);
  }
  await takeConsolePictures({ browser, server, folder, only: only ?? '', report });
  report(`The pictures of the console are in ${folder}`);
} finally {
  await browser.close();
  await server.close();
}
