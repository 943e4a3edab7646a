/** Serves the pages and assets that other packages build, with their security policy. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { emptyResponse } from './responses/responses.ts';
import type { Route } from './routes.ts';
import { readVariants, staticRoute, type Variant } from './static-file.ts';

/** Allows only the server's own files, and no HTML built from strings (trusted types). */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

export const pageHeaders = {
  // Makes a changed setting take effect immediately. Pages don't depend on the request, so shared caches may store
  // them.
  'Cache-Control': 'no-cache',
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': policy,
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
};

const assetTypes: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json',
  svg: 'image/svg+xml',
  txt: 'text/plain; charset=utf-8',
  webp: 'image/webp',
};

export const escapeHTML = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** Compresses a page on its first request, which takes about a millisecond at this quality. */
export const compressPage = (text: string): Variant[] => {
  const bytes = Buffer.from(text);
  const params = { [constants.BROTLI_PARAM_QUALITY]: 5, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  return [
    { name: 'br', bytes: brotliCompressSync(bytes, { params }) },
    { name: 'gzip', bytes: gzipSync(bytes) },
    { name: '', bytes },
  ];
};

/** Redirects to a relative address, because a proxy might serve the page under a different path. */
export const redirect = (name: string, location: string): Route => ({
  name,
  methods: ['GET'],
  handle: (_, exchange) => emptyResponse(exchange, 308, { Location: location }),
});

interface Assets {
  readonly name: string;
  /** The build folder. */
  readonly folder: string;
  /** The path under which the folder is served, with a trailing slash. */
  readonly path: string;
}

/**
 * Returns the routes of the files in `assets/`. Their names contain a content hash, so browsers may cache them forever.
 */
export const assetRoutes = ({ name, folder, path }: Assets): { readonly path: string; readonly route: Route }[] =>
  readdirSync(join(folder, 'assets')).flatMap((file) => {
    const type = assetTypes[file.split('.').at(-1) ?? ''];
    if (type === undefined) return [];
    const variants = readVariants(join(folder, 'assets', file));
    const headers = {
      'Cache-Control': 'public, max-age=31536000, immutable',
      'Content-Type': type,
      'Cross-Origin-Resource-Policy': 'same-origin',
    };
    return [{ path: `${path}assets/${file}`, route: staticRoute({ name, variants: () => variants, headers }) }];
  });
