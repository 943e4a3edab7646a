/** The paths that pages use, set by TRACKER_PATH and API_PREFIX, and the script tag that contains them. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { trackerFolder } from '../shared/built-folders.ts';

export interface PagePaths {
  /** The path of the script, under BASE_PATH: `/main.js`. */
  readonly trackerPath: string;
  /** The path that the script sends requests to, under BASE_PATH: `/`, or `/x/`. By default the script's folder. */
  readonly apiPrefix?: string | undefined;
}

/** Returns the folder of a file's path, with a trailing slash. */
export const folderOf = (path: string): string => path.slice(0, path.lastIndexOf('/') + 1);

/** The name of the event that the script logs for a page view. */
export const pageViewName = 'Page viewed';

const snippet = join(trackerFolder, 'snippet.html');

export const hasScriptTag = (): boolean => existsSync(snippet);

/**
 * Returns the script tag for a page, from the tracker build's template. The tag uses the script that logs page views:
 * without them, the console's overview is empty. `root` is the server's URL without a trailing slash. Throws if the
 * tracker isn't built.
 */
export const scriptTag = (root: string, token: string, { trackerPath, apiPrefix }: PagePaths): string => {
  if (!hasScriptTag()) throw new Error('the tracker, which includes the script tag, is not built: run npm run build');
  const folder = folderOf(trackerPath);
  const api =
    apiPrefix === undefined || apiPrefix === folder ? '' : ` data-api="${posix.relative(folder, apiPrefix) || '.'}/"`;
  return readFileSync(snippet, 'utf8')
    .trim()
    .replaceAll('{src}', root + trackerPath.replace(/\.js$/, '.full.js'))
    .replaceAll('"{token}"', `"${token}"${api} data-page-views="${pageViewName}"`);
};

/**
 * Returns the Content Security Policy source that allows a script tag's inline script: `'sha256-…'` (CSP 3, section
 * 2.3.1).
 */
export const inlineScriptSource = (tag: string): string => {
  const [, inline = ''] = /<script>(.*?)<\/script>/s.exec(tag) ?? [];
  return `'sha256-${createHash('sha256').update(inline).digest('base64')}'`;
};

/** Explains why the script should come from a path on the site. Printed with each script tag. */
export const ownPathAdvice = [
  'Safari keeps the cookie for 400 days only if the script comes from a path on the site itself, such as /s/, which the',
  "site's web server proxies to this server (see docs/own-domain below its address). From a subdomain, it is 7 days.",
];
