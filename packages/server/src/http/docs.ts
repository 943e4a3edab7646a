/** Serves the documentation that `packages/docs` has built, with the address and the paths of this server filled in. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { assetRoutes, compressed, escapeHTML, pageHeaders, redirect } from './built-pages.ts';
import type { Route } from './routes.ts';
import { folderOf, hasScriptTag, type PagePaths, scriptTag } from './script-tag.ts';
import { staticRoute } from './static-file.ts';

export interface DocsFiles {
  /** The folder that the documentation was built into. */
  readonly folder: string;
  /** The URL below which the server listens, without a slash at its end. Called at the first request for a page. */
  readonly root: () => string;
}

/** The folder that pages send to. */
const requestFolder = ({ trackerPath, apiPrefix = folderOf(trackerPath) }: PagePaths): string => apiPrefix;

/** Fills in the places of a page (`places` in packages/docs/build/page.ts), which are in its text and not in attributes. */
const fill = (page: string, root: string, paths: PagePaths): string => {
  const { trackerPath } = paths;
  const values: Readonly<Record<string, () => string>> = {
    'script-tag': () =>
      escapeHTML(hasScriptTag() ? scriptTag('{firsthand:root}', 'browser_…', paths) : 'npm run build makes the script'),
    'tracker-stem': () => escapeHTML(trackerPath.replace(/\.js$/, '')),
    'page-folder': () => escapeHTML(requestFolder(paths)),
    // The script of the page replaces it by the address under which the reader has reached the server.
    root: () => `<span data-root>${escapeHTML(root)}</span>`,
  };
  return Object.entries(values).reduce(
    (text, [name, value]) =>
      text.includes(`{firsthand:${name}}`) ? text.replaceAll(`{firsthand:${name}}`, value()) : text,
    page,
  );
};

const name = 'docs';

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
  return [
    ...pages,
    ...assetRoutes({ name, folder, path: '/docs/' }),
    { path: '/docs', route: redirect(name, 'docs/') },
    // Warnings of the tracker name it below the folder of requests, followed by the code as the anchor.
    ...[...new Set(['/', requestFolder(paths)])].map((base) => ({
      path: `${base}docs/errors`,
      route: redirect(name, posix.relative(`${base}docs`, '/docs/reference/errors')),
    })),
    { path: '/docs/reference', route: redirect(name, 'reference/') },
  ];
};

/** Whether the folder holds a build. */
export const hasDocs = (folder: string): boolean => existsSync(join(folder, 'index.html'));
