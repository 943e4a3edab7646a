/** Serves files that don't change while the server runs, compressed and with ETags and caching. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { emptyResponse, headersOf } from './responses/responses.ts';
import type { Route } from './routes.ts';

/** The encodings, best first; '' is uncompressed. */
const encodings = [
  { name: 'br', suffix: '.br' },
  { name: 'gzip', suffix: '.gz' },
  { name: '', suffix: '' },
] as const;

const accepts = (acceptEncoding: string, name: string): boolean =>
  acceptEncoding.split(',').some((part) => {
    // Splitting by `/\s*;\s*/` would take quadratic time for a long run of white space.
    const [encoding = '', quality = ''] = part.toLowerCase().split(';', 2);
    return encoding.trim() === name && !/^q=0(?:\.0*)?$/.test(quality.trim());
  });

/**
 * Whether an If-None-Match header, a list of tags or `*`, matches the ETag by weak comparison (RFC 9110 section
 * 13.1.2).
 */
const isCurrent = (ifNoneMatch: string, etag: string): boolean =>
  ifNoneMatch.split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag);

export interface Variant {
  readonly name: (typeof encodings)[number]['name'];
  readonly bytes: Buffer;
}

/** Reads a file and its compressed variants, best first; the uncompressed variant is last. */
export const readVariants = (path: string): Variant[] =>
  encodings
    .filter(({ suffix }) => existsSync(path + suffix))
    .map(({ name, suffix }) => ({ name, bytes: readFileSync(path + suffix) }));

/** The headers shared by all variants of a file. */
type FileHeaders = Readonly<Record<string, string>> & {
  readonly 'Cache-Control': string;
  readonly 'Content-Type': string;
};

const toResponses = (variants: readonly Variant[], fileHeaders: FileHeaders) => {
  const { 'Content-Type': type, ...headers } = fileHeaders;
  const { bytes: plain } = variants.at(-1) as Variant;
  const fingerprint = createHash('sha256').update(plain).digest('base64url').slice(0, 22);
  return variants.map(({ name, bytes }) => ({
    name,
    bytes,
    type,
    // Each variant needs its own tag, because a strong ETag identifies one sequence of bytes.
    headers: {
      ETag: name === '' ? `"${fingerprint}"` : `"${fingerprint}-${name}"`,
      Vary: 'Accept-Encoding',
      ...headers,
    },
  }));
};

interface StaticFile extends Pick<Route, 'name' | 'openToPages'> {
  /** Called on the first request. */
  readonly variants: () => readonly Variant[];
  readonly headers: FileHeaders;
}

/** Returns a route that serves a file in the best variant that the client accepts. */
export const staticRoute = ({ variants, headers: fileHeaders, ...route }: StaticFile): Route => {
  let responses: ReturnType<typeof toResponses> | undefined;
  return {
    ...route,
    methods: ['GET'],
    handle: (c, exchange) => {
      responses ??= toResponses(variants(), fileHeaders);
      const { headers } = c.req.raw;
      const acceptEncoding = headers.get('accept-encoding') ?? '';
      // Always finds one, because every file has an uncompressed variant.
      const response = responses.find(
        ({ name }) => name === '' || accepts(acceptEncoding, name),
      ) as (typeof responses)[number];
      const { name, bytes, type } = response;
      if (isCurrent(headers.get('if-none-match') ?? '', response.headers.ETag)) {
        return emptyResponse(exchange, 304, response.headers);
      }
      return new Response(bytes, {
        headers: {
          ...headersOf(exchange),
          ...response.headers,
          'Content-Type': type,
          ...(name !== '' && { 'Content-Encoding': name }),
        },
      });
    },
  };
};
