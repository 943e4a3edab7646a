/** Pages that another package has built, and the files that they load: how they are sent, and what they may do in a browser. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { emptyAnswer } from './answers/answers.ts';
import type { Route } from './routes.ts';
import { type Form, formsOf, staticRoute } from './static-file.ts';

/** Only its own files, and no HTML made of text by its script. */
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

/** The headers of a page. */
export const pageHeaders = {
  // A changed setting shows at once. No page depends on the request, so that no cache can hold one for somebody else.
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

/** A page is compressed when it is first asked for: at this quality that takes about a millisecond. */
export const compressed = (text: string): Form[] => {
  const bytes = Buffer.from(text);
  const params = { [constants.BROTLI_PARAM_QUALITY]: 5, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  return [
    { name: 'br', bytes: brotliCompressSync(bytes, { params }) },
    { name: 'gzip', bytes: gzipSync(bytes) },
    { name: '', bytes },
  ];
};

/** To an address relative to the page, because a proxy may serve it below another path. */
export const redirect = (name: string, location: string): Route => ({
  name,
  methods: ['GET'],
  answer: (_, exchange) => emptyAnswer(exchange, 308, { Location: location }),
});

interface Assets {
  readonly name: string;
  /** The folder of the build. */
  readonly folder: string;
  /** The path under which the folder is served, with a slash at its end. */
  readonly path: string;
}

/** The routes of the files in `assets/`. Each has a hash of its content in its name, so that browsers may store it for ever. */
export const assetRoutes = ({ name, folder, path }: Assets): { readonly path: string; readonly route: Route }[] =>
  readdirSync(join(folder, 'assets')).flatMap((file) => {
    const type = assetTypes[file.split('.').at(-1) ?? ''];
    if (type === undefined) return [];
    const forms = formsOf(join(folder, 'assets', file));
    const headers = {
      'Cache-Control': 'public, max-age=31536000, immutable',
      'Content-Type': type,
      'Cross-Origin-Resource-Policy': 'same-origin',
    };
    return [{ path: `${path}assets/${file}`, route: staticRoute({ name, forms: () => forms, headers }) }];
  });
