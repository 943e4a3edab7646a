/** A customer's site: pages with the snippet as pasted, on a different origin than the service. */
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request as requestFrom, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Page {
  readonly token: string;
  /** HTML to place before the snippet, and HTML to place after it, in the body. */
  readonly before?: string;
  readonly after?: string;
  /** Additional attributes for the script's tag. */
  readonly attributes?: string;
  /**
   * The script's URL; by default, the service's own copy. The site proxies everything under `/stats/` to the service.
   */
  readonly src?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The nonce of the page's CSP, added to all its scripts. */
  readonly nonce?: string;
}

export interface Site {
  readonly port: number;
  /** The site is on localhost, where Web Locks are available without HTTPS. */
  readonly url: string;
  /** Publishes a page and returns its URL. */
  publish(path: string, page: Page): string;
  /** The messages of `error` and `unhandledrejection` events in the pages. */
  readonly errors: string[];
  /** The paths that a browser has requested for prerendering (`Sec-Purpose`). */
  readonly prerenderedPaths: string[];
  /** The delay of scripts under `/stats/`. */
  scriptDelayMilliseconds: number;
  close(): void;
}

const snippet = readFileSync(new URL('../../dist/snippet.html', import.meta.url), 'utf8');

/**
 * Returns a page's HTML. Its global function `onLeave`, if any, is called in `pagehide` before the tracker's own
 * listener.
 */
const toHTML = (
  service: string,
  { token, before = '', after = '', attributes = '', src = `${service}/tracker.js`, nonce }: Page,
): string => {
  const tag = snippet.replace('{src}', src).replace('{token}"', `${token}" ${attributes}`);
  const html = `<!doctype html><meta charset="utf-8"><title>A shop</title><script>
  addEventListener('error', (event) => navigator.sendBeacon('/errors', 'error: ' + event.message));
  addEventListener('unhandledrejection', (event) => navigator.sendBeacon('/errors', 'rejection: ' + event.reason));
  addEventListener('pagehide', () => window.onLeave && onLeave());
</script>${before}${tag}<body><p>A page.${after}`;
  return nonce ? html.replaceAll('<script', `<script nonce="${nonce}"`) : html;
};

const readBody = async (request: IncomingMessage): Promise<string> => {
  let body = '';
  for await (const chunk of request.setEncoding('utf8')) body += chunk;
  return body;
};

const forwardRequest = (request: IncomingMessage, response: ServerResponse, to: string): void => {
  const forwarded = requestFrom(to, { method: request.method, headers: request.headers, agent: false });
  forwarded.on('error', () => response.destroy());
  forwarded.on('response', (incoming) => {
    response.writeHead(incoming.statusCode ?? 500, incoming.headers);
    incoming.pipe(response);
  });
  request.pipe(forwarded);
};

/**
 * Serves the site. Every unknown path gets a page without the tracker. Used as a plain HTTP proxy, it serves the
 * same site on every host, except that it forwards requests to the service.
 */
export const openSite = async (service: string): Promise<Site> => {
  const pages = new Map<string, Page>();
  const server = createServer(async (request, response) => {
    const { host, pathname, search } = new URL(request.url as string, `http://${request.headers.host}`);
    if (host === new URL(service).host) return forwardRequest(request, response, service + pathname + search);
    if (pathname.startsWith('/stats/')) {
      if (pathname.endsWith('.js')) await new Promise((resolve) => setTimeout(resolve, site.scriptDelayMilliseconds));
      return forwardRequest(request, response, service + pathname.slice('/stats'.length) + search);
    }
    const body = await readBody(request);
    if (pathname === '/errors') site.errors.push(body);
    if (String(request.headers['sec-purpose']).includes('prerender')) site.prerenderedPaths.push(pathname);
    const page = pages.get(pathname);
    response.writeHead(200, { 'content-type': 'text/html', 'cache-control': 'no-cache', ...page?.headers });
    response.end(page ? toHTML(service, page) : '<!doctype html><p>Elsewhere.');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const url = `http://localhost:${port}`;
  const site: Site = {
    port,
    url,
    errors: [],
    prerenderedPaths: [],
    scriptDelayMilliseconds: 0,
    publish: (path, page) => {
      pages.set(path, page);
      return url + path;
    },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
  return site;
};
