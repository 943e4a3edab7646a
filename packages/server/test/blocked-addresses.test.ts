/** Tests that ad blockers' general rules match no URL that browsers request by default or in our examples. */
import { readFileSync } from 'node:fs';
import { pageNames } from '@firsthand/contract/identifiers';
import { describe, expect, it } from 'vitest';
import { readConfig } from '../src/config/config.ts';
import { welcome } from '../src/demo/welcome.ts';
import { folderOf } from '../src/http/script-tag.ts';
import { trackerRoutes } from '../src/http/tracker-script.ts';
import { trackerFolder } from '../src/shared/built-folders.ts';
import { listBlockedUses } from './fixtures/blocker.ts';
import { firsthand, temporaryDatabase } from './fixtures/command.ts';
import { guideFiles } from './fixtures/documents/guides.ts';
import { serveHere } from './fixtures/serving.ts';

const site = 'https://shop.example/s';
const config = readConfig({});

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8');

/** Returns the URLs in a page's tags and scripts. */
const addressesIn = (text: string): string[] =>
  [...text.matchAll(/(?:src=|href=|url: )["']([^"']+)["']/g)].map(([, address]) => new URL(address ?? '', site).href);

/** Returns a document's HTML and JavaScript code blocks. */
const codeOf = (markdown: string): string =>
  [...markdown.matchAll(/```(?:html|php|js|ts|tsx|jsx|vue)\n([\s\S]*?)```/g)].map(([, code]) => code).join('\n');

/** Returns the URLs to which a document's commands send a browser token, as browsers do. */
const browserCommandsOf = (markdown: string): string[] =>
  [...markdown.matchAll(/^curl -s "?\$URL(\/[^"\s]*)[\s\S]*?(?=\n\n|\n#|\ncurl|\n```)/gm)]
    .filter(([command]) => command.includes('$BROWSER_TOKEN'))
    .map(([, path]) => site + (path as string).replaceAll(/\$\w+/g, 'browser_0123456789'));

const documents = ['../../../README.md', '../../tracker/README.md'];
const guides = guideFiles.map((name) => `../../docs/${name}`);
const deployed = ['README.md', 'nginx.conf', 'Caddyfile', 'apache.conf', 'compose.yaml'];

describe('ad blockers’ general rules', () => {
  it.each([
    'https://stats.shop.example/main.js',
    'https://analytics.shop.example/main.js',
    'https://shop.example/tracker.js',
    'https://shop.example/stats/tracker.js',
    'https://cdn.shop.example/js/tracker.js',
    'https://shop.example/s/logEvent?tokenUUID=browser_0&eventID=5',
    'https://events.shop.example/event/logEvents',
    'https://shop.example/s/pixel.gif?tokenUUID=browser_0',
  ])('match %s, an address in a style that is no longer used', (address) => {
    expect(listBlockedUses(address)).not.toEqual([]);
  });

  it('match none of the URLs in the READMEs’ code', () => {
    for (const path of documents) {
      const addresses = addressesIn(codeOf(read(path)));
      expect(addresses.filter((address) => address.startsWith('https://shop.example/s'))).not.toEqual([]);
      expect(addresses.filter((address) => listBlockedUses(address).length > 0)).toEqual([]);
    }
  });

  it('match none of the URLs in the guides’ code', () => {
    const addresses = guides.flatMap((path) => addressesIn(codeOf(read(path))));
    expect(addresses.filter((address) => address.startsWith('https://shop.example/s/'))).not.toEqual([]);
    expect(addresses.filter((address) => listBlockedUses(address).length > 0)).toEqual([]);
  });

  it('match none of the URLs and paths in the files in deploy/', () => {
    const text = deployed.map((name) => read(`../deploy/${name}`)).join('\n');
    const addresses = [...text.matchAll(/https:\/\/shop\.example\/[\w./-]*/g)].map(([address]) => address);
    const paths = [...text.matchAll(/(?:location|handle|<Location|BASE_PATH[:=]) ?(\/[\w/]+)/g)].map(
      ([, path]) => `https://shop.example${path}`,
    );
    expect([addresses.length > 0, new Set(paths)]).toEqual([true, new Set(['https://shop.example/s/'])]);
    expect([...addresses, ...paths].filter((address) => listBlockedUses(address).length > 0)).toEqual([]);
  });

  it('match none of the browser requests in the manual’s commands', () => {
    const addresses = browserCommandsOf(read('../../docs/manual/operations.md'));
    expect(addresses.length).toBeGreaterThan(2);
    expect(addresses.filter((address) => listBlockedUses(address).length > 0)).toEqual([]);
  });

  it('match none of the script tags that npm start and account create print', async () => {
    const demo = {
      browserToken: 'browser_of-the-demo',
      serverToken: 'server_of-the-demo',
      account: 1,
      addTo: () => {},
    };
    const url = 'http://127.0.0.1:3000';
    const started = welcome({
      url,
      docs: false,
      consoleURL: undefined,
      databaseURL: config.databaseURL,
      demo,
      paths: config,
    });
    const { stdout } = await firsthand(['account', 'create', '--name', 'Shop'], temporaryDatabase().env);
    const addresses = [started, stdout].flatMap(addressesIn);
    expect(addresses).toEqual([`${url}/main.full.js`, `${site}/main.full.js`]);
    expect(addresses.filter((address) => listBlockedUses(address).length > 0)).toEqual([]);
  });

  it('match none of the demo page’s requests, which use the configured paths', async () => {
    const set = { BASE_PATH: '/tea', TRACKER_PATH: '/assets/shop.js', API_PREFIX: '/leaves' };
    const { url } = await serveHere(set, { demo: true });
    const html = await (await fetch(`${url}/demo/`)).text();
    const [, src = '', api = ''] =
      /<script [^>]*src="([^"]+)" data-token="browser_[\w-]+" data-api="([^"]+)"/.exec(html) ?? [];
    const script = new URL(src, `${url}/demo/`);
    const update = new URL(pageNames.logEvents, new URL(api, script));
    expect([script.href, update.href]).toEqual([`${url}/assets/shop.full.js`, `${url}/leaves/update`]);
    expect([(await fetch(script)).status, (await fetch(update, { method: 'POST' })).status]).toEqual([200, 401]);
    expect([script.href, update.href].flatMap(listBlockedUses)).toEqual([]);
  });

  it('match none of the default paths of scripts and their requests', () => {
    const { trackerPath } = config;
    const scripts = trackerRoutes(trackerFolder, trackerPath).filter(({ path }) => !path.startsWith('/tracker'));
    const endpoints = Object.values(pageNames).map((name) => folderOf(trackerPath) + name);
    const paths = [...scripts.map(({ path }) => path), ...endpoints];
    expect(paths).toEqual(
      expect.arrayContaining([
        ...['/main.js', '/main.full.js', '/main.domains.js', '/integrity.json'],
        ...['/update', '/picture', '/leave', '/arrive'],
      ]),
    );
    const query = '?tokenUUID=browser_0123456789&eventID=5&userUUID=visitor-of-the-shop&eventAttrArray=%5B%5D';
    for (const root of [site, 'https://shop.example/firsthand', 'https://firsthand.example', 'http://127.0.0.1:3000']) {
      const addresses = paths.flatMap((path) => [root + path, root + path + query]);
      expect(addresses.filter((address) => listBlockedUses(address).length > 0)).toEqual([]);
    }
  });
});
