/** The operations of the store that run on its threads, and which of them write. */
import type { Store } from '../store.ts';
import type { ChunkedRead } from './transactions/chunked-reads.ts';

type OnAThread = Exclude<keyof Store, 'findAccess' | 'wasMade' | 'onCommit' | 'close'>;

/** The only list of these operations: the compiler requires each operation of the Store that is not the main thread's. */
const operations = {
  createAccount: 'write',
  updateAccount: 'write',
  createToken: 'write',
  revokeToken: 'write',
  noteTokenUses: 'write',
  noteUnknownProxy: 'write',
  recordAudit: 'write',
  logEvents: 'write',
  deleteEventsBefore: 'write',
  createContact: 'write',
  updateContact: 'write',
  eraseContact: 'write',
  linkUser: 'write',
  unlinkUser: 'write',
  voidLinks: 'write',
  acceptClaim: 'write',
  voidClaim: 'write',
  mergeContact: 'write',
  unmergeContact: 'write',
  keepRefused: 'write',
  replayRefused: 'write',
  listAccounts: 'read',
  findAccount: 'read',
  findProofKeys: 'read',
  listTokens: 'read',
  listAudit: 'read',
  getAccount: 'read',
  measureAccounts: 'read',
  getEvents: 'read',
  getEventDefinitions: 'read',
  countEvents: 'read',
  getContact: 'read',
  searchContact: 'read',
  listRefused: 'read',
  countRefused: 'read',
  check: 'read',
} as const satisfies Record<OnAThread, 'write' | 'read'>;

type NameOf<Kind extends 'write' | 'read'> = {
  [Name in OnAThread]: (typeof operations)[Name] extends Kind ? Name : never;
}[OnAThread];
type WriteName = NameOf<'write'>;
type ReadName = NameOf<'read'>;

const namesOf = <Kind extends 'write' | 'read'>(kind: Kind) =>
  (Object.keys(operations) as OnAThread[]).filter((name): name is NameOf<Kind> => operations[name] === kind);
export const writeNames = namesOf('write');
export const readNames = namesOf('read');

/** The request of an operation of the store. */
export type RequestOf<Name extends keyof Store> = Parameters<Store[Name]>[0];
type ValueOf<Name extends keyof Store> = Awaited<ReturnType<Store[Name]>>;

/** The functions that carry out the writes. */
export type Writes = { readonly [Name in WriteName]: (request: RequestOf<Name>) => ValueOf<Name> };
/** The functions that carry out the reads, at once or in steps. */
export type Reads = {
  readonly [Name in ReadName]: (request: RequestOf<Name>) => ValueOf<Name> | ChunkedRead<ValueOf<Name>>;
};

/** An operation of the store and its request, as they are sent to another thread. */
export interface Call {
  readonly name: string;
  readonly request: unknown;
}

/** Carries out a call. Throws when the table has no operation of that name. */
export const carryOut = (table: Writes | Reads, { name, request }: Call): unknown => {
  if (!Object.hasOwn(table, name)) throw new TypeError(`the store has no operation ${name} here`);
  // Safe: callers of the Store can only send requests of the type that it declares.
  return (table as Readonly<Record<string, (request: never) => unknown>>)[name]?.(request as never);
};

/** The operations with these names; each passes its call to `ask`. */
export const askingAll = <Name extends WriteName | ReadName>(
  names: readonly Name[],
  ask: (call: Call) => Promise<unknown>,
): Pick<Store, Name> =>
  // The only place without types: a thread's reply to an operation is what the function in its table returns.
  Object.fromEntries(names.map((name) => [name, (request: unknown) => ask({ name, request })])) as never;
