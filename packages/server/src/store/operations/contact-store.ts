/** The functions that a database provides for the operations that write contacts, links and claims. */
import type { ContactRecord, KeyField, Values } from '../../identity/contact-view.ts';
import type { Refusal } from '../../shared/refusal.ts';
import type { Use } from '../rules/accounts/catalogue-rules.ts';
import type { ClaimRow } from '../rules/claims.ts';
import type { ContactUpdate, CreatedContact } from '../rules/contact-changes.ts';
import type { SentRequest } from '../rules/idempotency-keys.ts';
import type { NewLink, StatementRow } from '../rules/links.ts';
import type { Catalogues, EventBatch, EventOutcome, NamedContact, NewContact } from '../store.ts';
import type { ContactRow, Result } from './contacts.ts';
import type { SequenceSource } from './facts.ts';
import type { Operation } from './operation.ts';

/** The columns that store a contact's keys. */
export interface StoredKeys {
  readonly contactEmailaddress: string | null;
  readonly contactExternalID: string | null;
  /** The claim that the external ID came from; 0 if it was only claimed; null if it is verified or absent. */
  readonly externalIDClaim: number | null;
  /** Whether the address is verified. */
  readonly verified: boolean | number;
}

export interface WritableContact extends ContactRow, StoredKeys {
  readonly account: number;
}

/** A contact to save: all of its own values, and the change that produced them. */
export interface SavedContact extends StoredKeys {
  readonly values: Values;
  readonly change: Pick<ContactUpdate, 'fields' | 'addedTags' | 'removedTags' | 'attributes'>;
  readonly contactStatus: string;
  readonly updatedTime: number;
}

/**
 * On PostgreSQL, functions throw ConcurrentChange if another transaction changed a row in the meantime. The work then
 * runs again.
 */
export interface ContactStore extends SequenceSource {
  /**
   * Returns the identified contact. Throws a Refusal if there is none. `prefix` precedes the request's field names in
   * the error.
   */
  find(names: NamedContact, prefix?: string): Result<WritableContact>;
  get(contact: number): Result<WritableContact>;
  findByKey(account: number, field: KeyField, value: string): Result<WritableContact | undefined>;
  isErasedClaim(account: number, claimID: string): Result<boolean>;
  /** Returns the contact at the end of this contact's merges. */
  followMerges(row: WritableContact): Result<WritableContact>;
  /**
   * Returns the chain of merges that starts at this contact, as pairs of a contact and the contact into which it is
   * merged.
   */
  readMerges(contact: number): Result<ReadonlyMap<number, number>>;
  /** Returns a contact that is not merged, followed by all contacts merged into it. */
  readGroup(unmerged: WritableContact): Result<readonly WritableContact[]>;
  readRecords(group: readonly WritableContact[]): Result<readonly ContactRecord[]>;

  /** Locks a contact and, if they are about to change, its keys. Returns its current row. */
  lock(row: WritableContact, changesKeys: boolean): Result<WritableContact>;
  /** Creates a contact with verified keys. */
  insert(created: Omit<CreatedContact, 'verified'>): Result<WritableContact>;
  /**
   * Finds or creates the contact with the address or, without one, the external ID. Does the same work in both cases,
   * so that the response time does not reveal to a browser token whether the key exists.
   */
  ensure(created: CreatedContact): Result<WritableContact>;
  save(row: WritableContact, saved: SavedContact): Result<unknown>;
  /** Returns the contact that has the key. If there is none, prevents other transactions from taking the key. */
  reserveKey(row: WritableContact, field: KeyField, value: string): Result<WritableContact | undefined>;
  clearKey(row: WritableContact, field: KeyField): Result<unknown>;
  verifyKey(row: WritableContact, field: KeyField): Result<unknown>;
  setExternalID(row: WritableContact, externalID: string, claim: number): Result<unknown>;
  merge(row: WritableContact, into: number, time: number): Result<unknown>;
  unmerge(row: WritableContact): Result<unknown>;
}

export interface NewStatement extends Omit<NewLink, 'contact'> {
  /** The contact that is linked; null for an unlink. */
  readonly contact: number | null;
}

export interface LinkStore {
  findUser(account: number, userUUID: string): Result<number | undefined>;
  ensureUser(account: number, userUUID: string, time: number): Result<number>;
  /**
   * Call it before a user's links or claims change. Locks the user (PostgreSQL), or completes erasures of the user's
   * history (SQLite).
   */
  holdUsers(users: readonly number[]): Result<unknown>;
  /** Like `holdUsers`, but skips users that another transaction has locked. Returns the users that it holds. */
  holdFreeUsers(users: readonly number[]): Result<ReadonlySet<number>>;
  /** Prevents the erasure of a contact until the transaction ends. */
  holdContact(contact: number): Result<unknown>;
  /** Returns a user's statements, ascending. */
  readStatements(user: number): Result<readonly StatementRow[]>;
  /** Appends a link or unlink for a held user. Returns its sequence. */
  append(statement: NewStatement): Result<number>;
  findClaim(account: number, claimID: string): Result<ClaimRow | undefined>;
  /** Returns the row numbers of a contact and of all contacts merged with it. */
  readGroupNumbers(contact: number): Result<readonly number[]>;
}

interface CatalogueStore {
  /** Throws a Refusal if the token is not allowed to use one of the IDs. */
  check(account: number, browser: boolean, uses: readonly Use[]): Result<unknown>;
  /** Adds the IDs that are not listed yet, as long as there is room. */
  register(account: number, browser: boolean, uses: readonly Use[]): Result<unknown>;
  /** Adds, changes or removes entries. */
  put(account: number, catalogues: Catalogues): Result<unknown>;
}

/** The stored result of a createContact request. */
export interface RequestResult {
  readonly contact: number;
  readonly claim: number | null;
  readonly existed: boolean | number;
}

/** Recognizes repeated createContact requests by requestUUID. */
export interface RequestStore {
  /** Returns the day of data received at this time. */
  dayOf(time: number): number;
  /** Returns the result of a repeated request; 'erased' if it was erased with its contact. */
  find(request: NewContact, sent: SentRequest, day: number): Result<RequestResult | 'erased' | undefined>;
  store(sent: SentRequest, result: RequestResult & { readonly existed: boolean }, day: number): Result<unknown>;
}

interface EventStore {
  log(batch: EventBatch): Result<readonly EventOutcome[]>;
  /** Returns the last sequence drawn. */
  readLastSequence(): Result<number>;
}

/**
 * The dependencies of the operations that write contacts, bound to one transaction (and, on PostgreSQL, to one
 * account).
 */
export interface ContactParts {
  readonly contacts: ContactStore;
  readonly links: LinkStore;
  readonly catalogues: CatalogueStore;
  readonly requests: RequestStore;
  readonly events: EventStore;
  /**
   * Runs a part of a write. If the part throws a Refusal, returns the Refusal. On SQLite, a part must do so before its
   * first write.
   */
  attempt<Value>(part: Operation<Value>): Result<Value | Refusal>;
  /** Returns these dependencies for an account that this transaction created. */
  ofNewAccount(account: number): Result<ContactParts>;
}
