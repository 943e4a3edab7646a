/** Tests the documentation that a running server serves, as built by `npm run build`. */
import { readdirSync } from 'node:fs';
import { operationNames } from '@firsthand/contract/operations';
import { expect, test } from 'vitest';
import { runBlock } from './fixtures/documents/guides.ts';
import { createAccount, serveHere } from './fixtures/serving.ts';

const guides = readdirSync(new URL('../../docs/', import.meta.url)).filter((name) => /^[a-z].*\.md$/.test(name));

test.each([[{}], [{ BASE_PATH: '/s/', TRACKER_PATH: '/kettle.js' }]])(
  'serves a page with the server’s URL for every guide and operation, with %o',
  async (env) => {
    const { url } = await serveHere(env);
    const paths = [
      '',
      ...guides.map((name) => name.slice(0, -'.md'.length)),
      ...operationNames.map((name) => `reference/${name}`),
    ];
    for (const path of paths) {
      const response = await fetch(`${url}/docs/${path}`);
      const page = await response.text();
      expect([response.status, page.includes('{firsthand:')], path).toEqual([200, false]);
      const markdown = await fetch(`${url}/docs/${path || 'index'}.md`);
      expect([markdown.status, await markdown.text()]).toEqual([200, expect.stringMatching(/^# .+\n\n/)]);
      if (path === '' || path.startsWith('reference/')) expect(page, path).toContain(`<span data-root>${url}</span>`);
    }
    const page = await (await fetch(`${url}/docs/`)).text();
    expect(page).toContain(`</span>${'TRACKER_PATH' in env ? '/kettle.full.js' : '/main.full.js'}&quot;`);
    const guide = await (await fetch(`${url}/docs/static-site`)).text();
    const [, script] = /https:\/\/shop\.example\/s(\/[\w.]+\.js)/.exec(guide) ?? [];
    expect(script).toMatch(/\.full\.js$/);
    expect((await fetch(url + script)).status).toBe(200);
  },
);

test.each([
  [{}, '/'],
  [{ TRACKER_PATH: '/assets/shop.js', BASE_PATH: '/s/' }, '/assets/'],
  [{ TRACKER_PATH: '/assets/shop.js', API_PREFIX: '/send/here/' }, '/send/here/'],
])('redirects the link in the tracker’s warnings to the page about error codes, with %o', async (env, folder) => {
  const { url } = await serveHere(env);
  const response = await fetch(`${url}${folder}docs/errors`);
  expect([response.status, response.url]).toEqual([200, `${url}/docs/reference/errors`]);
});

test('serves a page’s images', async () => {
  const { url } = await serveHere();
  const page = await (await fetch(`${url}/docs/console`)).text();
  const images = [...page.matchAll(/<img src="(assets\/console-[\w.-]+)" alt="[^"]{20,}" width="\d+" height="\d+"/g)];
  expect(images).toHaveLength(4);
  for (const [, path] of images) {
    const response = await fetch(`${url}/docs/${path}`);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'image/webp']);
    expect((await response.arrayBuffer()).byteLength).toBeLessThan(120_000);
  }
});

test('logs an event and reads it back with the first commands on the start page', async () => {
  const { url, docs } = await serveHere();
  expect(docs).toBe(true);
  const { serverTokenUUID } = await createAccount(url);
  const page = await (await fetch(`${url}/docs/`)).text();
  const [html = ''] = [...page.matchAll(/<code>(.*?)<\/code>/gs)].flatMap(([, code = '']) =>
    code.includes('curl') ? code : [],
  );
  const code = html
    .replaceAll(/<[^>]+>/g, '')
    .replaceAll('&quot;', '"')
    .replaceAll('&#x27;', "'");
  const printed = await runBlock({ language: 'sh', code }, { SERVER_TOKEN: serverTokenUUID });
  const [logged, read] = printed.split(/(?<=\})\s*(?=\{)/).map((text) => JSON.parse(text));
  expect(logged).toMatchObject({ status: '200', eventUUID: expect.any(String) });
  expect(read.event).toMatchObject([
    { eventUUID: logged.eventUUID, eventName: 'Signed up', userUUID: 'visitor-of-the-docs' },
  ]);
});

test('serves no documentation if DOCS=off', async () => {
  const { url, docs } = await serveHere({ DOCS: 'off' });
  expect(docs).toBe(false);
  for (const path of ['/docs', '/docs/', '/docs/reference/logEvent'])
    expect((await fetch(url + path)).status).toBe(404);
  expect((await fetch(`${url}/openapi.json`)).status).toBe(200);
});
