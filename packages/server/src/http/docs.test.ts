import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { openScene, type Scene } from '../../test/fixtures/scene.ts';
import type { AppOptions } from './app.ts';
import { hasDocs } from './docs.ts';
import { scriptTag } from './script-tag.ts';

const folder = mkdtempSync(join(tmpdir(), 'docs-'));
const style = 'body { margin: 0 }'.repeat(20);
const root = 'http://127.0.0.1:3000';
let scene: Scene;
beforeAll(async () => {
  for (const name of ['reference', 'assets']) mkdirSync(join(folder, name));
  const write = (path: string, content: string | Buffer) => writeFileSync(join(folder, path), content);
  write('index.html', '<h1>Docs</h1><pre>{firsthand:script-tag}</pre>');
  write(
    'guide.html',
    `<code>curl {firsthand:root}/x /s{firsthand:tracker-stem}.js /s{firsthand:tracker-stem}.full.js</code>${'<p>text</p>'.repeat(200)}`,
  );
  write('guide.md', '# Guide\n\ncurl {firsthand:root}/x?a=1&b=2\n');
  write('llms.txt', '# Firsthand\n\n- [Guide]({firsthand:root}/docs/guide.md)\n');
  write('reference/index.html', '<h1>Reference</h1>');
  write('reference/logEvent.html', '<code>{firsthand:page-folder}picture</code>');
  write('assets/docs.0123abcd.css', style);
  write('assets/docs.0123abcd.css.gz', gzipSync(style));
  write('assets/secret.env', 'not ours');
  write('built', '');
  scene = await openScene({ files: { docs: { folder, root: () => root } } });
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await scene.close();
});

const request = async (path: string, init: RequestInit = {}, { app } = scene) => {
  const response = await app.request(path, init);
  return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) };
};
const text = async (path: string, init: RequestInit = {}, of = scene) =>
  (await request(path, init, of)).bytes.toString();
const another = async (options: Partial<AppOptions>, address = root) => {
  const other = await openScene({ files: { docs: { folder, root: () => address } }, ...options });
  onTestFinished(() => other.close());
  return other;
};

