/** Reads a request's fields, in any encoding, into one object. Checks only encoding and size. */
import { isRecord } from '@firsthand/contract/checking';
import { maxDepth, parseJSON, TooDeepError } from '@firsthand/contract/json';
import { limits } from '@firsthand/contract/limits';
import { Refusal } from '../../shared/refusal.ts';
import { type BodySource, readBody } from './body.ts';
import { parseFields, parseMultipart } from './forms.ts';
import { toUnparsed } from './unparsed.ts';

/**
 * Below these sizes in bytes, parsing a URL, or reading and parsing a body, costs less than the rest of the request.
 */
const parsedFreely = 1_024;
const readFreely = 16 * 1024;

export type RequestFields = Record<string, unknown>;

const utf8 = new TextDecoder('utf-8', { fatal: true });

const decode = (bytes: Uint8Array): string => {
  try {
    return utf8.decode(bytes);
  } catch (cause) {
    throw new Refusal('invalid_encoding', { message: 'the body is not valid UTF-8', cause });
  }
};

const parse = (text: string): unknown => {
  try {
    return parseJSON(text);
  } catch (cause) {
    const message =
      cause instanceof TooDeepError ? `the body is nested more than ${maxDepth} levels deep` : 'the body is not JSON';
    throw new Refusal('invalid_json', { message, cause });
  }
};

/** Parses a JSON object. `__proto__` is an ordinary name (RFC 8259 has no special names). */
export const parseObject = (text: string): RequestFields => {
  const value = parse(text);
  if (!isRecord(value)) throw new Refusal('invalid_json', { message: 'the body is not a JSON object' });
  return value;
};

/** The types treated as JSON: pages may send `text/plain` without a preflight, and some clients send no type. */
const jsonTypes = new Set(['', 'application/json', 'text/plain']);
const openBrace = 0x7b;
const charset = /;\s*charset\s*=\s*"?([^";\s]+)/i;
const utf8Names = new Set(['utf-8', 'utf8', 'us-ascii']);

const parseBody = (bytes: Uint8Array<ArrayBuffer>, contentType: string): RequestFields | Promise<RequestFields> => {
  const semicolon = contentType.indexOf(';');
  const type = semicolon < 0 ? contentType : contentType.slice(0, semicolon);
  const name = type.trim().toLowerCase();
  const [, encoding = 'utf-8'] = (semicolon < 0 ? null : charset.exec(contentType)) ?? [];
  if (!utf8Names.has(encoding.toLowerCase())) {
    throw new Refusal('unsupported_media_type', { message: 'the charset must be utf-8' });
  }
  const isForm = name === 'application/x-www-form-urlencoded';
  // `curl -d` labels all data as a form. A form would encode the brace (URL Standard, 5.2), so this is JSON.
  if (jsonTypes.has(name) || (isForm && bytes[0] === openBrace)) return parseObject(decode(bytes));
  if (isForm) return parseFields(decode(bytes), 'body');
  if (name === 'multipart/form-data') {
    // Called only to check for valid UTF-8: the form parser would insert replacement characters.
    decode(bytes);
    return parseMultipart(bytes, contentType);
  }
  throw new Refusal('unsupported_media_type');
};

/** Parses the query string of an absolute URL. */
const parseQuery = (url: string): RequestFields => {
  const path = url.indexOf('/', url.indexOf('//') + 2);
  if (url.length - path > limits.urlBytes) throw new Refusal('url_too_long');
  const question = url.indexOf('?', path);
  if (question < 0) return {};
  const text = url.slice(question + 1);
  try {
    return parseFields(text, 'query string');
  } catch (error) {
    throw toUnparsed(error, new TextEncoder().encode(text));
  }
};

/**
 * Decides whether a body may be read or decompressed, and whether a body or URL may be parsed. Each function rejects if
 * it may not.
 */
export interface Budget {
  mayRead(bytes: number, query: RequestFields): Promise<void>;
  /** Like MayUnpack; `maxBytes` limits the result. */
  mayUnpack(packed: Uint8Array, maxBytes: number, query: RequestFields): Promise<() => void>;
  mayParse(text: Uint8Array, query: RequestFields): Promise<void>;
}

/**
 * Reads a request's fields from the query string and, for a POST, from the body. Fields in the body take precedence.
 * Rejects with Unparsed if the fields can't be parsed, and whenever a function of `budget` rejects.
 */
export const readInput = async (
  request: Request,
  maxBytes: number,
  source: BodySource,
  budget: Budget,
): Promise<RequestFields> => {
  const { url } = request;
  if (url.length > parsedFreely) await budget.mayParse(Buffer.from(url), {});
  const query = parseQuery(url);
  if (request.method !== 'POST') return query;
  const announced = Number(request.headers.get('content-length') ?? maxBytes);
  if (announced > readFreely) await budget.mayRead(announced, query);
  const mayUnpack = (packed: Uint8Array) => budget.mayUnpack(packed, maxBytes, query);
  const bytes = await readBody(request, maxBytes, source, mayUnpack);
  if (bytes.length === 0) return query;
  if (bytes.length > parsedFreely) await budget.mayParse(bytes, query);
  try {
    const body = await parseBody(bytes, request.headers.get('content-type') ?? '');
    for (const _ in query) return { ...query, ...body };
    return body;
  } catch (error) {
    throw toUnparsed(error, bytes, query);
  }
};
