/** What each function of the client takes, and how it is put on the wire. */
import { type OperationName, operations, type RequestOf } from '@firsthand/contract';

type Unfilled<Value> = undefined extends Value ? true : false;

/** The same of each object of a list. */
type SparseInside<Value> = Value extends readonly (infer Item extends object)[] ? readonly Flat<Sparse<Item>>[] : Value;

/** Fields that may be undefined may be left out. */
type Sparse<Request> = {
  [Key in keyof Request as Unfilled<Request[Key]> extends true ? Key : never]?: SparseInside<Request[Key]>;
} & {
  [Key in keyof Request as Unfilled<Request[Key]> extends true ? never : Key]: SparseInside<Request[Key]>;
};

type Flat<Request> = { [Key in keyof Request]: Request[Key] };

/** An event of a batch: as for logEvent, without `sentTime`, and naming a user or contact only where the batch doesn't. */
type EventOfBatch = Flat<Omit<Sparse<RequestOf<'logEvent'>>, 'sentTime'>>;

/** What one operation is asked with. The token is the client's business. */
export type RequestFor<Name extends OperationName> = Name extends 'logEvents'
  ? Flat<Omit<Sparse<RequestOf<'logEvents'>>, 'event'> & { event: readonly EventOfBatch[] }>
  : Flat<Sparse<RequestOf<Name>>>;

export type Fields = Readonly<Record<string, unknown>>;

/** In a query string a list or an object is its JSON text; what is absent or null says nothing. */
const toQuery = (fields: Fields): string => {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined || value === null) continue;
    query.set(name, typeof value === 'object' ? JSON.stringify(value) : String(value));
  }
  const text = query.toString();
  return text && `?${text}`;
};

/** The one request that asks `name` of the service at `root` (no slash at its end). */
export const toRequest = (root: string, token: string | undefined, name: OperationName, fields: Fields): Request => {
  const operation = operations[name];
  const [method] = operation.methods;
  const [path] = operation.paths;
  const headers = new Headers({ accept: 'stream' in operation ? 'text/event-stream' : 'application/json' });
  if (token !== undefined) headers.set('authorization', `Bearer ${token}`);
  if (method === 'GET') return new Request(`${root}${path}${toQuery(fields)}`, { method, headers });
  headers.set('content-type', 'application/json');
  return new Request(`${root}${path}`, { method, headers, body: JSON.stringify(fields) });
};
