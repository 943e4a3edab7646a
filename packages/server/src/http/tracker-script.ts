/** Serves the tracker script and the other files of its build, which are compressed at build time. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Route } from './routes.ts';
import { folderOf } from './script-tag.ts';
import { readVariants, staticRoute, type Variant } from './static-file.ts';

const variantsRoute = (variants: readonly Variant[], cacheControl: string, contentType: string): Route =>
  staticRoute({
    name: 'tracker',
    // Lets a script tag have integrity and crossorigin attributes.
    openToPages: true,
    variants: () => variants,
    headers: {
      'Cache-Control': cacheControl,
      'Content-Type': contentType,
      // Lets pages with COEP embed the script from any origin.
      'Cross-Origin-Resource-Policy': 'cross-origin',
      // RFC 4946: links to the third-party licenses, because including them would make the script too large.
      Link: '<licenses.txt>; rel="license"',
    },
  });

const hour = 'public, max-age=3600';
const forever = 'public, max-age=31536000, immutable';
const javaScript = 'text/javascript; charset=utf-8';
const kinds: readonly (readonly [names: RegExp, cacheControl: string, contentType: string])[] = [
  [/^tracker(?:\.full|\.domains)?\.js$/, hour, javaScript],
  // Matches names that contain the fingerprint from the build.
  [/^tracker(?:\.full|\.domains)?\.[\da-f]{16}\.js$/, forever, javaScript],
  [/^integrity\.json$/, hour, 'application/json'],
  [/^licenses\.txt$/, hour, 'text/plain; charset=utf-8'],
];

type Integrity = Readonly<Record<string, { readonly src: string; readonly integrity: string }>>;

/** Adds each script under its configured name to `integrity.json`. */
const renamedIntegrity = (text: string, rename: (name: string) => string): Variant => {
  const built = JSON.parse(text) as Integrity;
  const renamed = Object.entries(built).map(([name, one]) => [rename(name), { ...one, src: rename(one.src) }]);
  return { name: '', bytes: Buffer.from(`${JSON.stringify({ ...Object.fromEntries(renamed), ...built }, null, 2)}\n`) };
};

/**
 * Returns the routes of the tracker's files in `folder`: scripts, including those of earlier builds; `integrity.json`,
 * with the `src` and `integrity` of each script; and `licenses.txt`. Throws if the folder has no `tracker.js`.
 *
 * Each file is served at the root under its own name, and again in the folder of `trackerPath`. For `/x/main.js`,
 * scripts are named `main` there instead of `tracker`: `/x/main.full.js`.
 */
export const trackerRoutes = (
  folder: string,
  trackerPath: string,
): { readonly path: string; readonly route: Route }[] => {
  const pageFolder = folderOf(trackerPath);
  const stem = trackerPath.slice(pageFolder.length, -'.js'.length);
  const rename = (name: string): string => name.replace(/^tracker(?=\..*js$)/, stem);
  if (!existsSync(join(folder, 'tracker.js')))
    throw new Error(`${join(folder, 'tracker.js')} is missing: run npm run build`);
  return readdirSync(folder).flatMap((name) => {
    const kind = kinds.find(([names]) => names.test(name));
    if (!kind) return [];
    const file = join(folder, name);
    const variants =
      name === 'integrity.json' ? [renamedIntegrity(readFileSync(file, 'utf8'), rename)] : readVariants(file);
    const route = variantsRoute(variants, kind[1], kind[2]);
    return [...new Set([`/${name}`, pageFolder + rename(name)])].map((path) => ({ path, route }));
  });
};
