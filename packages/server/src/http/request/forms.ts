/** Parses the fields of query strings and HTML forms. The last value of a repeated field counts. */
import { limits } from '@firsthand/contract/limits';
import { scrub } from '../../logging/scrub.ts';
import { Refusal } from '../../shared/refusal.ts';

/** Far more than any operation has. */
const maxFields = 1_000;

const tooMany = (where: string) =>
  new Refusal('invalid_encoding', { message: `the ${where} holds more than ${maxFields} fields` });

/** The start of each boundary between fields, so that its occurrences are an upper bound for the number of fields. */
const lineOfDashes = '\r\n--';

const decode = (text: string): string => {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text;
  return spaced.includes('%') ? decodeURIComponent(spaced) : spaced;
};

/**
 * The fields of `application/x-www-form-urlencoded` text (URL Standard, section 5.1). Text that isn't percent-encoded UTF-8 is
 * refused, while the standard would insert replacement characters.
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

/** The fields of `multipart/form-data` (RFC 7578). Files are refused: no operation takes one. */
export const parseMultipart = async (
  bytes: Uint8Array<ArrayBuffer>,
  contentType: string,
): Promise<Record<string, unknown>> => {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  if (text.split(lineOfDashes, maxFields + 2).length > maxFields + 1) throw tooMany('form');
  const form = await new Response(bytes, { headers: { 'Content-Type': contentType } }).formData().catch((cause) => {
    throw new Refusal('invalid_encoding', { message: 'the body is not the form that Content-Type says', cause });
  });
  for (const [name, value] of form) {
    if (typeof value !== 'string') {
      throw new Refusal('unsupported_media_type', {
        field: scrub(name.slice(0, limits.nameLength)),
        message: 'a form may hold fields, and no files',
      });
    }
  }
  return Object.fromEntries(form);
};
