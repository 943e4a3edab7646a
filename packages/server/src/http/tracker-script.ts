/** Serves the tracker's script and the other files of its build, compressed at build time. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Route } from './routes.ts';
import { folderOf } from './script-tag.ts';
import { type Form, formsOf, staticRoute } from './static-file.ts';

const formsRoute = (forms: readonly Form[], cacheControl: string, contentType: string): Route =>
  staticRoute({
    name: 'tracker',
    // Readable by pages, so that a script tag may carry integrity and crossorigin.
    openToPages: true,
    forms: () => forms,
    headers: {
      'Cache-Control': cacheControl,
      'Content-Type': contentType,
      // Lets pages with COEP embed the script from any origin.
      'Cross-Origin-Resource-Policy': 'cross-origin',
      // RFC 4946: the licences of the code by others in the script, which would make the script too large.
      Link: '<licenses.txt>; rel="license"',
    },
  });

const hour = 'public, max-age=3600';
const forEver = 'public, max-age=31536000, immutable';
const javaScript = 'text/javascript; charset=utf-8';
const kinds: readonly (readonly [names: RegExp, cacheControl: string, contentType: string])[] = [
  [/^tracker(?:\.full|\.domains)?\.js$/, hour, javaScript],
  // With the fingerprint that the build gave them.
  [/^tracker(?:\.full|\.domains)?\.[\da-f]{16}\.js$/, forEver, javaScript],
  [/^integrity\.json$/, hour, 'application/json'],
  [/^licenses\.txt$/, hour, 'text/plain; charset=utf-8'],
];

type Integrity = Readonly<Record<string, { readonly src: string; readonly integrity: string }>>;

/** `integrity.json` with each script under its set name as well. */
const renamedIntegrity = (text: string, rename: (name: string) => string): Form => {
  const built = JSON.parse(text) as Integrity;
  const renamed = Object.entries(built).map(([name, one]) => [rename(name), { ...one, src: rename(one.src) }]);
  return { name: '', bytes: Buffer.from(`${JSON.stringify({ ...Object.fromEntries(renamed), ...built }, null, 2)}\n`) };
};

/**
 * The routes of the tracker's files in `folder`: its scripts, those of earlier builds included, `integrity.json`, which holds the
 * `src` and `integrity` of a script tag for each, and `licenses.txt`. Each is at the root under its own name. In the folder of
 * `trackerPath`, such as `/x/main.js`, each is again, and there `main` stands for `tracker` in a script's name: `/x/main.full.js`.
 * Throws if the folder holds no `tracker.js`.
 */
export const trackerRoutes = (
  folder: string,
  trackerPath: string,
): { readonly path: string; readonly route: Route }[] => {
  const pageFolder = folderOf(trackerPath);
  const stem = trackerPath.slice(pageFolder.length, -'.js'.length);
  const rename = (name: string): string => name.replace(/^tracker(?=\..*js$)/, stem);
  if (!existsSync(join(folder, 'tracker.js')))
    throw new Error(`${join(folder, 'tracker.js')} is missing: npm run build makes it`);
  return readdirSync(folder).flatMap((name) => {
    const kind = kinds.find(([names]) => names.test(name));
    if (!kind) return [];
    const file = join(folder, name);
    const forms = name === 'integrity.json' ? [renamedIntegrity(readFileSync(file, 'utf8'), rename)] : formsOf(file);
    const route = formsRoute(forms, kind[1], kind[2]);
    return [...new Set([`/${name}`, pageFolder + rename(name)])].map((path) => ({ path, route }));
  });
};
