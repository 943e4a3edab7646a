/** The parameters of the client's functions, and their conversion to HTTP requests. */
import { type OperationName, operations, type RequestOf } from '@firsthand/contract/operations';

/** An event in a batch, as in logEvent without `sentTime`. It needs a user or contact only if the batch has none. */
type BatchEvent = Omit<RequestOf<'logEvent'>, 'sentTime'>;

/** An operation's request, without the token. A time may be a Date, ISO 8601 or milliseconds since 1970. */
export type RequestFor<Name extends OperationName> = Name extends 'logEvents'
  ? Omit<RequestOf<'logEvents'>, 'event'> & { event: readonly BatchEvent[] }
  : RequestOf<Name>;

export type Fields = Readonly<Record<string, unknown>>;

/** Formats a Date. JSON would write an invalid one as null, which means an absent field. */
const toISO = (name: string, date: Date): string => {
  if (Number.isNaN(date.getTime())) throw new RangeError(`\`${name}\` is an invalid Date`);
  return date.toISOString();
};

const toJSON = (fields: unknown): string =>
  JSON.stringify(fields, function (this: Fields, name, value) {
    const original = this[name];
    return original instanceof Date ? toISO(name, original) : value;
  });

const toText = (name: string, value: unknown): string => {
  if (value instanceof Date) return toISO(name, value);
  return typeof value === 'object' ? toJSON(value) : String(value);
};

/** The fields as a query string, with lists and objects as JSON text, and without undefined or null. */
const toQuery = (fields: Fields): string => {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined && value !== null) query.set(name, toText(name, value));
  }
  const text = query.toString();
  return text && `?${text}`;
};

/** The HTTP request for an operation. `root` has no trailing slash. Throws a RangeError for an invalid Date. */
export const toRequest = (root: string, token: string | undefined, name: OperationName, fields: Fields): Request => {
  const operation = operations[name];
  const [method] = operation.methods;
  const [path] = operation.paths;
  const headers = new Headers({ accept: 'stream' in operation ? 'text/event-stream' : 'application/json' });
  if (token !== undefined) headers.set('authorization', `Bearer ${token}`);
  if (method === 'GET') return new Request(`${root}${path}${toQuery(fields)}`, { method, headers });
  headers.set('content-type', 'application/json');
  return new Request(`${root}${path}`, { method, headers, body: toJSON(fields) });
};
