/** `/tracker.js` and what else the tracker's build made, packed beforehand. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { emptyAnswer, headersOf } from './answers.ts';
import type { Route } from './routes.ts';

/** Best first; '' is the script as it is. */
const encodings = [
  { name: 'br', suffix: '.br' },
  { name: 'gzip', suffix: '.gz' },
  { name: '', suffix: '' },
] as const;

const accepts = (acceptEncoding: string, name: string): boolean =>
  acceptEncoding.split(',').some((part) => {
    // Not by `/\s*;\s*/`: over a long run of white space its time grows with the square.
    const [encoding = '', quality = ''] = part.toLowerCase().split(';', 2);
    return encoding.trim() === name && !/^q=0(?:\.0*)?$/.test(quality.trim());
  });

/** RFC 9110 section 13.1.2: a list of tags, or `*`; compared without regard to weakness. */
const isCurrent = (ifNoneMatch: string, etag: string): boolean =>
  ifNoneMatch.split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag);

/** A file with its packed forms: current for an hour, or for ever when its name has the fingerprint. */
const scriptRoute = (path: string, cacheControl: string, contentType: string): Route => {
  const fingerprint = createHash('sha256').update(readFileSync(path)).digest('base64url').slice(0, 22);
  const forms = encodings
    .filter(({ suffix }) => existsSync(path + suffix))
    .map(({ name, suffix }) => ({
      name,
      bytes: readFileSync(path + suffix),
      // Each form is another sequence of bytes, and a strong tag stands for just one.
      headers: {
        ETag: name === '' ? `"${fingerprint}"` : `"${fingerprint}-${name}"`,
        'Cache-Control': cacheControl,
        Vary: 'Accept-Encoding',
        // Pages that ask for it (COEP) may embed the script from anywhere.
        'Cross-Origin-Resource-Policy': 'cross-origin',
        // RFC 4946: the notices of what the script has of others, for which it has no room itself.
        Link: '<licenses.txt>; rel="license"',
      },
    }));

  return {
    methods: ['GET'],
    // Readable by pages, so that a script tag may carry integrity and crossorigin.
    openToPages: true,
    answer: (c, exchange) => {
      const { headers } = c.req.raw;
      const acceptEncoding = headers.get('accept-encoding') ?? '';
      // The script as it is has been read: it is one of them.
      const form = forms.find(({ name }) => name === '' || accepts(acceptEncoding, name)) as (typeof forms)[number];
      const { name, bytes } = form;
      const etag = form.headers.ETag;
      if (isCurrent(headers.get('if-none-match') ?? '', etag)) return emptyAnswer(exchange, 304, form.headers);
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

/** `tracker.js`, `tracker.full.js`, and both with the fingerprint that the build gave them. */
const scriptName = /^tracker(?:\.full)?(\.[\da-f]{16})?\.js$/;
/** What goes with them, with its content type. */
const otherFiles = { 'integrity.json': 'application/json', 'licenses.txt': 'text/plain; charset=utf-8' };
const hour = 'public, max-age=3600';
const forEver = 'public, max-age=31536000, immutable';

/**
 * The paths of the tracker's scripts in `folder`, those of earlier builds included, of `integrity.json`, which says for
 * each what a tag's `src` and `integrity` are, and of `licenses.txt`. Throws when the tracker hasn't been built into it.
 */
export const trackerRoutes = (folder: string): { readonly path: string; readonly route: Route }[] => {
  if (!existsSync(join(folder, 'tracker.js')))
    throw new Error(`${join(folder, 'tracker.js')} is missing: npm run build makes it`);
  const routes = readdirSync(folder).flatMap((name) => {
    const script = scriptName.exec(name);
    return script === null
      ? []
      : [{ name, cacheControl: script[1] === undefined ? hour : forEver, type: 'text/javascript; charset=utf-8' }];
  });
  for (const [name, type] of Object.entries(otherFiles))
    if (existsSync(join(folder, name))) routes.push({ name, cacheControl: hour, type });
  return routes.map(({ name, cacheControl, type }) => ({
    path: `/${name}`,
    route: scriptRoute(join(folder, name), cacheControl, type),
  }));
};
