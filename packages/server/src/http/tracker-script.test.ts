import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openScene, type Scene } from '../../test/fixtures/scene.ts';
import { trackerRoutes } from './tracker-script.ts';

const script = 'console.log("tracker");'.repeat(20);
const folder = mkdtempSync(join(tmpdir(), 'tracker-'));
const plainFolder = mkdtempSync(join(tmpdir(), 'tracker-'));
let scene: Scene;
beforeAll(async () => {
  writeFileSync(join(folder, 'tracker.js'), script);
  writeFileSync(join(folder, 'tracker.js.br'), brotliCompressSync(script));
  writeFileSync(join(folder, 'tracker.js.gz'), gzipSync(script));
  writeFileSync(join(folder, 'tracker.full.js'), 'full');
  writeFileSync(join(folder, 'tracker.domains.js'), 'domains');
  writeFileSync(join(folder, 'tracker.0123456789abcdef.js'), script);
  writeFileSync(join(folder, 'tracker.full.fedcba9876543210.js'), 'earlier');
  writeFileSync(join(folder, 'tracker.secret.js'), 'not ours');
  const integrity = { 'tracker.js': { src: 'tracker.0123456789abcdef.js', integrity: 'sha384-of-it' } };
  writeFileSync(join(folder, 'integrity.json'), JSON.stringify(integrity));
  writeFileSync(join(folder, 'licenses.txt'), 'MIT');
  writeFileSync(join(plainFolder, 'tracker.js'), script);
  scene = await openScene({ files: { tracker: folder } });
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  rmSync(plainFolder, { recursive: true });
  await scene.close();
});

const get = async (headers: Record<string, string> = {}, init: RequestInit = {}) => {
  const response = await scene.app.request('/tracker.js', { headers, ...init });
  return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) };
};

