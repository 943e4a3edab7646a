/** The operations of the store that go to its threads: which of them write, and which only read. */
import type { Store } from '../store.ts';
import type { Steps } from './steps.ts';

type OnAThread = Exclude<keyof Store, 'findAccess' | 'wasMade' | 'onCommit' | 'close'>;

/** The one list of them: the compiler wants each operation of the Store that is not the main thread's. */
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
export type WriteName = NameOf<'write'>;
export type ReadName = NameOf<'read'>;

const namesOf = <Kind extends 'write' | 'read'>(kind: Kind) =>
  (Object.keys(operations) as OnAThread[]).filter((name): name is NameOf<Kind> => operations[name] === kind);
export const writeNames = namesOf('write');
export const readNames = namesOf('read');

/** What an operation of the store is asked with. */
export type RequestOf<Name extends keyof Store> = Parameters<Store[Name]>[0];
type ValueOf<Name extends keyof Store> = Awaited<ReturnType<Store[Name]>>;

/** What carries out every write. */
export type Writes = { readonly [Name in WriteName]: (request: RequestOf<Name>) => ValueOf<Name> };
/** What carries out every read, at once or in steps. */
export type Reads = { readonly [Name in ReadName]: (request: RequestOf<Name>) => ValueOf<Name> | Steps<ValueOf<Name>> };

/** One operation of the store, as it is handed to another thread. */
export interface Call {
  readonly name: string;
  readonly request: unknown;
}

/** Does what a call asks. Throws on a name that is none of the table's. */
export const carryOut = (table: Writes | Reads, { name, request }: Call): unknown => {
  if (!Object.hasOwn(table, name)) throw new TypeError(`the store has no operation ${name} here`);
  // What a caller of the Store has sent is of the type that the Store asks for.
  return (table as Readonly<Record<string, (request: never) => unknown>>)[name]?.(request as never);
};

/** The operations of these names, each handed to `ask`. */
export const askingAll = <Name extends WriteName | ReadName>(
  names: readonly Name[],
  ask: (call: Call) => Promise<unknown>,
): Pick<Store, Name> =>
  // The one place where types end: a thread answers an operation with what its table's function does.
  Object.fromEntries(names.map((name) => [name, (request: unknown) => ask({ name, request })])) as never;
