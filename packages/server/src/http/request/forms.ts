/** Parses the fields of query strings and HTML forms. The last value of a repeated field wins. */
import { limits } from '@firsthand/contract/limits';
import { scrub } from '../../logging/scrub.ts';
import { Refusal } from '../../shared/refusal.ts';

/** The maximum number of fields, far more than any operation has. */
const maxFields = 1_000;

const tooMany = (where: string) =>
  new Refusal('invalid_encoding', { message: `the ${where} has more than ${maxFields} fields` });

/**
 * The start of every boundary between fields. The number of its occurrences is an upper bound on the number of fields.
 */
const boundaryStart = '\r\n--';

const decode = (text: string): string => {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text;
  return spaced.includes('%') ? decodeURIComponent(spaced) : spaced;
};

/**
 * Parses `application/x-www-form-urlencoded` text (URL Standard, section 5.1). Refuses text that isn't percent-encoded
 * UTF-8, where the standard would insert replacement characters.
 */
export const parseFields = (text: string, where: string): Record<string, unknown> => {
  const fields: [string, string][] = [];
  const pairs = text.split('&', maxFields + 1);
  if (pairs.length > maxFields) throw tooMany(where);
  try {
    for (const pair of pairs) {
      if (pair === '') continue;
      const equals = pair.indexOf('=');
      if (equals < 0) fields.push([decode(pair), '']);
      else fields.push([decode(pair.slice(0, equals)), decode(pair.slice(equals + 1))]);
    }
  } catch (cause) {
    throw new Refusal('invalid_encoding', { message: `the ${where} is not percent-encoded UTF-8`, cause });
  }
  // Unlike assignment, fromEntries makes `__proto__` a field like any other.
  return Object.fromEntries(fields);
};

/** Parses `multipart/form-data` (RFC 7578). Refuses files, because no operation accepts files. */
export const parseMultipart = async (
  bytes: Uint8Array<ArrayBuffer>,
  contentType: string,
): Promise<Record<string, unknown>> => {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  if (text.split(boundaryStart, maxFields + 2).length > maxFields + 1) throw tooMany('form');
  const form = await new Response(bytes, { headers: { 'Content-Type': contentType } }).formData().catch((cause) => {
    throw new Refusal('invalid_encoding', { message: 'the body is not a form of the type in Content-Type', cause });
  });
  for (const [name, value] of form) {
    if (typeof value !== 'string') {
      throw new Refusal('unsupported_media_type', {
        field: scrub(name.slice(0, limits.nameLength)),
        message: 'a form must not contain files',
      });
    }
  }
  return Object.fromEntries(form);
};
