/** Serves the documentation that `packages/docs` has built, with the address and the paths of this server filled in. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { folderOf, hasScriptTag, type PagePaths, scriptTag } from '../script-tag.ts';
import { emptyAnswer } from './answers/answers.ts';
import type { Route } from './routes.ts';
import { type Form, formsOf, staticRoute } from './static-file.ts';

export interface DocsFiles {
  /** The folder that the documentation was built into. */
  readonly folder: string;
  /** The URL below which the server listens, without a slash at its end. Called at the first request for a page. */
  readonly root: () => string;
}

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

const pageHeaders = {
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
};

const escapeHTML = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** Fills in the places of a page (`places` in packages/docs/build/page.ts), which are in its text and not in attributes. */
const fill = (page: string, root: string, paths: PagePaths): string => {
  const { trackerPath, apiPrefix = folderOf(trackerPath) } = paths;
  const values: Readonly<Record<string, () => string>> = {
    'script-tag': () =>
      escapeHTML(hasScriptTag() ? scriptTag('{firsthand:root}', 'browser_…', paths) : 'npm run build makes the script'),
    'tracker-stem': () => escapeHTML(trackerPath.replace(/\.js$/, '')),
    'page-folder': () => escapeHTML(apiPrefix),
    // The script of the page replaces it by the address under which the reader has reached the server.
    root: () => `<span data-root>${escapeHTML(root)}</span>`,
  };
  return Object.entries(values).reduce(
    (text, [name, value]) =>
      text.includes(`{firsthand:${name}}`) ? text.replaceAll(`{firsthand:${name}}`, value()) : text,
    page,
  );
};

/** A page is compressed when it is first asked for: at this quality that takes about a millisecond. */
const compressed = (text: string): Form[] => {
  const bytes = Buffer.from(text);
  const params = { [constants.BROTLI_PARAM_QUALITY]: 5, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  return [
    { name: 'br', bytes: brotliCompressSync(bytes, { params }) },
    { name: 'gzip', bytes: gzipSync(bytes) },
    { name: '', bytes },
  ];
};

const name = 'docs';

const redirect = (location: string): Route => ({
  name,
  methods: ['GET'],
  // Relative, because a proxy may serve it below another path.
  answer: (_, exchange) => emptyAnswer(exchange, 308, { Location: location }),
});

/** The routes of the documentation: `/docs/`, `/docs/<guide>`, `/docs/reference/<operation>`, and the files that the pages load. */
export const docsRoutes = (
  { folder, root }: DocsFiles,
  paths: PagePaths,
): { readonly path: string; readonly route: Route }[] => {
  const files = (within: string): string[] => readdirSync(join(folder, within)).map((file) => within + file);
  const pages = ['', 'reference/']
    .flatMap(files)
    .filter((file) => file.endsWith('.html'))
    .map((file) => {
      // Read now: a build may replace the files while the server runs.
      const page = readFileSync(join(folder, file), 'utf8');
      const forms = () => compressed(fill(page, root(), paths));
      return {
        path: `/docs/${file.replace(/(?:(?<=^|\/)index)?\.html$/, '')}`,
        route: staticRoute({ name, forms, headers: pageHeaders }),
      };
    });
  const assets = files('assets/').flatMap((file) => {
    const type = assetTypes[file.split('.').at(-1) ?? ''];
    if (type === undefined) return [];
    const forms = formsOf(join(folder, file));
    const headers = {
      'Cache-Control': 'public, max-age=31536000, immutable',
      'Content-Type': type,
      'Cross-Origin-Resource-Policy': 'same-origin',
    };
    return [{ path: `/docs/${file}`, route: staticRoute({ name, forms: () => forms, headers }) }];
  });
  return [
    ...pages,
    ...assets,
    { path: '/docs', route: redirect('docs/') },
    { path: '/docs/reference', route: redirect('reference/') },
  ];
};

/** Whether the folder holds a build. */
export const hasDocs = (folder: string): boolean => existsSync(join(folder, 'index.html'));
