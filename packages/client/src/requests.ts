/** The parameters of the client's functions, and the HTTP requests made from them. */
import { type OperationName, operations, type RequestOf } from '@firsthand/contract/operations';

/** An event of a batch: as for logEvent, without `sentTime`. It needs a user or contact only if the batch names none. */
type EventOfBatch = Omit<RequestOf<'logEvent'>, 'sentTime'>;

/** The request of an operation, without the token, which the client adds. A time may be a Date, ISO 8601 or milliseconds since 1970. */
export type RequestFor<Name extends OperationName> = Name extends 'logEvents'
  ? Omit<RequestOf<'logEvents'>, 'event'> & { event: readonly EventOfBatch[] }
  : RequestOf<Name>;

export type Fields = Readonly<Record<string, unknown>>;

/** The ISO 8601 text of a Date. JSON would write an invalid one as null, which is the same as leaving the field out. */
const toISO = (name: string, date: Date): string => {
  if (Number.isNaN(date.getTime())) throw new RangeError(`\`${name}\` is an invalid Date`);
  return date.toISOString();
};

const toJSON = (fields: unknown): string =>
  JSON.stringify(fields, function (this: Fields, name, value) {
    const given = this[name];
    return given instanceof Date ? toISO(name, given) : value;
  });

const toText = (name: string, value: unknown): string => {
  if (value instanceof Date) return toISO(name, value);
  return typeof value === 'object' ? toJSON(value) : String(value);
};

/** The fields as a query string: a list or an object as its JSON text, and no field that is undefined or null. */
const toQuery = (fields: Fields): string => {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined && value !== null) query.set(name, toText(name, value));
  }
  const text = query.toString();
  return text && `?${text}`;
};

/**
 * The HTTP request for an operation. `root` is the service's URL without a slash at its end. Throws a RangeError for an invalid Date.
 */
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
