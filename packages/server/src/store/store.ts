/**
 * What a store does, whole operations only: each is one transaction, committed and synced before its promise resolves,
 * and seen by every read that starts afterwards. A refused operation throws a Refusal and changes nothing; a store that
 * cannot keep something now throws Refusal('not_kept').
 *
 * Inside, accounts and tokens go by number; everything a client names goes by the text that the client knows. Times are
 * milliseconds since 1970 and, like new identifiers, come in as arguments.
 */

import type { AuditAction, AuditSubject } from '@firsthand/contract/audit';
import type { ErrorCode } from '@firsthand/contract/errors';
import type { TokenKind } from '@firsthand/contract/tokens';
import type { ContactField } from '../identity/contact-view.ts';
import type { AuditRecord } from './audit.ts';

export interface Store {
  // Accounts and tokens
  /** Who a token stands for, by the hex SHA-256 of its text; undefined when unknown, revoked, or expired by `time` (now). */
  findAccess(tokenHash: string, time?: number): Promise<Access | undefined>;
  /** Whether there ever was such a token, told from memory: false may also mean that it is not remembered. */
  wasMade(tokenHash: string): Promise<boolean>;
  /** The SHA-256 (raw bytes) of every server token of an account that is live at `time`: the keys of its contactProofs. */
  findProofKeys(request: { account: number; time: number }): Promise<Uint8Array[]>;
  /** Every token of an account, or of all and of operators; never the text of a secret one. */
  listTokens(request: { account?: number | undefined }): Promise<ListedToken[]>;
  /** The number of the account with this accountUUID. */
  findAccount(accountUUID: string): Promise<number | undefined>;
  listAccounts(): Promise<AccountSummary[]>;
  getAccount(account: number): Promise<AccountDetail>;
  /** What each account stores. Reads in small steps, and takes seconds where there are millions of contacts. */
  measureAccounts(): Promise<AccountSize[]>;
  /** Makes the account with its tokens, catalogues and contacts; one outcome for each contact. */
  createAccount(request: NewAccount): Promise<ContactOutcome[]>;
  updateAccount(request: AccountChange): Promise<ContactOutcome[]>;
  /** Refused as `invalid_token` when the token that makes it is not live any more. */
  createToken(token: NewToken & { account: number | null }): Promise<void>;
  /**
   * Returns when it was revoked, the first time if it had been already. `account` null: an operator's token. With
   * `descendants` it also revokes every live token that it made, directly or not, and returns their tokenIDs.
   */
  revokeToken(request: {
    account: number | null;
    tokenID: string;
    descendants?: boolean | undefined;
    by?: Actor;
    time: number;
  }): Promise<{ revokedTime: number; descendants: string[] }>;
  /** Notes when tokens were last used; a time before the one that is known changes nothing. */
  noteTokenUses(request: { uses: readonly (readonly [token: number, time: number])[] }): Promise<void>;

  /**
   * Notes when a proxy on a private address forwarded requests while TRUST_PROXY was not set; null forgets it. Only
   * `firsthand doctor` reads it.
   */
  noteUnknownProxy(request: { seenTime: number | null }): Promise<void>;

  /** Records what is no write of the store. Its writes record themselves: see audit.ts. */
  recordAudit(record: AuditRecord): Promise<void>;
  /** A page of the audit log, newest first: of an account, or of all and of the service. */
  listAudit(query: AuditQuery): Promise<{ entries: AuditEntry[]; next: number | null }>;

  // Events
  /** Keeps a batch in one commit; one outcome for each event, in their order. A refused event does not refuse others. */
  logEvents(batch: EventBatch): Promise<EventOutcome[]>;
  /** One page of events in sequence order. */
  getEvents(query: EventQuery): Promise<EventPage>;
  /** The account's listed event IDs, with how often and when each happened (to a quarter of an hour, once some were deleted). */
  getEventDefinitions(account: number): Promise<EventDefinition[]>;
  /** Events (and distinct users) between each pair of neighbouring `edges`, by eventTime. */
  countEvents(query: CountQuery): Promise<CountBucket[]>;
  /**
   * Deletes up to `most` of the oldest events that were received before a time; answers how many. One that was stamped
   * later than `now`, by a clock that was ahead, is as old as the next that was not.
   */
  deleteEventsBefore(request: { time: number; most: number; now?: number }): Promise<number>;

