/** Routes of files whose content does not change while the server runs: their compressed forms, ETags and caching. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
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

export interface Form {
  readonly name: (typeof encodings)[number]['name'];
  readonly bytes: Buffer;
}

/** A file and its compressed forms, best first. The uncompressed form is the last. */
export const formsOf = (path: string): Form[] =>
  encodings
    .filter(({ suffix }) => existsSync(path + suffix))
    .map(({ name, suffix }) => ({ name, bytes: readFileSync(path + suffix) }));

/** Headers of a file beside those of its form; a Cache-Control is among them. */
type FileHeaders = Readonly<Record<string, string>> & {
  readonly 'Cache-Control': string;
  readonly 'Content-Type': string;
};

const toAnswers = (given: readonly Form[], fileHeaders: FileHeaders) => {
  const { 'Content-Type': type, ...headers } = fileHeaders;
  const { bytes: plain } = given.at(-1) as Form;
  const fingerprint = createHash('sha256').update(plain).digest('base64url').slice(0, 22);
  return given.map(({ name, bytes }) => ({
    name,
    bytes,
    type,
    // Each form needs its own tag: a strong ETag stands for one sequence of bytes.
    headers: {
      ETag: name === '' ? `"${fingerprint}"` : `"${fingerprint}-${name}"`,
      Vary: 'Accept-Encoding',
      ...headers,
    },
  }));
};

interface StaticFile extends Pick<Route, 'name' | 'openToPages'> {
  /** Called at the first request. */
  readonly forms: () => readonly Form[];
  readonly headers: FileHeaders;
}

/** The route of a file, in the best form that the client accepts. */
export const staticRoute = ({ forms, headers: fileHeaders, ...route }: StaticFile): Route => {
  let answers: ReturnType<typeof toAnswers> | undefined;
  return {
    ...route,
    methods: ['GET'],
    answer: (c, exchange) => {
      answers ??= toAnswers(forms(), fileHeaders);
      const { headers } = c.req.raw;
      const acceptEncoding = headers.get('accept-encoding') ?? '';
      // The uncompressed form is always among them.
      const answer = answers.find(
        ({ name }) => name === '' || accepts(acceptEncoding, name),
      ) as (typeof answers)[number];
      const { name, bytes, type } = answer;
      if (isCurrent(headers.get('if-none-match') ?? '', answer.headers.ETag)) {
        return emptyAnswer(exchange, 304, answer.headers);
      }
      return new Response(bytes, {
        headers: {
          ...headersOf(exchange),
          ...answer.headers,
          'Content-Type': type,
          ...(name !== '' && { 'Content-Encoding': name }),
        },
      });
    },
  };
};
