/**
 * Responds to requests for a wrong script path: the browser would show a JSON error as ERR_BLOCKED_BY_ORB, which looks
 * like an ad blocker.
 */

import { headersOf } from './responses/responses.ts';
import type { Route } from './routes.ts';
import type { PagePaths } from './script-tag.ts';

/**
 * Whether a request for an unknown path is probably for the script. The console and the documentation load their own
 * scripts.
 */
export const isForScript = (method: string, path: string): boolean =>
  (method === 'GET' || method === 'HEAD') && path.endsWith('.js') && !/\/(?:console|docs)\//.test(path);

/**
 * Serves a script that warns in the browser's console and lists the existing paths. `base` is BASE_PATH without a
 * trailing slash.
 */
export const missingScriptRoute = (base: string, { trackerPath }: PagePaths): Route => {
  const path = base + trackerPath;
  const full = path.replace(/\.js$/, '.full.js');
  const warning = `firsthand: no script has this path. This server has ${full} and ${path}; see Set up in the console for the script tag.`;
  const script = `console.warn(${JSON.stringify(warning)});\n`;
  return {
    name: 'tracker',
    methods: ['GET'],
    openToPages: true,
    // Hidden because the client chose the path, which can contain anything.
    loggedPath: '/….js',
    handle: (_, exchange) =>
      new Response(script, {
        headers: {
          ...headersOf(exchange),
          'Content-Type': 'text/javascript; charset=utf-8',
          'Cross-Origin-Resource-Policy': 'cross-origin',
        },
      }),
  };
};