  // Contacts
  createContact(request: NewContact): Promise<{ exists: boolean; contactUUID: string }>;
  updateContact(request: ContactChange): Promise<{ contactUUID: string; updated: string[] }>;
  getContact(query: ContactQuery): Promise<ContactDetail>;
  searchContact(query: ContactSearch): Promise<{ contacts: ContactRecord[]; next: number | null }>;
  /**
   * Takes the contact, and all that is merged with it, out of every read but the counts, which follow as its events are
   * deleted; that may take longer than this promise. Asked again by contactUUID, answers how far that is.
   */
  eraseContact(request: NewErasure): Promise<ErasureReceipt>;

  // Links, claims and merges
  linkUser(request: {
    account: number;
    token: number;
    userUUID: string;
    contactUUID: string;
    time: number;
  }): Promise<{ exists: boolean; linkID: string }>;
  unlinkUser(request: { account: number; token: number; userUUID: string; time: number }): Promise<{
    exists: boolean;
    linkID: string;
  }>;
  /** Answers how many links changed. */
  voidLinks(request: {
    account: number;
    restore: boolean;
    links: LinkSelection;
    by?: Actor;
    time?: number;
  }): Promise<number>;
  acceptClaim(request: {
    account: number;
    claimID: string;
    by?: Actor;
    time: number;
  }): Promise<{ contactUUID: string }>;
  voidClaim(request: {
    account: number;
    claimID: string;
    restore: boolean;
    by?: Actor;
    time: number;
  }): Promise<{ contactUUID: string }>;
  mergeContact(request: {
    account: number;
    contactUUID: string;
    otherContactUUID: string;
    by?: Actor;
    time: number;
  }): Promise<{ contactUUID: string; mergedTime: number }>;
  unmergeContact(request: {
    account: number;
    otherContactUUID: string;
    by?: Actor;
    time?: number;
  }): Promise<{ contactUUID: string }>;

  // Refused requests
  /**
   * Keeps them on their token's list. When that is full, the sender with most on it loses his oldest (giving-way.ts). One that
   * names an erased contact is counted, and not kept.
   */
  keepRefused(batch: RefusedBatch): Promise<void>;
  /** A page of what is on the lists, oldest first. */
  listRefused(query: RefusedQuery): Promise<RefusedPage>;
  /** For each token that ever had a request refused, how many there are, and what became of the others. */
  countRefused(query: { account?: number | null }): Promise<RefusedCount[]>;
  /**
   * Carries out the write that a refused request asks for and takes it off the list, both or neither: what is refused
   * again, or any event of it, changes nothing. Undefined when it isn't on the list any more.
   */
  replayRefused(replay: RefusedReplay): Promise<ReplayedAnswer | undefined>;

  // The store itself
  /** Calls `listener` after each commit that kept events or changed who is who; answers how to stop that. */
  onCommit(listener: () => void): () => void;
  /** Resolves when a read answers; throws when the store is not fit to serve, or (SQLite) still has no room since a write found none. */
  check(): Promise<void>;
  /** Waits for what is under way, then lets go of the database. */
  close(): Promise<void>;
}

/** Who does something: the number of a token; without one, the command line. */
export type Actor = number | null | undefined;

export interface AuditQuery {
  readonly account?: number | undefined;
  /** from ≤ time < to */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly action?: AuditAction | undefined;
  /** Only entries before this one: `next` of the page before. */
  readonly beyond?: number | undefined;
  readonly limit: number;
}

export interface AuditEntry {
  readonly audit: number;
  /** Of what is of the service itself, null. */
  readonly accountUUID: string | null;
  /** The tokenID of who did it; null: the command line. */
  readonly actor: string | null;
  readonly action: AuditAction;
  readonly subject: AuditSubject;
  readonly time: number;
}

/** What a live token may act for. `account` is null for an operator's. */
export interface Access {
  readonly token: number;
  readonly tokenID: string;
  readonly kind: TokenKind;
  readonly account: number | null;
  readonly accountOrigin: readonly string[];
  readonly accountTimezone: string;
}

export interface NewToken {
  readonly tokenID: string;
  readonly kind: TokenKind;
  readonly tokenName: string;
  /** Hex SHA-256 of the token's text. */
  readonly hash: string;
  /** The text itself, of a browser token only: it is public. */
  readonly text: string | null;
  readonly time: number;
  /** The number of the token that makes it; without one, the command line does. */
  readonly createdBy?: number | null | undefined;
  /** From then on it is not live. */
  readonly expiresTime?: number | null | undefined;
}

export interface CatalogueEntry {
  readonly id: string;
  /** Absent: keep the name there is, or use the ID. */
  readonly name?: string | undefined;
  /** May a browser token use it? Absent: keep, or yes. */
  readonly browser?: boolean | undefined;
  /** Of attributes only. */
  readonly type?: string | undefined;
  /** Takes it out of the catalogue, if it is there; what uses it keeps its ID. */
  readonly remove?: boolean | undefined;
}

