/** A customer's site: pages with the snippet as it is pasted, on another origin than the service. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Site {
  readonly port: number;
  /** On localhost, where pages have Web Locks as they do on https. */
  readonly url: string;
  /** What the pages' own `error` and `unhandledrejection` events said. */
  readonly errors: string[];
  close(): void;
}

const snippet = readFileSync(new URL('../../dist/snippet.html', import.meta.url), 'utf8');

/** `onLeave` is for tests that log in `pagehide`, ahead of the tracker's own listener. */
const page = (
  service: string,
  token: string,
): string => `<!doctype html><meta charset="utf-8"><title>A shop</title><script>
  addEventListener('error', (event) => navigator.sendBeacon('/errors', 'error: ' + event.message));
  addEventListener('unhandledrejection', (event) => navigator.sendBeacon('/errors', 'rejection: ' + event.reason));
  addEventListener('pagehide', () => window.onLeave && onLeave());
</script>${snippet.replace('{src}', `${service}/tracker.js`).replace('{token}', token)}<p>A page.`;

/**
 * `/page?token=…` has the tracker, everything else doesn't. As a plain HTTP proxy it does the same for any host, but passes
 * on what is for the service itself.
 */
export const openSite = async (service: string): Promise<Site> => {
  const errors: string[] = [];
  const server = createServer((request, response) => {
    const { host, pathname, searchParams } = new URL(request.url as string, `http://${request.headers.host}`);
    let body = '';
    request.setEncoding('utf8').on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', async () => {
      if (host === new URL(service).host) {
        const answer = await fetch(service + pathname, {
          method: request.method as string,
          ...(body && { body, headers: { 'content-type': request.headers['content-type'] as string } }),
        });
        response.writeHead(answer.status, {
          'content-type': answer.headers.get('content-type') ?? '',
          'access-control-allow-origin': '*',
        });
        response.end(await answer.text());
        return;
      }
      if (pathname === '/errors') errors.push(body);
      response.writeHead(200, { 'content-type': 'text/html', 'cache-control': 'no-store' });
      response.end(
        pathname === '/page' ? page(service, searchParams.get('token') ?? '') : '<!doctype html><p>Elsewhere.',
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { port, url: `http://localhost:${port}`, errors, close };
};
