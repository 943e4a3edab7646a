/** Serves the tracker's script and the other files of its build, compressed at build time. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { folderOf } from '../script-tag.ts';
import { emptyAnswer, headersOf } from './answers/answers.ts';
import type { Route } from './routes.ts';

/** The encodings, best first; '' is uncompressed. */
const encodings = [
  { name: 'br', suffix: '.br' },
  { name: 'gzip', suffix: '.gz' },
  { name: '', suffix: '' },
] as const;

const accepts = (acceptEncoding: string, name: string): boolean =>
  acceptEncoding.split(',').some((part) => {
    // Splitting by `/\s*;\s*/` would take quadratic time over a long run of white space.
    const [encoding = '', quality = ''] = part.toLowerCase().split(';', 2);
    return encoding.trim() === name && !/^q=0(?:\.0*)?$/.test(quality.trim());
  });

/** Whether an If-None-Match header holds the ETag: a list of tags, or `*`, under weak comparison (RFC 9110 section 13.1.2). */
const isCurrent = (ifNoneMatch: string, etag: string): boolean =>
  ifNoneMatch.split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag);

interface Form {
  readonly name: (typeof encodings)[number]['name'];
  readonly bytes: Buffer;
}

/** A file and its compressed forms, best first. The uncompressed form is the last. */
const formsOf = (path: string): Form[] =>
  encodings
    .filter(({ suffix }) => existsSync(path + suffix))
    .map(({ name, suffix }) => ({ name, bytes: readFileSync(path + suffix) }));

const formsRoute = (given: readonly Form[], cacheControl: string, contentType: string): Route => {
  const { bytes: plain } = given.at(-1) as Form;
  const fingerprint = createHash('sha256').update(plain).digest('base64url').slice(0, 22);
  const forms = given.map(({ name, bytes }) => ({
    name,
    bytes,
    // Each form needs its own tag: a strong ETag stands for one sequence of bytes.
    headers: {
      ETag: name === '' ? `"${fingerprint}"` : `"${fingerprint}-${name}"`,
      'Cache-Control': cacheControl,
      Vary: 'Accept-Encoding',
      // Lets pages with COEP embed the script from any origin.
      'Cross-Origin-Resource-Policy': 'cross-origin',
      // RFC 4946: the licences of the code by others in the script, which would make the script too large.
      Link: '<licenses.txt>; rel="license"',
    },
  }));

  return {
    name: 'tracker',
    methods: ['GET'],
    // Readable by pages, so that a script tag may carry integrity and crossorigin.
    openToPages: true,
    answer: (c, exchange) => {
      const { headers } = c.req.raw;
      const acceptEncoding = headers.get('accept-encoding') ?? '';
      // The uncompressed form is always among them.
      const form = forms.find(({ name }) => name === '' || accepts(acceptEncoding, name)) as (typeof forms)[number];
      const { name, bytes } = form;
      if (isCurrent(headers.get('if-none-match') ?? '', form.headers.ETag)) {
        return emptyAnswer(exchange, 304, form.headers);
      }
      return new Response(bytes, {
        headers: {
          ...headersOf(exchange),
          ...form.headers,
          'Content-Type': contentType,
          ...(name !== '' && { 'Content-Encoding': name }),
        },
      });
    },
  };
};

const hour = 'public, max-age=3600';
const forEver = 'public, max-age=31536000, immutable';
const javaScript = 'text/javascript; charset=utf-8';
const kinds: readonly (readonly [names: RegExp, cacheControl: string, contentType: string])[] = [
  [/^tracker(?:\.full)?\.js$/, hour, javaScript],
  // With the fingerprint that the build gave them.
  [/^tracker(?:\.full)?\.[\da-f]{16}\.js$/, forEver, javaScript],
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
