/** Serves the console built by `packages/console`: one page under the path of each view, and its assets. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Refusal } from '../../shared/refusal.ts';
import { assetRoutes, compressPage, escapeHTML, pageHeaders, redirect } from '../built-pages.ts';
import { emptyResponse } from '../responses/responses.ts';
import type { Route } from '../routes.ts';
import { hasScriptTag, type PagePaths, scriptTag } from '../script-tag.ts';
import { staticRoute } from '../static-file.ts';

const name = 'console';
const folder = '/console/';

/** Inserts the script tag, in which the page fills in its own address and a token. */
const fill = (page: string, paths: PagePaths): string =>
  page.replace('{firsthand:script-tag}', () =>
    hasScriptTag() ? escapeHTML(scriptTag('{root}', '{token}', paths)) : '',
  );

/**
 * The console page for an unknown address, which shows an error and a link; API clients get the same JSON error as for
 * any unknown path. Deeper addresses redirect to the console's level, because the page loads its files relative to it.
 */
const unknownView = (page: Route): Route => ({
  name,
  // Hidden because the path might be a share link's address with a suffix after the secret.
  loggedPath: `${folder}…`,
  methods: ['GET', 'POST'],
  handle: async (c, exchange) => {
    const { method, path } = c.req;
    if (method === 'POST' || !/\btext\/html\b/.test(c.req.header('accept') ?? ''))
      throw new Refusal('unknown_operation');
    const parts = path.slice(path.indexOf(folder) + folder.length).split('/');
    if (parts.length > 1)
      return emptyResponse(exchange, 302, { Location: `${'../'.repeat(parts.length - 1)}${parts.at(-1)}` });
    const { body, headers } = await page.handle(c, exchange);
    return new Response(body, { status: 404, headers });
  },
});

/** Reads the built page. */
export const readConsolePage = (folder: string): string => readFileSync(join(folder, 'index.html'), 'utf8');

/** Returns the routes of the console: `/console/`, `/console/<view>`, and the files that the page loads. */
export const consoleRoutes = (built: string, paths: PagePaths): { readonly path: string; readonly route: Route }[] => {
  // Read at startup because a build might replace the files while the server runs.
  const page = readConsolePage(built);
  const views: readonly string[] = JSON.parse(readFileSync(join(built, 'pages.json'), 'utf8'));
  const route = staticRoute({ name, variants: () => compressPage(fill(page, paths)), headers: pageHeaders });
  return [
    ...views.map((view) => ({ path: `/console/${view}`, route })),
    ...assetRoutes({ name, folder: built, path: folder }),
    { path: '/console', route: redirect(name, 'console/') },
    { path: `${folder}*`, route: unknownView(route) },
  ];
};

/** Whether the folder contains a build. */
export const hasConsole = (folder: string): boolean => existsSync(join(folder, 'index.html'));
