/** `/tracker.js`: the tracker's build, packed beforehand. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
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
    const [encoding = '', quality = ''] = part
      .trim()
      .toLowerCase()
      .split(/\s*;\s*/);
    return encoding === name && !/^q=0(?:\.0*)?$/.test(quality);
  });

/** RFC 9110 section 13.1.2: a list of tags, or `*`; compared without regard to weakness. */
const isCurrent = (ifNoneMatch: string, etag: string): boolean =>
  ifNoneMatch.split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag);

/** The route of the files in `folder`; throws when the tracker hasn't been built into it. */
export const trackerRoute = (folder: string): Route => {
  const path = join(folder, 'tracker.js');
  if (!existsSync(path)) throw new Error(`${path} is missing: npm run build makes it`);
  const fingerprint = createHash('sha256').update(readFileSync(path)).digest('base64url').slice(0, 22);
  const forms = encodings
    .filter(({ suffix }) => existsSync(path + suffix))
    .map(({ name, suffix }) => ({
      name,
      bytes: readFileSync(path + suffix),
      // Each form is another sequence of bytes, and a strong tag stands for just one.
      headers: {
        ETag: name === '' ? `"${fingerprint}"` : `"${fingerprint}-${name}"`,
        'Cache-Control': 'public, max-age=3600',
        Vary: 'Accept-Encoding',
        // Pages that ask for it (COEP) may embed the script from anywhere.
        'Cross-Origin-Resource-Policy': 'cross-origin',
      },
    }));

  return {
    methods: ['GET'],
    // Readable by pages, so that a script tag may carry integrity and crossorigin.
    openToPages: true,
    answer: (c, exchange) => {
      const { headers } = c.req.raw;
      const acceptEncoding = headers.get('accept-encoding') ?? '';
      const form = forms.find(({ name }) => name === '' || accepts(acceptEncoding, name));
      if (form === undefined) throw new Error('the tracker is in no form');
      const { name, bytes } = form;
      const etag = form.headers.ETag;
      if (isCurrent(headers.get('if-none-match') ?? '', etag)) return emptyAnswer(exchange, 304, form.headers);
      return new Response(bytes, {
        headers: {
          ...headersOf(exchange),
          ...form.headers,
          'Content-Type': 'text/javascript; charset=utf-8',
          ...(name !== '' && { 'Content-Encoding': name }),
        },
      });
    },
  };
};
