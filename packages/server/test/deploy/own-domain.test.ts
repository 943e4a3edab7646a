/**
 * Follows packages/docs/own-domain.md. own-path.test.ts tests this guide's web servers, with the files that the guide
 * quotes.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createClient } from '@firsthand/client';
import { createAdaptorServer } from '@hono/node-server';
import { expect, onTestFinished, test } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { defaultRateLimits } from '../../src/http/access/rate-limits.ts';
import { firsthand, temporaryDatabase } from '../fixtures/command.ts';
import { readBlocks } from '../fixtures/documents/guides.ts';
import { createAccount, serveHere } from '../fixtures/serving.ts';
import { checkOwnPath, expectedOutput } from './own-path-check.ts';

const guide = readBlocks('own-domain.md');
const codeOf = (language: string): string[] =>
  guide.filter((block) => block.language === language).map(({ code }) => code);
const [servingCommand = '', createCommand = '', , limits = ''] = codeOf('sh');

/** Returns a string's lines, except comments and blank lines. */
const linesOf = (text: string): string =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .join('\n');

test.each([
  ['nginx', 'nginx.conf', 2],
  ['caddy', 'Caddyfile', 1],
  ['apache', 'apache.conf', 1],
])('has the same %s configuration in the guide as in %s', (language, file, count) => {
  const example = linesOf(readFileSync(new URL(`../../deploy/${file}`, import.meta.url), 'utf8'));
  const blocks = codeOf(language);
  expect(blocks).toHaveLength(count);
  for (const block of blocks) expect(example).toContain(linesOf(block));
});

test('has valid settings and limits in the guide', () => {
  const env = Object.fromEntries(
    [...`${servingCommand} ${limits}`.matchAll(/([A-Z_]+)=(\S+)/g)].map(([, name, value]) => [name, value]),
  );
  const config = readConfig(env);
  expect(config).toMatchObject({ basePath: '/s/', trustProxy: ['127.0.0.1'], host: '127.0.0.1' });
  for (const name of ['address', 'addressBytes', 'createContactAddress'] as const)
    expect(config.rateLimits?.[name].perSecond).toBeGreaterThan(defaultRateLimits[name].perSecond);
});

test('prints the script tag with the path', async () => {
  const [npx, command, ...args] = createCommand.trim().split(' ');
  expect([npx, command]).toEqual(['npx', 'firsthand']);
  const { stdout } = await firsthand(args, temporaryDatabase().env);
  expect(stdout).toContain('<script async src="https://shop.example/s/main.full.js" data-token="browser_');
});

test('forwards a page’s requests and the returned cookie through the Worker, which runs in Node', async () => {
  const { url } = await serveHere({ BASE_PATH: '/s/' });
  const { browserTokenUUID, serverTokenUUID } = await createAccount(url);
  const code = codeOf('js')[0]?.replace('https://firsthand.example.net', new URL(url).origin) as string;
  const { default: worker } = await import(`data:text/javascript,${encodeURIComponent(code)}`);
  const site = createAdaptorServer({ fetch: worker.fetch }).listen(0, '127.0.0.1');
  onTestFinished(() => void site.close());
  await once(site, 'listening');
  const { port } = site.address() as AddressInfo;
  expect(await checkOwnPath(`http://127.0.0.1:${port}`, browserTokenUUID)).toEqual(expectedOutput);
  const { event } = await createClient({ url, token: serverTokenUUID }).getEvent({});
  expect(event).toMatchObject([{ eventName: 'Path checked', userUUID: 'check-of-my-own-path' }]);
});
