/** An operation's example request with curl, the client, and the script tag. */
import type { OperationName } from '@firsthand/contract/operations';
import { placeholders } from '../page.ts';

export type Fields = Readonly<Record<string, unknown>>;

const lineLength = 56;
const isName = (text: string): boolean => /^[A-Za-z_$][\w$]*$/.test(text);

const quote = (text: string): string =>
  `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n')}'`;

/** Formats a value as a JavaScript literal, on one line if it fits. */
export const toLiteral = (value: unknown, indent = ''): string => {
  if (typeof value === 'string') return quote(value);
  if (value === null || typeof value !== 'object') return String(value);
  const isList = Array.isArray(value);
  const inner = `${indent}  `;
  const parts = (within: string): string[] =>
    isList
      ? value.map((entry) => toLiteral(entry, within))
      : Object.entries(value).map(
          ([name, entry]) => `${isName(name) ? name : quote(name)}: ${toLiteral(entry, within)}`,
        );
  const [open, close] = isList ? ['[', ']'] : ['{', '}'];
  const short = parts(indent).join(', ');
  if (short === '') return open + close;
  if (indent.length + short.length < lineLength && !short.includes('\n')) return isList ? `[${short}]` : `{ ${short} }`;
  return `${open}\n${parts(inner)
    .map((part) => `${inner}${part},\n`)
    .join('')}${indent}${close}`;
};

/** Quotes a string for a shell. */
const shellQuote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const asText = (value: unknown): string => {
  if (typeof value === 'string') return value;
  // Lists of words are separated by commas; other lists are JSON text.
  if (Array.isArray(value) && value.every((word) => typeof word === 'string')) return value.join(',');
  return JSON.stringify(value);
};

interface Request {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** The shell variable that contains the token. */
  readonly token: string;
  readonly fields: Fields;
  readonly isStream: boolean;
}

export const curlSample = ({ method, path, token, fields, isStream }: Request): string => {
  const lines = [
    `curl ${isStream ? '-N ' : ''}${method === 'GET' && Object.keys(fields).length > 0 ? '-G ' : ''}${placeholders.root}${path}`,
    `-H "Authorization: Bearer $${token}"`,
  ];
  if (method === 'POST')
    lines.push('-H "Content-Type: application/json"', `-d ${shellQuote(JSON.stringify(fields, null, 2))}`);
  else {
    for (const [name, value] of Object.entries(fields)) {
      const text = asText(value);
      const isPlain = /^[\w.:,-]+$/.test(text);
      lines.push(isPlain ? `-d ${name}=${text}` : `--data-urlencode ${shellQuote(`${name}=${text}`)}`);
    }
  }
  return lines.join(' \\\n  ');
};

export const clientSample = (
  name: OperationName,
  fields: Fields,
  { isStream, isPaged }: { readonly isStream: boolean; readonly isPaged: boolean },
): string => {
  const request = Object.keys(fields).length > 0 ? toLiteral(fields) : '';
  const call = isStream
    ? `for await (const event of client.${name}(${request})) {\n  console.log(event.eventName);\n}`
    : isPaged
      ? `for await (const page of client.pages('${name}', ${request || '{}'})) {\n  console.log(page);\n}`
      : `const response = await client.${name}(${request || '{}'});`;
  return `import { createClient } from '@firsthand/client';

const client = createClient({
  url: '${placeholders.root}',
  token,
});

${call}`;
};

interface Attribute {
  readonly attrID: string;
  readonly attrValue: unknown;
}

const withoutIDs = ({ userUUID, requestUUID, ...fields }: Fields): Fields => fields;

/** Calls to the tracker in the script tag, for the operations that pages call through it. */
const tagCalls: Partial<Record<OperationName, (fields: Fields) => string>> = {
  logEvent: ({ eventID, eventAttrArray = [] }) => {
    const attributes = Object.fromEntries(
      (eventAttrArray as Attribute[]).map(({ attrID, attrValue }) => [attrID, attrValue]),
    );
    return `// By the event's name, or by its number
tracker.log('Basket filled', ${toLiteral(attributes)});
tracker.log(${eventID}, ${toLiteral(attributes)});`;
  },
  logEvents: () => `// The script batches these into one request
tracker.log('Basket filled', { product: 'Stone teapot' });
tracker.log('Paid', { amount: 48 });`,
  createContact: (fields) => `const { exists } = await tracker.createContact(${toLiteral(withoutIDs(fields))});`,
};

export const tagSample = (name: OperationName, fields: Fields): string | undefined => tagCalls[name]?.(fields);