export const catalogueKinds = ['profile', 'tag', 'attr', 'event'] as const;
export type CatalogueKind = (typeof catalogueKinds)[number];
export type Catalogues = Readonly<Partial<Record<CatalogueKind, readonly CatalogueEntry[]>>>;

export interface NewAccount {
  readonly by?: Actor;
  readonly accountUUID: string;
  readonly accountName: string;
  readonly accountOrigin: readonly string[];
  readonly accountTimezone: string;
  readonly strict: boolean;
  /** Do browser tokens list the profiles, tags and attributes that they use? */
  readonly browserCatalogue: boolean;
  readonly catalogues: Catalogues;
  readonly tokens: readonly NewToken[];
  readonly contacts: readonly AccountContact[];
  readonly time: number;
}

/** Members that are absent stay as they are. */
export interface AccountChange {
  readonly by?: Actor;
  readonly account: number;
  readonly accountName?: string | undefined;
  readonly accountOrigin?: readonly string[] | undefined;
  readonly accountTimezone?: string | undefined;
  readonly strict?: boolean | undefined;
  readonly browserCatalogue?: boolean | undefined;
  readonly catalogues: Catalogues;
  readonly contacts: readonly AccountContact[];
  readonly time: number;
}

/** A contact in an account's body: changed when it is known, else created with `newContactUUID`. */
export type AccountContact = Omit<ContactChange, 'account' | 'time'> & { readonly newContactUUID: string };

export type ContactOutcome =
  | { readonly exists: boolean; readonly contactUUID: string }
  | { readonly refused: ErrorCode; readonly field?: string; readonly message: string };

export interface AccountSummary {
  readonly account: number;
  readonly accountUUID: string;
  readonly accountName: string;
  readonly createdTime: number;
}

export interface AccountDetail extends AccountSummary {
  readonly accountOrigin: readonly string[];
  readonly accountTimezone: string;
  readonly strict: boolean;
  readonly browserCatalogue: boolean;
  /** Listed entries, by ID. `type` is '' except for attributes. */
  readonly catalogues: Readonly<
    Record<CatalogueKind, readonly { id: string; name: string; browser: boolean; type: string }[]>
  >;
  readonly tokens: readonly TokenDetail[];
  readonly usage: { readonly contacts: number; readonly users: number; readonly events: number };
  /** An estimate (row-bytes.ts). */
  readonly storedBytes: number;
}

/** What an account stores, as AccountDetail has it. */
export interface AccountSize {
  readonly account: number;
  readonly accountUUID: string;
  readonly storedBytes: number;
}

export interface TokenDetail {
  readonly tokenID: string;
  readonly kind: TokenKind;
  readonly tokenName: string;
  /** Of a browser token only. */
  readonly text: string | null;
  readonly createdTime: number;
  /** The tokenID of the token that made it; null: the command line. */
  readonly createdBy: string | null;
  readonly expiresTime: number | null;
  /** When the hour began in which it was last used. */
  readonly lastUsedTime: number | null;
  readonly revokedTime: number | null;
}

/** A token, and whose it is: of an operator's, the account is null. */
export interface ListedToken extends TokenDetail {
  readonly token: number;
  readonly accountUUID: string | null;
  readonly accountName: string | null;
}

/** The token that asks, and for which account. */
export interface Asker {
  readonly account: number;
  readonly token: number;
  /** A browser token: handles instead of contactUUIDs, claims instead of values. */
  readonly browser: boolean;
}

export interface NewEvent {
  readonly userUUID: string | null;
  /** A contactUUID; from a browser token, a handle. */
  readonly contactUUID: string | null;
  readonly eventID: number;
  readonly eventUUID: string;
  readonly eventTime: number;
  /** The client's time was not believable, and eventTime is the received time. */
  readonly timeReplaced: boolean;
  readonly attributes: readonly (readonly [attrID: string, attrValue: string])[];
}

export interface EventBatch extends Asker {
  readonly receivedTime: number;
  readonly events: readonly NewEvent[];
}

export type EventOutcome =
  | { readonly kept: true }
  | { readonly kept: false; readonly duplicate: true }
  | { readonly kept: false; readonly refused: ErrorCode; readonly field: string; readonly message: string };

export interface EventQuery {
  readonly account: number;
  readonly userUUID?: string | undefined;
  /** The owner. */
  readonly contactUUID?: string | undefined;
  readonly eventID?: number | undefined;
  readonly attrID?: string | undefined;
  readonly attrValue?: string | undefined;
  /** Leaves out what has the mark of a robot. */
  readonly withoutRobots?: boolean | undefined;
  /** from ≤ eventTime < to */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly order: 'asc' | 'desc';
  /** Where the page before this one ended: only events beyond this sequence, in the order asked for. */
  readonly beyond?: number | undefined;
  readonly limit: number;
}

