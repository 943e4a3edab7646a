/** The request of an operation's example in curl, with the client, and with the tag of a page. */
import type { OperationName } from '@firsthand/contract/operations';
import { places } from '../page.ts';

export type Fields = Readonly<Record<string, unknown>>;

const lineLength = 56;
const isName = (text: string): boolean => /^[A-Za-z_$][\w$]*$/.test(text);

const quote = (text: string): string =>
  `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n')}'`;

/** The value as a JavaScript literal, on one line where it fits. */
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

/** As a word of a shell. */
const shellWord = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const asText = (value: unknown): string => {
  if (typeof value === 'string') return value;
  // Words are separated by commas; any other list is its JSON text.
  if (Array.isArray(value) && value.every((word) => typeof word === 'string')) return value.join(',');
  return JSON.stringify(value);
};

interface Request {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** The shell variable with the token. */
  readonly token: string;
  readonly fields: Fields;
  readonly isStream: boolean;
}

export const curlSample = ({ method, path, token, fields, isStream }: Request): string => {
  const lines = [
    `curl ${isStream ? '-N ' : ''}${method === 'GET' && Object.keys(fields).length > 0 ? '-G ' : ''}${places.root}${path}`,
    `-H "Authorization: Bearer $${token}"`,
  ];
  if (method === 'POST')
    lines.push('-H "Content-Type: application/json"', `-d ${shellWord(JSON.stringify(fields, null, 2))}`);
  else {
    for (const [name, value] of Object.entries(fields)) {
      const text = asText(value);
      const isPlain = /^[\w.:,-]+$/.test(text);
      lines.push(isPlain ? `-d ${name}=${text}` : `--data-urlencode ${shellWord(`${name}=${text}`)}`);
    }
  }
  return lines.join(' \\\n  ');
};

export const clientSample = (
  name: OperationName,
  fields: Fields,
  { isStream, isPaged }: { readonly isStream: boolean; readonly isPaged: boolean },
): string => {
  const given = Object.keys(fields).length > 0 ? toLiteral(fields) : '';
  const call = isStream
    ? `for await (const event of client.${name}(${given})) {\n  console.log(event.eventName);\n}`
    : isPaged
      ? `for await (const page of client.pages('${name}', ${given || '{}'})) {\n  console.log(page);\n}`
      : `const answer = await client.${name}(${given || '{}'});`;
  return `import { createClient } from '@firsthand/client';

const client = createClient({
  url: '${places.root}',
  token,
});

${call}`;
};

interface Attribute {
  readonly attrID: string;
  readonly attrValue: unknown;
}

const withoutIDs = ({ userUUID, requestUUID, ...fields }: Fields): Fields => fields;

/** What a page with the script tag calls; undefined for what no page calls by the tag. */
const tagCalls: Partial<Record<OperationName, (fields: Fields) => string>> = {
  logEvent: ({ eventID, eventAttrArray = [] }) => {
    const attributes = Object.fromEntries(
      (eventAttrArray as Attribute[]).map(({ attrID, attrValue }) => [attrID, attrValue]),
    );
    return `// By its name, or by its number
tracker.log('Basket filled', ${toLiteral(attributes)});
tracker.log(${eventID}, ${toLiteral(attributes)});`;
  },
  logEvents: () => `// The script sends what was logged together in one request
tracker.log('Basket filled', { product: 'Stone teapot' });
tracker.log('Paid', { amount: 48 });`,
  createContact: (fields) => `const { exists } = await tracker.createContact(${toLiteral(withoutIDs(fields))});`,
};

export const tagSample = (name: OperationName, fields: Fields): string | undefined => tagCalls[name]?.(fields);
