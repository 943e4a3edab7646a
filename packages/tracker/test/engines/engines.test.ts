/** Tests what each engine's harness guarantees, so that a failing tracker test means a fault in the tracker. */
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { testTimeoutMilliseconds } from '../test-timeout.ts';
import type { Session } from './engine.ts';
import { describeEngines } from './engines.ts';

const html = `<!doctype html><title>A page</title><script>
  addEventListener('pagehide', () => fetch('/left', { method: 'POST', keepalive: true, body: location.pathname }));
</script>`;

describeEngines('the harness', (engine) => {
  let session: Session | undefined;
  let received: string[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      received.push(
        `${request.method} ${request.headers.host}${new URL(request.url ?? '', 'http://a').pathname} ${body}`,
      );
      response.writeHead(200, { 'content-type': 'text/html' }).end(html);
    });
  });
  let port: number;
  let site: string;

  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
    site = `http://localhost:${port}`;
  });
  afterAll(() => {
    server.close();
    server.closeAllConnections();
  });
  afterEach(async () => {
    received = [];
    await session?.close();
    session = undefined;
  });

  test('opens several tabs, runs scripts in them, and closes them as a user does', async () => {
    session = await engine.launch();
    const one = await session.openTab(`${site}/one`);
    const two = await session.openTab(`${site}/two`);
    expect(await one.run((a: number, b: { c: string }) => [location.pathname, a + 1, b.c], 1, { c: 'x' })).toEqual([
      '/one',
      2,
      'x',
    ]);
    await one.close();
    if (engine.firesPagehideOnClose)
      await vi.waitFor(() => expect(received).toContain(`POST localhost:${port}/left /one`), testTimeoutMilliseconds);
    await two.goto(`${site}/three`);
    await vi.waitFor(() => expect(received).toContain(`POST localhost:${port}/left /two`), testTimeoutMilliseconds);
    expect(await two.run(() => isSecureContext && 'locks' in navigator)).toBe(true);
  });

  test('keeps a profile’s storage after its tabs crash and, after the browser is killed, what was on disk', async () => {
    const profileFolder = await mkdtemp(join(tmpdir(), 'firsthand-profile-'));
    try {
      session = await engine.launch({ profileFolder });
      const tab = await session.openTab(`${site}/one`);
      await tab.run(() => localStorage.setItem('a', '1'));
      await session.crashTabs();
      const second = await session.openTab(`${site}/two`);
      expect(await second.run(() => localStorage.getItem('a'))).toBe('1');
      expect(received).not.toContain(`POST localhost:${port}/left /one`);
      await second.run(() => localStorage.setItem('a', '2'));
      await new Promise((resolve) => setTimeout(resolve, engine.flushMilliseconds));
      await session.kill();
      session = await engine.launch({ profileFolder });
      const third = await session.openTab(`${site}/three`);
      expect(await third.run(() => localStorage.getItem('a'))).toBe('2');
    } finally {
      await session?.kill();
      await rm(profileFolder, { recursive: true, force: true, maxRetries: 5 });
    }
  });

  test('opens a page on any host, and reads its cookies', async () => {
    session = await engine.launch({ proxyPort: port });
    const tab = await session.openTab('http://www.shop.example/one');
    await tab.run(() => {
      // biome-ignore lint/suspicious/noDocumentCookie: Safari has no other way
      document.cookie = 'a=1; domain=shop.example; max-age=3600; samesite=lax; path=/';
    });
    const [cookie] = await tab.cookies();
    expect(cookie).toMatchObject({ name: 'a', value: '1', domain: '.shop.example', path: '/' });
    expect(Math.round(((cookie?.expires ?? 0) - Date.now() / 1e3) / 60)).toBe(60);
    expect(cookie?.sameSite.toLowerCase()).toBe('lax');
  });
});