export interface StoredEvent {
  readonly sequence: number;
  readonly eventUUID: string;
  readonly eventID: number;
  readonly eventName: string;
  readonly eventTime: number;
  readonly receivedTime: number;
  readonly timeReplaced: boolean;
  readonly userUUID: string;
  /** The owner's contactUUID, or ''. */
  readonly contactUUID: string;
  readonly attributes: readonly (readonly [attrID: string, attrValue: string])[];
  readonly why: {
    readonly rule: 'logged with the contact' | 'linked' | 'reached back' | 'nobody';
    readonly linkID: string | null;
    readonly verified: boolean | null;
    readonly claimID: string | null;
    /** contactUUID named by the link or event, when that contact is merged into the owner. */
    readonly mergedFrom: string | null;
  };
}

/** A page before the last may hold fewer than `limit`, or none: much had to be looked at, or its attributes are many. */
export interface EventPage {
  readonly events: readonly StoredEvent[];
  /** The sequence to go on beyond, or null when there is nothing more now. */
  readonly next: number | null;
  /** Every event up to this sequence was looked at: where a follower goes on. */
  readonly through: number;
}

export interface EventDefinition {
  readonly eventID: number;
  readonly eventName: string;
  readonly count: number;
  readonly firstTime: number;
  readonly lastTime: number;
}

export interface CountQuery {
  readonly account: number;
  readonly eventID?: number | undefined;
  /** Ascending, two at least, each on a quarter of an hour. */
  readonly edges: readonly number[];
  /** Leaves out what has the mark of a robot: then each event is looked at. */
  readonly withoutRobots?: boolean | undefined;
  readonly users: boolean;
}
export interface CountBucket {
  readonly events: number;
  readonly users?: number;
}

export interface NamedContact {
  readonly account: number;
  readonly contactUUID?: string | undefined;
  /** Canonical (parseAddress). Without a contactUUID it names the contact. */
  readonly address?: string | undefined;
}

export interface NewContact extends Asker {
  readonly userUUID: string;
  /** Canonical (parseAddress). */
  readonly address: string;
  /** The other fields, non-empty. */
  readonly fields: Readonly<Partial<Record<ContactField, string>>>;
  readonly tags: readonly string[];
  readonly attributes: readonly (readonly [attrID: string, attrValue: string])[];
  /** True with a server token or a valid contactProof. */
  readonly verified: boolean;
  readonly requestUUID: string | null;
  /** Used when a contact must be made, and when a handle must be. */
  readonly newContactUUID: string;
  readonly newHandle: string;
  readonly time: number;
}

export interface ContactChange extends NamedContact {
  /** null clears. With a contactUUID, contactEmailaddress is `address`. */
  readonly fields: Readonly<Partial<Record<ContactField, string | null>>>;
  readonly addedTags: readonly string[];
  readonly removedTags: readonly string[];
  /** null removes. */
  readonly attributes: readonly (readonly [attrID: string, attrValue: string | null])[];
  readonly contactStatus?: 'active' | 'archived' | undefined;
  readonly time: number;
}

export interface ContactQuery extends Asker, NamedContact {
  readonly include: readonly ('claim' | 'link')[];
  /** Only what is beyond these: `next` of the page before. */
  readonly beyond?: ListEnds | undefined;
}

/** Where a page of a contact's claims, and one of its links, ended; null: there is nothing more. */
export interface ListEnds {
  readonly claim: number | null;
  readonly link: number | null;
}

export interface ContactRecord {
  readonly contactUUID: string;
  readonly fields: Readonly<Record<ContactField, string>>;
  readonly contactProfileName: string;
  readonly contactStatus: string;
  readonly createdTime: number;
  readonly updatedTime: number;
  readonly claimed: readonly string[];
}

export interface ContactDetail extends ContactRecord {
  readonly tags: readonly { tagID: string; tagName: string; opt: boolean }[];
  readonly attributes: readonly (readonly [attrID: string, attrValue: string])[];
  /** A page of them, oldest first (contact-lists.ts), and how many there are in all. */
  readonly claims?: readonly ClaimDetail[];
  readonly claimCount?: number;
  readonly links?: readonly LinkDetail[];
  readonly linkCount?: number;
  readonly next?: ListEnds;
}

