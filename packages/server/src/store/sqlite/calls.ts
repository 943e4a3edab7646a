/** The store operations that run on threads, split into writes and reads. */
import { contactWriteNames } from '../operations/contact-operations.ts';
import { namesOf, sharedReads, sharedWrites } from '../operations/operations.ts';
import type { RequestOf, Store } from '../store.ts';
import type { ChunkedRead } from './transactions/chunked-reads.ts';

type ThreadOperation = Exclude<keyof Store, 'findAccess' | 'wasTokenCreated' | 'onCommit' | 'close'>;

// The compiler checks that each operation is in one of the two lists, because store.ts builds a Store from them.
export const writeNames = [
  ...namesOf(sharedWrites),
  ...contactWriteNames,
  'mergeEntry',
  'unmergeEntry',
  'deleteAccount',
  'logEvents',
  'deleteEventsBefore',
  'eraseContact',
  'previewImport',
  'undoImport',
  'addRefused',
  'replayRefused',
  'discardRefused',
] as const satisfies readonly ThreadOperation[];
type WriteName = (typeof writeNames)[number];

export const readNames = [
  ...namesOf(sharedReads),
  'getAccount',
  'measureAccounts',
  'getLastSequence',
  'getEvents',
  'getEventDefinitions',
  'countEvents',
  'feedEvents',
  'feedOwners',
  'feedContacts',
  'namePeople',
  'listUserLinks',
  'getContact',
  'searchContact',
  'listRefused',
  'countRefused',
  'check',
] as const satisfies readonly Exclude<ThreadOperation, WriteName>[];
type ReadName = (typeof readNames)[number];

type ValueOf<Name extends keyof Store> = Awaited<ReturnType<Store[Name]>>;

/** The functions that execute the writes. */
export type Writes = { readonly [Name in WriteName]: (request: RequestOf<Name>) => ValueOf<Name> };
/** The functions that execute the reads, possibly in steps. */
export type Reads = {
  readonly [Name in ReadName]: (request: RequestOf<Name>) => ValueOf<Name> | ChunkedRead<ValueOf<Name>>;
};

/** A store operation and its request, as sent to another thread. */
export interface Call {
  readonly name: string;
  readonly request: unknown;
}

/** Executes a call. Throws if the table has no operation with its name. */
export const execute = (table: Writes | Reads, { name, request }: Call): unknown => {
  if (!Object.hasOwn(table, name)) throw new TypeError(`unknown store operation: ${name}`);
  // Safe: the Store's type ensures that each request matches its operation.
  return (table as Readonly<Record<string, (request: never) => unknown>>)[name]?.(request as never);
};

/** Returns the operations with these names. Each passes its call to `send`. */
export const createOperations = <Name extends WriteName | ReadName>(
  names: readonly Name[],
  send: (call: Call) => Promise<unknown>,
): Pick<Store, Name> =>
  // The cast is safe: a thread's reply to a call is what the operation in its table returns.
  Object.fromEntries(names.map((name) => [name, (request: unknown) => send({ name, request })])) as never;