describe('a documentation page', () => {
  it.each([
    ['/docs/', 'Docs'],
    ['/docs/guide', 'curl'],
    ['/docs/reference/', 'Reference'],
    ['/docs/reference/logEvent', 'picture'],
  ])('is served at %s with a strict policy, and is revalidated each time', async (path, content) => {
    const { status, headers, bytes } = await request(path);
    expect(status).toBe(200);
    expect(bytes.toString()).toContain(content);
    expect(bytes.toString()).not.toContain('{firsthand:');
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
    });
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self'; /);
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|\*|data:|nonce/);
    expect(headers.get('set-cookie')).toBeNull();
    expect(headers.get('access-control-allow-origin')).toBeNull();
  });

  it('contains the address and the paths of this server', async () => {
    expect(await text('/docs/guide')).toContain(`curl <span data-root>${root}</span>/x /s/main.js /s/main.full.js<`);
    expect(await text('/docs/reference/logEvent')).toContain('<code>/picture</code>');
    const paths = { trackerPath: '/assets/shop.js', apiPrefix: '/shop-data/' };
    const other = await another({ paths, basePath: '/base/' }, 'https://shop.example/base');
    expect(await text('/base/docs/guide', {}, other)).toContain(
      'curl <span data-root>https://shop.example/base</span>/x /s/assets/shop.js /s/assets/shop.full.js<',
    );
    expect(await text('/base/docs/reference/logEvent', {}, other)).toContain('<code>/shop-data/picture</code>');
    const page = (await text('/base/docs/', {}, other)).replaceAll(/<\/?(?:span[^>]*|h1|pre)>|Docs/g, '');
    const tag = scriptTag('https://shop.example/base', 'browser_…', paths);
    expect(
      page.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&'),
    ).toBe(tag);
    expect((await request('/docs/', {}, other)).status).toBe(404);
  });

  it('does not depend on the request’s host, so that caches cannot be poisoned', async () => {
    const page = await text('/docs/guide');
    for (const [name, value] of [
      ['Host', 'evil.example'],
      ['Host', '"><script>alert(1)</script>'],
      ['X-Forwarded-Host', 'evil.example'],
      ['X-Forwarded-Proto', 'https'],
      ['X-Forwarded-Prefix', '/evil'],
      ['Forwarded', 'host=evil.example'],
    ] as const) {
      for (const of of [scene, await another({ trustProxy: ['0.0.0.0/0'] })])
        expect(await text('/docs/guide', { headers: { [name]: value } }, of)).toBe(page);
    }
  });

  it('escapes the server’s address', async () => {
    const other = await another({}, `http://"><script>alert('&')</script>`);
    const page = await text('/docs/guide', {}, other);
    expect(page).toContain(`http://&quot;&gt;&lt;script&gt;alert('&amp;')&lt;/script&gt;`);
    expect(page).not.toContain('<script>');
  });

  it('is compressed, and revalidated by ETag', async () => {
    const plain = await text('/docs/guide');
    const compressed = [
      ['br', brotliDecompressSync],
      ['gzip', gunzipSync],
    ] as const;
    for (const [encoding, unpack] of compressed) {
      const { headers, bytes } = await request('/docs/guide', { headers: { 'Accept-Encoding': encoding } });
      expect([headers.get('content-encoding'), headers.get('vary')]).toEqual([encoding, 'Accept-Encoding']);
      expect(unpack(bytes).toString()).toBe(plain);
      const again = { 'Accept-Encoding': encoding, 'If-None-Match': headers.get('etag') ?? '' };
      const { status, bytes: none, headers: unchanged } = await request('/docs/guide', { headers: again });
      expect([status, none.length]).toEqual([304, 0]);
      expect(unchanged.get('content-security-policy')).toBe(headers.get('content-security-policy'));
    }
  });

  it('accepts HEAD but not POST', async () => {
    expect(await request('/docs/guide', { method: 'HEAD' })).toMatchObject({ status: 200, bytes: Buffer.alloc(0) });
    const { status, headers } = await request('/docs/guide', { method: 'POST' });
    expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });

  it.each(['/docs', '/docs/reference'])('is reached by a redirect from %s, behind any proxy', async (path) => {
    const { status, headers } = await request(path);
    const location = headers.get('location') ?? '';
    expect([status, new URL(location, `https://shop.example/s${path}`).pathname]).toEqual([308, `/s${path}/`]);
  });

  it.each([
    '/docs/index.html',
    '/docs/guide.html',
    '/docs/guide/',
    '/docs/built',
    '/docs/assets/',
    '/docs/assets/secret.env',
    '/docs/assets/docs.0123abcd.css.gz',
    '/docs/..%2f..%2fpackage.json',
    '/docs/%00',
  ])('is not served at %s', async (path) => {
    expect((await request(path)).status).toBe(404);
  });
});

it.each([
  ['/docs/guide.md', `# Guide\n\ncurl ${root}/x?a=1&b=2\n`],
  ['/docs/llms.txt', `# Firsthand\n\n- [Guide](${root}/docs/guide.md)\n`],
])('serves %s as Markdown with this server’s address', async (path, content) => {
  const { status, headers, bytes } = await request(path);
  expect([status, bytes.toString()]).toEqual([200, content]);
  expect(headers.get('content-type')).toBe('text/markdown; charset=utf-8');
});

it('caches assets forever', async () => {
  const path = '/docs/assets/docs.0123abcd.css';
  const { status, headers, bytes } = await request(path, { headers: { 'Accept-Encoding': 'gzip' } });
  expect([status, gunzipSync(bytes).toString()]).toEqual([200, style]);
  expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  expect(headers.get('content-type')).toBe('text/css; charset=utf-8');
});

it('recognizes a folder that contains a build', () => {
  expect(hasDocs(folder)).toBe(true);
  expect(hasDocs(join(folder, 'assets'))).toBe(false);
});
