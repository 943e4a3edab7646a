/** The operations of the store that run on its threads, and which of them write. */
import { namesOf, sharedReads, sharedWrites } from '../operations/operations.ts';
import type { RequestOf, Store } from '../store.ts';
import type { ChunkedRead } from './transactions/chunked-reads.ts';

type OnAThread = Exclude<keyof Store, 'findAccess' | 'wasMade' | 'onCommit' | 'close'>;

// The compiler requires each operation of the Store in one of the two lists, where store.ts makes a Store of them.
export const writeNames = [
  ...namesOf(sharedWrites),
  'createAccount',
  'updateAccount',
  'mergeEntry',
  'unmergeEntry',
  'deleteAccount',
  'deleteEnded',
  'recordAudit',
  'logEvents',
  'deleteEventsBefore',
  'createContact',
  'updateContact',
  'eraseContact',
  'linkUser',
  'unlinkUser',
  'voidLinks',
  'acceptClaim',
  'voidClaim',
  'mergeContact',
  'unmergeContact',
  'keepRefused',
  'replayRefused',
  'discardRefused',
] as const satisfies readonly OnAThread[];
type WriteName = (typeof writeNames)[number];

export const readNames = [
  ...namesOf(sharedReads),
  'listAccounts',
  'findAccount',
  'listAudit',
  'getAccount',
  'listCatalogue',
  'measureAccounts',
  'getEvents',
  'getEventDefinitions',
  'countEvents',
  'feedEvents',
  'feedOwners',
  'feedContacts',
  'namePeople',
  'getContact',
  'searchContact',
  'listRefused',
  'countRefused',
  'check',
] as const satisfies readonly Exclude<OnAThread, WriteName>[];
type ReadName = (typeof readNames)[number];

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