export interface ClaimDetail {
  readonly claimID: string;
  readonly contactUUID: string;
  readonly userUUID: string;
  readonly tokenID: string;
  /** '' when the user was linked to the contact before. */
  readonly linkID: string;
  readonly createdTime: number;
  readonly updatedTime: number;
  readonly state: 'open' | 'accepted' | 'voided';
  readonly fields: Readonly<Record<ContactField, string>>;
  readonly contactProfileName: string;
  readonly tags: readonly string[];
  readonly attributes: readonly (readonly [attrID: string, attrValue: string])[];
}

export interface LinkDetail {
  readonly linkID: string;
  readonly userUUID: string;
  readonly contactUUID: string;
  readonly linkTime: number;
  readonly verified: boolean;
  readonly voided: boolean;
}

export interface ContactSearch {
  readonly account: number;
  /** Found in the e-mail address or the names, whatever the case. */
  readonly text?: string | undefined;
  readonly address?: string | undefined;
  readonly contactProfileID?: string | undefined;
  readonly contactTagID?: string | undefined;
  /** Which the contact has, whatever its value. */
  readonly attrID?: string | undefined;
  readonly contactStatus?: string | undefined;
  readonly limit: number;
  /** Only contacts beyond this number: `next` of the page before. */
  readonly beyond: number;
}

/** The writes that are kept when they are refused for their content. */
export const keptOperations = ['logEvent', 'logEvents', 'createContact', 'updateContact'] as const;
export type KeptOperation = (typeof keptOperations)[number];

/** The fields that a client sent, by their names there; or the text of what could not be read as fields. */
export type RefusedInput = Readonly<Record<string, unknown>> | string;

export interface NewRefusedRequest {
  readonly operation: KeptOperation;
  /** Without any token. */
  readonly input: RefusedInput;
  /** Canonical (parseAddress), when it names one. */
  readonly address: string | null;
  readonly code: ErrorCode;
  readonly field?: string | undefined;
  readonly message: string;
}

export interface RefusedBatch {
  readonly account: number;
  readonly token: number;
  /** When they were received. */
  readonly time: number;
  /** Who sent them, as the server tells senders apart; 0 when it is not known. */
  readonly sender: number;
  /** Whether a robot sent them, by its user agent. */
  readonly robot?: boolean;
  readonly requests: readonly NewRefusedRequest[];
}

export interface RefusedQuery {
  readonly account?: number | null;
  /** Only requests beyond this number: `next` of the page before. */
  readonly beyond: number;
  readonly limit: number;
}

export interface RefusedRequest {
  readonly refused: number;
  readonly account: number;
  readonly accountUUID: string;
  readonly token: number;
  readonly tokenID: string;
  readonly tokenKind: TokenKind;
  /** Of a browser token, which is public. */
  readonly tokenText: string | null;
  readonly operation: KeptOperation;
  readonly input: RefusedInput;
  readonly code: ErrorCode;
  /** '' when no field is at fault. */
  readonly field: string;
  readonly message: string;
  readonly refusedTime: number;
  /** Whether a robot sent it, by its user agent. */
  readonly robot: boolean;
}

export interface RefusedPage {
  readonly requests: readonly RefusedRequest[];
  readonly next: number | null;
}

/** All refusals of a token: listed + evicted + erased + replayed. */
export interface RefusedCount {
  readonly accountUUID: string;
  readonly tokenID: string;
  readonly tokenKind: TokenKind;
  readonly listed: number;
  readonly listedBytes: number;
  readonly evicted: number;
  readonly erased: number;
  readonly replayed: number;
}

/** `tokenID` names the token as which it is carried out. */
export type RefusedReplay = ReplayedWrite & {
  readonly refused: number;
  readonly tokenID?: string;
  readonly by?: Actor;
  readonly replayedTime?: number;
};

export type ReplayedWrite =
  | { readonly write: 'logEvents'; readonly request: EventBatch }
  | { readonly write: 'createContact'; readonly request: NewContact }
  | { readonly write: 'updateContact'; readonly request: ContactChange };

/** What the write of the same name answers. */
export type ReplayedAnswer = Awaited<ReturnType<Store[ReplayedWrite['write']]>>;

export interface NewErasure extends NamedContact {
  readonly by?: Actor;
  /** Leaves events that are the contact's by a claimed link only. */
  readonly verifiedOnly?: boolean | undefined;
  readonly time: number;
}

export interface ErasureReceipt {
  readonly contactUUID: string;
  readonly erasedTime: number;
  readonly deletedEvents: number;
  readonly complete: boolean;
}

/** One link, or all that a token claimed in a span of time (from ≤ time < to). */
export type LinkSelection =
  | { readonly linkID: string }
  | { readonly tokenID: string; readonly from?: number | undefined; readonly to?: number | undefined };
