/** Serves the documentation built by `packages/docs`, with this server's address and paths filled in. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { assetRoutes, compressPage, escapeHTML, pageHeaders, redirect } from './built-pages.ts';
import type { Route } from './routes.ts';
import { folderOf, hasScriptTag, type PagePaths, scriptTag } from './script-tag.ts';
import { staticRoute } from './static-file.ts';

export interface DocsFiles {
  /** The documentation's build folder. */
  readonly folder: string;
  /** Returns the server's base URL, without a trailing slash. Called on the first request for a page. */
  readonly root: () => string;
}

/** Returns the folder that pages send requests to. */
const requestFolder = ({ trackerPath, apiPrefix = folderOf(trackerPath) }: PagePaths): string => apiPrefix;

/**
 * Fills in a page's placeholders (`placeholders` in packages/docs/build/page.ts), which occur only in text, not in
 * attributes. `escapeValue` escapes a value for the page.
 */
const fill = (page: string, root: string, paths: PagePaths, escapeValue: (text: string) => string): string => {
  const { trackerPath } = paths;
  const values: Readonly<Record<string, () => string>> = {
    'script-tag': () =>
      escapeValue(hasScriptTag() ? scriptTag('{firsthand:root}', 'browser_…', paths) : 'not built: run npm run build'),
    'tracker-stem': () => escapeValue(trackerPath.replace(/\.js$/, '')),
    'page-folder': () => escapeValue(requestFolder(paths)),
    // In HTML, the page's script replaces it with the address at which the reader reached the server.
    root: () => (escapeValue === escapeHTML ? `<span data-root>${escapeHTML(root)}</span>` : root),
  };
  return Object.entries(values).reduce(
    (text, [name, value]) =>
      text.includes(`{firsthand:${name}}`) ? text.replaceAll(`{firsthand:${name}}`, value()) : text,
    page,
  );
};

const name = 'docs';

const markdownHeaders = { 'Cache-Control': 'no-cache', 'Content-Type': 'text/markdown; charset=utf-8' };
const asIs = (text: string): string => text;

/**
 * Returns the documentation's routes: `/docs/`, `/docs/<guide>`, `/docs/reference/<operation>`, each also as Markdown
 * (`/docs/<guide>.md`), their list `/docs/llms.txt`, and their assets.
 */
export const docsRoutes = (
  { folder, root }: DocsFiles,
  paths: PagePaths,
): { readonly path: string; readonly route: Route }[] => {
  const files = (within: string): string[] => readdirSync(join(folder, within)).map((file) => within + file);
  const pages = ['', 'reference/']
    .flatMap(files)
    .filter((file) => /\.(?:html|md)$|^llms\.txt$/.test(file))
    .map((file) => {
      // Read at startup because a build might replace the files while the server runs.
      const page = readFileSync(join(folder, file), 'utf8');
      const isHTML = file.endsWith('.html');
      const variants = () => compressPage(fill(page, root(), paths, isHTML ? escapeHTML : asIs));
      return {
        path: `/docs/${file.replace(/(?:(?<=^|\/)index)?\.html$/, '')}`,
        route: staticRoute({ name, variants, headers: isHTML ? pageHeaders : markdownHeaders }),
      };
    });
  return [
    ...pages,
    ...assetRoutes({ name, folder, path: '/docs/' }),
    { path: '/docs', route: redirect(name, 'docs/') },
    // The tracker's warnings link to this path in the request folder, with the code as the anchor.
    ...[...new Set(['/', requestFolder(paths)])].map((base) => ({
      path: `${base}docs/errors`,
      route: redirect(name, posix.relative(`${base}docs`, '/docs/reference/errors')),
    })),
    { path: '/docs/reference', route: redirect(name, 'reference/') },
  ];
};

/** Whether the folder contains a build. */
export const hasDocs = (folder: string): boolean => existsSync(join(folder, 'index.html'));
