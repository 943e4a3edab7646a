/** Answers a wrong path of the script: a JSON error there would show as ERR_BLOCKED_BY_ORB, which looks like an ad blocker. */

import { headersOf } from './answers/answers.ts';
import type { Route } from './routes.ts';
import type { PagePaths } from './script-tag.ts';

/** Whether a request for an unknown path is probably one for the script. The console and the documentation load scripts of their own. */
export const isForScript = (method: string, path: string): boolean =>
  (method === 'GET' || method === 'HEAD') && path.endsWith('.js') && !/\/(?:console|docs)\//.test(path);

/** A script that warns in the console, with the paths of the scripts that exist. `base` is BASE_PATH without a slash at its end. */
export const missingScriptRoute = (base: string, { trackerPath }: PagePaths): Route => {
  const path = base + trackerPath;
  const full = path.replace(/\.js$/, '.full.js');
  const warning = `firsthand: no script has this path. This server has ${full} and ${path}; Set up in the console shows the script tag.`;
  const script = `console.warn(${JSON.stringify(warning)});\n`;
  return {
    name: 'tracker',
    methods: ['GET'],
    openToPages: true,
    // The client chose the path: it may hold anything.
    loggedPath: '/….js',
    answer: (_, exchange) =>
      new Response(script, {
        headers: {
          ...headersOf(exchange),
          'Content-Type': 'text/javascript; charset=utf-8',
          'Cross-Origin-Resource-Policy': 'cross-origin',
        },
      }),
  };
};
