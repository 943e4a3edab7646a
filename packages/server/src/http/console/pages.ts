/** Serves the console that `packages/console` has built: one page under the name of each of its views, and what it loads. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasScriptTag, type PagePaths, scriptTag } from '../../script-tag.ts';
import { assetRoutes, compressed, escapeHTML, pageHeaders, redirect } from '../built-pages.ts';
import type { Route } from '../routes.ts';
import { staticRoute } from '../static-file.ts';

const name = 'console';

/** The page puts its own address and a token in the places of the tag. */
const fill = (page: string, paths: PagePaths): string =>
  page.replace('{firsthand:script-tag}', () =>
    hasScriptTag() ? escapeHTML(scriptTag('{root}', '{token}', paths)) : '',
  );

/** The page as it was built. */
export const readConsolePage = (folder: string): string => readFileSync(join(folder, 'index.html'), 'utf8');

/** The routes of the console: `/console/`, `/console/<view>`, and the files that the page loads. */
export const consoleRoutes = (folder: string, paths: PagePaths): { readonly path: string; readonly route: Route }[] => {
  // Read now: a build may replace the files while the server runs.
  const page = readConsolePage(folder);
  const views: readonly string[] = JSON.parse(readFileSync(join(folder, 'pages.json'), 'utf8'));
  const route = staticRoute({ name, forms: () => compressed(fill(page, paths)), headers: pageHeaders });
  return [
    ...views.map((view) => ({ path: `/console/${view}`, route })),
    ...assetRoutes({ name, folder, path: '/console/' }),
    { path: '/console', route: redirect(name, 'console/') },
  ];
};

/** Whether the folder holds a build. */
export const hasConsole = (folder: string): boolean => existsSync(join(folder, 'index.html'));