describe('/tracker.js', () => {
  it.each([
    ['br, gzip', 'br', brotliDecompressSync],
    ['gzip, deflate, br;q=1.0', 'br', brotliDecompressSync],
    ['gzip', 'gzip', gunzipSync],
    ['br;q=0, gzip', 'gzip', gunzipSync],
    ['br; q=0.000, gzip;q=0', null, (bytes: Buffer) => bytes],
    ['identity', null, (bytes: Buffer) => bytes],
    ['', null, (bytes: Buffer) => bytes],
  ])('is sent to a client that accepts "%s" as %s', async (acceptEncoding, encoding, unpack) => {
    const { status, headers, bytes } = await get({ 'Accept-Encoding': acceptEncoding });
    expect([status, headers.get('content-encoding')]).toEqual([200, encoding]);
    expect(unpack(bytes).toString()).toBe(script);
    expect(headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    expect(headers.get('vary')).toBe('Accept-Encoding');
    expect(headers.get('cache-control')).toBe('public, max-age=3600');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('cross-origin-resource-policy')).toBe('cross-origin');
    expect(headers.get('access-control-allow-origin')).toBe('*');
  });

  it('is revalidated by ETag', async () => {
    const packed = { 'Accept-Encoding': 'br' };
    const etag = (await get(packed)).headers.get('etag') as string;
    expect(etag).toMatch(/^"[\w-]+"$/);
    for (const ifNoneMatch of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const { status, headers, bytes } = await get({ ...packed, 'If-None-Match': ifNoneMatch });
      expect([status, bytes.length, headers.get('etag')]).toEqual([304, 0, etag]);
    }
    expect((await get({ ...packed, 'If-None-Match': '"other"' })).status).toBe(200);
    expect((await get({ 'If-None-Match': etag })).status).toBe(200);
  });

  it('accepts HEAD but not POST', async () => {
    expect(await get({}, { method: 'HEAD' })).toMatchObject({ status: 200, bytes: Buffer.alloc(0) });
    const { status, headers } = await get({}, { method: 'POST' });
    expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
  });

  it('is sent uncompressed if there are no compressed files', async () => {
    const plain = await openScene({ files: { tracker: plainFolder } });
    const response = await plain.app.request('/tracker.js', { headers: { 'Accept-Encoding': 'br' } });
    expect([response.headers.get('content-encoding'), await response.text()]).toEqual([null, script]);
    await plain.close();
  });

  it.each([
    ['tracker.full.js', 'full', 'public, max-age=3600', 'text/javascript; charset=utf-8'],
    ['tracker.domains.js', 'domains', 'public, max-age=3600', 'text/javascript; charset=utf-8'],
    ['tracker.0123456789abcdef.js', script, 'public, max-age=31536000, immutable', 'text/javascript; charset=utf-8'],
    [
      'tracker.full.fedcba9876543210.js',
      'earlier',
      'public, max-age=31536000, immutable',
      'text/javascript; charset=utf-8',
    ],
    ['licenses.txt', 'MIT', 'public, max-age=3600', 'text/plain; charset=utf-8'],
  ])('is served along with %s', async (name, text, cacheControl, contentType) => {
    const response = await scene.app.request(`/${name}`);
    expect([response.status, await response.text()]).toEqual([200, text]);
    expect(response.headers.get('cache-control')).toBe(cacheControl);
    expect(response.headers.get('content-type')).toBe(contentType);
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
  });

  it('does not serve compressed files under their own names', async () => {
    expect((await scene.app.request('/tracker.js.br')).status).toBe(404);
  });

  it.each(['tracker.secret.js', 'tracker.0123456789abcde0.js', 'main.min.js', 's/main.full.js'])(
    'serves a warning script at the wrong path %s',
    async (name) => {
      const response = await scene.app.request(`/${name}`);
      expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'no-store']);
      expect(response.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
      expect(await response.text()).toMatch(/^console\.warn\("firsthand: no script has this path\. .*\/main\.full\.js/);
      expect((await scene.app.request(`/${name}`, { method: 'POST' })).status).toBe(404);
    },
  );

  it.each(['console/assets/old.js', 'docs/assets/old.js'])('serves no warning script at %s', async (name) => {
    expect((await scene.app.request(`/${name}`)).status).toBe(404);
  });

  it('requires a build', () => {
    expect(() => trackerRoutes('/nowhere', '/main.js')).toThrow(/npm run build/);
  });
});

describe('the script at TRACKER_PATH', () => {
  it.each([
    ['/main.js', '/', 'main'],
    ['/tracker.js', '/', 'tracker'],
    ['/shop/assets/kettle.min.js', '/shop/assets/', 'kettle.min'],
  ])(
    '%s has its files in its folder, named like the script, and /tracker.js remains',
    async (trackerPath, pageFolder, stem) => {
      const paths = trackerRoutes(folder, trackerPath).map(({ path }) => path);
      expect(new Set(paths).size).toBe(paths.length);
      const hash = '0123456789abcdef';
      expect(paths).toEqual(
        expect.arrayContaining([
          trackerPath,
          ...[`${stem}.full.js`, `${stem}.${hash}.js`, 'integrity.json', 'licenses.txt'].map(
            (name) => pageFolder + name,
          ),
          ...['/tracker.js', '/tracker.full.js', `/tracker.${hash}.js`, '/integrity.json', '/licenses.txt'],
        ]),
      );
    },
  );

  it('is the same file with the same ETag, and integrity.json lists immutable files by both names', async () => {
    const renamed = await openScene({ files: { tracker: folder }, paths: { trackerPath: '/x/y.js' }, basePath: '/s/' });
    const [one, other] = await Promise.all(
      ['/s/x/y.js', '/s/tracker.js'].map((path) => renamed.app.request(path, { headers: { 'Accept-Encoding': 'br' } })),
    );
    expect([one?.status, one?.headers.get('etag')]).toEqual([200, other?.headers.get('etag')]);
    expect(brotliDecompressSync(Buffer.from(await (one as Response).arrayBuffer())).toString()).toBe(script);
    for (const path of ['/s/x/integrity.json', '/s/integrity.json']) {
      const response = await renamed.app.request(path);
      expect(response.headers.get('content-type')).toBe('application/json');
      expect(response.headers.get('cache-control')).toBe('public, max-age=3600');
      expect(await response.json()).toEqual({
        'y.js': { src: 'y.0123456789abcdef.js', integrity: 'sha384-of-it' },
        'tracker.js': { src: 'tracker.0123456789abcdef.js', integrity: 'sha384-of-it' },
      });
    }
    expect(await (await renamed.app.request('/s/x/y.0123456789abcdef.js')).text()).toBe(script);
    await renamed.close();
  });
});
