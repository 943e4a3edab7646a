/** The documentation of a running server: whatever `npm run build` has made. */
import { readdirSync } from 'node:fs';
import { operationNames } from '@firsthand/contract/operations';
import { expect, test } from 'vitest';
import { serveHere } from './fixtures/serving.ts';

const guides = readdirSync(new URL('../../docs/', import.meta.url)).filter((name) => /^[a-z].*\.md$/.test(name));

test.each([[{}], [{ BASE_PATH: '/s/', TRACKER_PATH: '/kettle.js' }]])(
  'every guide and operation has a page with the address of the server, with %o',
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
      if (path === '' || path.startsWith('reference/')) expect(page, path).toContain(`<span data-root>${url}</span>`);
    }
    const page = await (await fetch(`${url}/docs/`)).text();
    expect(page).toContain(`</span>${'TRACKER_PATH' in env ? '/kettle.js' : '/main.js'}&quot;`);
    const guide = await (await fetch(`${url}/docs/static-site`)).text();
    const [, script] = /https:\/\/shop\.example\/s(\/[\w.]+\.js)/.exec(guide) ?? [];
    expect(script).toMatch(/\.full\.js$/);
    expect((await fetch(url + script)).status).toBe(200);
  },
);

test('DOCS=off serves none of it', async () => {
  const { url } = await serveHere({ DOCS: 'off' });
  for (const path of ['/docs', '/docs/', '/docs/reference/logEvent'])
    expect((await fetch(url + path)).status).toBe(404);
  expect((await fetch(`${url}/openapi.json`)).status).toBe(200);
});
