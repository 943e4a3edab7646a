/** The paths that a page uses, as TRACKER_PATH and API_PREFIX set them, and the script tag with them. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { trackerFolder } from '../shared/built-folders.ts';

export interface PagePaths {
  /** The path of the script, below BASE_PATH: `/main.js`. */
  readonly trackerPath: string;
  /** The folder that the script sends to, below BASE_PATH: `/`, or `/x/`. If undefined, it is the folder of the script. */
  readonly apiPrefix?: string | undefined;
}

/** The folder of a file's path, with a slash at its end. */
export const folderOf = (path: string): string => path.slice(0, path.lastIndexOf('/') + 1);

const snippet = join(trackerFolder, 'snippet.html');

export const hasScriptTag = (): boolean => existsSync(snippet);

/**
 * The script tag for a page, from the template of the tracker's build: the script that logs page views, because the console's overview
 * is empty without them. `root` is the server's URL without a slash at its end. Throws if the tracker hasn't been built.
 */
export const scriptTag = (root: string, token: string, { trackerPath, apiPrefix }: PagePaths): string => {
  if (!hasScriptTag()) throw new Error('the tracker is not built yet, and its script tag is part of it: npm run build');
  const folder = folderOf(trackerPath);
  const api =
    apiPrefix === undefined || apiPrefix === folder ? '' : ` data-api="${posix.relative(folder, apiPrefix) || '.'}/"`;
  return readFileSync(snippet, 'utf8')
    .trim()
    .replaceAll('{src}', root + trackerPath.replace(/\.js$/, '.full.js'))
    .replaceAll('"{token}"', `"${token}"${api} data-page-views="Page viewed"`);
};

/** The source with which a Content Security Policy allows the inline script of a script tag: `'sha256-…'` (CSP 3, section 2.3.1). */
export const inlineScriptSource = (tag: string): string => {
  const [, inline = ''] = /<script>(.*?)<\/script>/s.exec(tag) ?? [];
  return `'sha256-${createHash('sha256').update(inline).digest('base64')}'`;
};

/** Says why the script should come from a path of the site. It is printed beside each script tag. */
export const ownPathAdvice = [
  'Safari keeps the cookie for 400 days only if the script comes from a path of the site itself, such as /s/, which the web',
  'server of the site passes on to this server (/docs/own-domain says how). From a subdomain, it is 7 days.',
];
