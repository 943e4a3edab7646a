/**
 * The interface of every database. Each method is a whole operation in one transaction, except that SQLite erases in several.
 * A write is committed and synced before its promise resolves, and every read that starts afterwards sees it. A refused
 * operation throws a Refusal and changes nothing. A store that cannot write now throws Refusal('unavailable').
 *
 * Accounts and tokens are passed as row numbers, everything else that a client names as the text that the client sent. Times
 * are milliseconds since 1970. The caller passes times and new identifiers.
 *
 * | term            | meaning                                                                                                     |
 * |-----------------|-------------------------------------------------------------------------------------------------------------|
 * | account         | a tenant; it owns tokens, catalogues, contacts, users and events                                            |
 * | token           | authorizes requests; its kind is browser (public), viewer, editor, server or operator; live: not revoked or expired |
 * | session         | a token that a cookie of the console has; it ends with the token that made it                               |
 * | member          | a person who may sign in to the console; its access is a token whose text nobody knows, which makes its sessions |
 * | known network   | a network from which a member signed in with a password, as a keyed hash: the pair is stored for 30 days     |
 * | passkey         | the public key of a credential with which a member signs in                                                  |
 * | user            | one browser, named by its userUUID                                                                          |
 * | contact         | a person, found by external ID (the customer's own) or e-mail address                                      |
 * | sequence        | the position of an event or statement in the one order in which the store accepted them; never reused       |
 * | statement       | a link ("from this sequence on, this user is this contact") or an unlink                                    |
 * | merge           | makes two contacts one person; the merged one is read and written as the other                              |
 * | owner           | the contact that an event belongs to, computed from statements and merges (identity/ownership.ts)           |
 * | key             | an external ID or an e-mail address: each leads to one contact                                              |
 * | page-made       | of a key: only browser tokens sent it, so it gives way to what a server token says                          |
 * | claim           | the values of a contact that one browser sent; they fill empty fields and replace nothing                   |
 * | handle          | the claimID, which a browser token gets in place of a contactUUID; it works with that token only            |
 * | verified        | sent with a server token or a valid contactProof, or confirmed later; otherwise it is only claimed          |
 * | voided          | taken back: reads ignore the link or claim, and it can be restored                                          |
 * | catalogue       | the profiles, tags, attributes or event definitions that an account lists, by ID                            |
 * | merged entry    | an entry that was merged into another one, the kept entry: reads return the kept ID in place of its ID      |
 * | segment         | a filter of reports that an account saved under a name                                                      |
 * | robot mark      | the attribute of events that a robot sent (`robotMark`)                                                     |
 * | refused request | a write that was refused for its content and stored on its token's list, to be replayed after a fix         |
 * | evicted         | removed from a full list of refused requests                                                                |
 * | keep, kept      | (in names) store, stored                                                                                    |
 * | beyond, next    | positions of pages: pass `next` of a page as `beyond` to get the following page; null: none follows         |
 */

import type { AuditAction, AuditSubject } from '@firsthand/contract/account/audit';
import type { TokenKind } from '@firsthand/contract/account/tokens';
import type { ContactStatus } from '@firsthand/contract/contact';
import type { ErrorCode } from '@firsthand/contract/errors';
import type { ViewPage } from '@firsthand/contract/reports/view';
import type { ContactField, PlainField } from '../identity/contact-view.ts';
import type { StoreMeasures } from './measures.ts';
import type { ReportFeed, ReportNames } from './report-feed.ts';

export interface Store extends ReportFeed, ReportNames {
  // Accounts and tokens
  /**
   * Returns what a token may act for. `tokenHash` is the hex SHA-256 of its text. Undefined when the token is unknown, revoked,
   * or expired at `time` (default: now).
   */
  findAccess(tokenHash: string, time?: number): Promise<Access | undefined>;
  /** Whether a token with this hash was ever created, from memory: false may also mean that the token is not in memory. */
  wasMade(tokenHash: string): Promise<boolean>;
  /** Returns the keys of an account's contactProofs: the SHA-256 (raw bytes) of each server token that is live at `time`. */
  findProofKeys(request: { account: number; time: number }): Promise<Uint8Array[]>;
  /** Lists the tokens of an account; without `account`, all tokens, operators' included. Never returns a secret token's text. */
  listTokens(request: { account?: number | undefined }): Promise<ListedToken[]>;
  /** Returns the number of an account. */
  findAccount(accountUUID: string): Promise<number | undefined>;
  listAccounts(): Promise<AccountSummary[]>;
  getAccount(account: number): Promise<AccountDetail>;
  /** Returns what one catalogue of the account lists, sorted by ID: what `getAccount` has of it, without its counts. */
  listCatalogue(query: { readonly account: number; readonly kind: CatalogueKind }): Promise<ListedEntry[]>;
  /** Returns how much each account stores. Reads in small steps; takes seconds with millions of contacts. */
  measureAccounts(): Promise<AccountSize[]>;
  /** Creates an account with its tokens, catalogues and contacts. Returns one outcome for each contact. */
  createAccount(request: NewAccount): Promise<ContactOutcome[]>;
  /** Returns the names of the fields whose values changed (`updated`), and one outcome for each contact. */
  updateAccount(request: AccountChange): Promise<{ updated: string[]; contacts: ContactOutcome[] }>;
  /**
   * Deletes a part of an account: revokes its tokens, deletes some of its events or, when it has none, some of its other rows, and at
   * last the account. Call it until `isGone`, after a pause of `pauseMilliseconds` each time. `most` limits the rows of a call, about.
   * Only the log of the service has an entry of it afterwards. Throws Refusal('unknown_account') when there is no such account.
   */
  deleteAccount(request: Change & { account: number; most: number }): Promise<AccountDeletion>;
  /**
   * Merges an entry of a catalogue into another one: from then on every read follows the pointer. A repeated request changes nothing.
   * Throws Refusal('unknown_entry') when one of them is not listed, and Refusal('merge_refused') as rules/accounts/entry-merges.ts says.
   */
  mergeEntry(request: EntryMerge): Promise<void>;
  /** Undoes a merge. Throws Refusal('unknown_entry') or Refusal('merge_refused') when there is no such entry or merge. */
  unmergeEntry(request: Omit<EntryMerge, 'id'>): Promise<void>;
  /**
   * Throws Refusal('invalid_token') when the token that creates it (`createdBy`) is no longer live, or when `password`, the hash with which
   * a member signs in, is no longer that of the member.
   */
  createToken(token: NewToken & { account: number | null; password?: string | undefined }): Promise<void>;
  /**
   * Returns when the token was first revoked. `account` is null for an operator's token. With `descendants`, also revokes every
   * live token that it created, directly or not, the accesses of members included whom it invited, ends its open invitations, and
   * returns the tokenIDs. Throws Refusal('invalid_field') for the access of a member.
   */
  revokeToken(
    request: Change & { account: number | null; tokenID: string; descendants?: boolean | undefined },
  ): Promise<{ revokedTime: number; descendants: string[] }>;
  /**
   * Invites a person by e-mail address, or the member of that address again, for whom `kind` counts only until the first join. Returns
   * the memberID and the kind that it has. Throws Refusal('invalid_token') when `by` is no longer live, and Refusal('invalid_field') when the address is new and the account has
   * `limits.membersPerAccount` members.
   */
  inviteMember(request: NewInvitation): Promise<{ memberID: string; kind: TokenKind }>;
  /** Returns the open invitation of a code, by the hash of the code. */
  findInvitation(request: { hash: string; time: number }): Promise<Invitation | undefined>;
  /**
   * Takes an invitation, once: sets the name, and the password or the passkey in place of all earlier ones, and gives the member a new
   * access, so that the open sessions end. The member is no longer known by any network. Throws Refusal('invalid_token') when the code is not or no longer valid, and
   * Refusal('invalid_field') when there is a passkey of this credential.
   */
  joinMember(request: {
    hash: string;
    memberName: string;
    /** Its hash; null: the member has a passkey instead. */
    password: string | null;
    passkey?: NewPasskey | undefined;
    /** The new access: nobody knows the text that has this hash. */
    access: { tokenID: string; hash: string };
    time: number;
  }): Promise<{ account: number; memberID: string; access: SignedIn }>;
  /**
   * Returns the members with this e-mail address who have a password, at most one for each account: that of the named account first, then
   * who signed in last. Says which of them are known by the hash of a network.
   */
  findMembers(request: {
    emailaddress: string;
    accountUUID?: string | undefined;
    network: string;
    time: number;
  }): Promise<SigningIn[]>;
  /**
   * Notes that members are known by the hash of a network: for 30 days, and for at most 20 networks of each member, the latest. Members
   * that are gone are skipped.
   */
  noteKnownNetwork(request: { memberIDs: readonly string[]; network: string; time: number }): Promise<void>;
  /** Lists the members of an account, sorted by e-mail address. */
  listMembers(request: { account: number }): Promise<Member[]>;
  /** Changes what a member may do, for the open sessions too. */
  updateMember(request: Change & { account: number; memberID: string; kind: TokenKind }): Promise<void>;
  /**
   * Removes a member: nothing but its access remains, which is revoked. With `descendants`, also revokes the tokens that the member made,
   * directly or not, except browser tokens, which are in pages and give no access, and ends the share links and open invitations. Members
   * whom it invited stay, with all that they made.
   */
  removeMember(
    request: Change & { account: number; memberID: string; descendants?: boolean | undefined },
  ): Promise<RevokedWithMember>;
  /**
   * Changes the password of a member, or sets the first one, in the session `by`, and ends the other sessions of the member. Throws
   * Refusal('unknown_member') as `addPasskey` does.
   */
  changePassword(request: {
    account: number;
    memberID: string;
    /** Its hash. */
    password: string;
    by: number;
    time: number;
  }): Promise<void>;

  // Passkeys
  /** Returns the key that seals challenges: all servers of a database have the same one. */
  getChallengeKey(): Promise<Uint8Array>;
  /** Lists the passkeys of a member, the oldest first. */
  listPasskeys(request: { memberID: string }): Promise<Passkey[]>;
  /**
   * Adds a passkey to a member who has joined. Throws Refusal('invalid_field') when the member has `limits.passkeysPerMember`, or there is
   * a passkey of this credential, Refusal('invalid_token') when the challenge was answered before, and Refusal('unknown_member'), also
   * when `by` is no live session of the member's present access: a new invitation may have ended it meanwhile.
   */
  addPasskey(
    request: Change & { account: number; memberID: string; passkey: NewPasskey; challenge: Challenge },
  ): Promise<void>;
  /**
   * Removes a passkey. Throws Refusal('invalid_field') when it is the last way to sign in, or no passkey of the member, and
   * Refusal('unknown_member') as `addPasskey` does.
   */
  removePasskey(request: Change & { account: number; memberID: string; passkeyID: string }): Promise<void>;
  /** Returns the passkey with this credentialID, if its member may sign in. */
  findPasskey(request: { credentialID: string }): Promise<SigningInByPasskey | undefined>;
  /**
   * Notes a sign-in. Throws Refusal('invalid_token') when the passkey was removed, its counter did not grow, or the challenge was
   * answered before.
   */
  usePasskey(request: { passkeyID: string; counter: number; challenge: Challenge; time: number }): Promise<void>;
  /** Records when tokens were last used. A time before the recorded one changes nothing. */
  noteTokenUses(request: { uses: readonly (readonly [token: number, time: number])[] }): Promise<void>;

  /**
   * Saves a filter under a name, in place of the one that was saved under it, if any (`replaced`). Throws Refusal('invalid_field')
   * when the name is new and the account has `limits.segmentsPerAccount` segments.
   */
  saveSegment(
    request: Pick<SavedSegment, 'segmentName' | 'filter'> & { account: number; time: number },
  ): Promise<{ replaced: boolean }>;
  /** Returns the segments of an account, by name; with `segmentNames`, those with these names. */
  listSegments(request: { account: number; segmentNames?: readonly string[] | undefined }): Promise<SavedSegment[]>;
  deleteSegment(request: { account: number; segmentName: string }): Promise<void>;

  /** Saves a view as `saveSegment` saves a filter, with `limits.viewsPerAccount`. */
  saveView(
    request: Pick<SavedView, 'viewName' | 'page' | 'query'> & { account: number; time: number },
  ): Promise<{ replaced: boolean }>;
  /** Returns the views of an account, by name. */
  listViews(request: { account: number }): Promise<SavedView[]>;
  deleteView(request: { account: number; viewName: string }): Promise<void>;

  /**
   * Stores a share link, and deletes those of the account that have ended. Throws Refusal('invalid_field') when the account has
   * `limits.shareLinksPerAccount` others.
   */
  createShareLink(request: NewShareLink): Promise<void>;
  /** Returns the link whose secret has this hash; undefined if it has ended, was revoked, or never was. */
  findShareLink(request: { hash: string; time: number }): Promise<OpenedShareLink | undefined>;
  /** Returns the links of an account, newest first, those included that have ended. */
  listShareLinks(request: { account: number; views?: boolean }): Promise<ListedShareLink[]>;
  /** Deletes a share link. */
  revokeShareLink(request: Change & { account: number; shareID: string }): Promise<void>;
  /** Records when a link was last used. A time before the recorded one changes nothing. */
  noteShareLinkUse(request: { shareID: string; time: number }): Promise<void>;
  /**
   * Deletes share links and known networks that have ended, and sessions of the console that ended a day ago. Keeps sessions that something names, such as
   * the audit log, and the newest of each token, which says when a member last signed in. Deletes at most `most` links and networks, and looks at as many
   * tokens, from the one after `after` on. `next` is the last one; null: it was the last of all, and no link is left to delete.
   */
  deleteEnded(request: {
    time: number;
    after: number;
    most: number;
  }): Promise<{ deleted: number; next: number | null }>;

  /**
   * Records when a proxy on a private address forwarded requests while TRUST_PROXY was not set; null clears the record.
   */
  noteUnknownProxy(request: { seenTime: number | null }): Promise<void>;
  /** Returns when it did so last, in milliseconds since 1970; null: never. */
  findUnknownProxy(): Promise<number | null>;

  /** Adds an audit entry for something that is not a write of the store. Writes add their own entries: see audit.ts. */
  recordAudit(record: AuditRecord): Promise<void>;
  /** Returns a page of the audit log, newest first. Without `account`, the page covers all accounts and the service. */
  listAudit(query: AuditQuery): Promise<{ entries: AuditEntry[]; next: number | null }>;

  // Events
  /** Stores a batch in one commit. Returns one outcome for each event, in their order. A refused event does not affect others. */
  logEvents(batch: EventBatch): Promise<EventOutcome[]>;
  /** Returns a page of events in sequence order. */
  getEvents(query: EventQuery): Promise<EventPage>;
  /**
   * Returns the account's listed event IDs that have events, each with its count and the times of its first and last event. While
   * events are deleted, these times may be off by a quarter of an hour.
   */
  getEventDefinitions(account: number): Promise<EventDefinition[]>;
  /** Counts events, and distinct users with `users`, between each pair of neighbouring `edges`, by eventTime. */
  countEvents(query: CountQuery): Promise<CountBucket[]>;
  /**
   * Deletes up to `most` of the oldest events that were received before `time`, and up to `most` requests that were refused before; returns how
   * many events, or how many refused requests if those were more: when that is `most`, more may be left. A received time
   * after `now` comes from a server clock that was ahead: such an event counts as received when the next event with a
   * believable time was. While a worker of a cluster is unreachable, this rejects with `unavailable`; repeat it later.
   */
  deleteEventsBefore(request: { time: number; most: number; now?: number }): Promise<number>;

  // Contacts
  createContact(request: NewContact): Promise<{ exists: boolean; contactUUID: string }>;
  updateContact(request: ContactChange): Promise<{ contactUUID: string; updated: string[] }>;
  getContact(query: ContactQuery): Promise<ContactDetail>;
  searchContact(query: ContactSearch): Promise<FoundContacts>;
  /**
   * The contacts that meet each condition, among the next `most` of the account in the order of their creation. Contacts that are merged into
   * others meet none.
   */
  feedContacts(query: {
    account: number;
    conditions: readonly ContactCondition[];
    beyond: SearchEnd | null;
    most: number;
  }): Promise<FedContacts>;
  /**
   * Removes the contact, and all contacts merged with it, from every read except the counts of events. Later commits delete its
   * events and reduce the counts, possibly after the promise resolves. A repeated request by contactUUID returns the progress.
   */
  eraseContact(request: NewErasure): Promise<ErasureReceipt>;

  // Links, claims and merges
  /** `contactUUID` is that of the named contact. */
  linkUser(
    request: NewStatement & Omit<NamedContact, 'account'>,
  ): Promise<{ exists: boolean; linkID: string; contactUUID: string }>;
  unlinkUser(request: NewStatement): Promise<{ exists: boolean; linkID: string }>;
  /** Returns how many links changed. */
  voidLinks(request: Change & { account: number; restore: boolean; links: LinkSelection }): Promise<number>;
  acceptClaim(request: Change & { account: number; claimID: string }): Promise<{ contactUUID: string }>;
  voidClaim(request: Change & { account: number; claimID: string; restore: boolean }): Promise<{ contactUUID: string }>;
  mergeContact(
    request: Change & NamedContact & NamedOther,
  ): Promise<{ contactUUID: string; otherContactUUID: string; mergedTime: number }>;
  unmergeContact(request: Change & NamedOther & { account: number }): Promise<{ contactUUID: string }>;

  // Refused requests
  /**
   * Adds requests to their token's list. When the list is full, the sender with the most entries loses the oldest of them
   * (rules/refused/eviction.ts). A request that names an erased contact is counted, but not stored.
   */
  keepRefused(batch: RefusedBatch): Promise<void>;
  /** Returns a page of the listed requests, oldest first. */
  listRefused(query: RefusedQuery): Promise<RefusedPage>;
  /** Returns, for each token that ever had a request refused, how many are listed, evicted, erased and replayed. */
  countRefused(query: { account?: number | null }): Promise<RefusedCount[]>;
  /**
   * Executes the write of a refused request and removes the request from the list, both or neither. When the write or any of
   * its events is refused again, nothing changes. Returns undefined when the request is no longer listed.
   */
  replayRefused(replay: RefusedReplay): Promise<ReplayedAnswer | undefined>;
  /** Removes a request from its list without carrying it out; it counts as evicted. Returns whether it was listed. */
  discardRefused(request: { readonly account: number; readonly refused: number } & Change): Promise<boolean>;

  // The store itself
  /** Calls `listener` after each commit that stores events or may change owners. Returns a function that removes the listener. */
  onCommit(listener: () => void): () => void;
  /** Resolves after a successful read. Throws when the database cannot serve, or a write found the disk full and it still is. */
  check(): Promise<void>;
  /** Returns what the store measures of itself, without reading rows. */
  measure(): Promise<StoreMeasures>;
  /** Waits for the operations in progress, then closes the database. */
  close(): Promise<void>;
}

/** Receives the failure of work that no request waits for, and what was not done. */
export type OnFault = (error: unknown, message: string) => void;

/** The request of an operation of the store. */
export type RequestOf<Name extends keyof Store> = Parameters<Store[Name]>[0];

/** The maker and the time of a change. */
interface Change {
  /** The number of the token that makes the change; null or undefined: the command line. */
  readonly by?: number | null | undefined;
  readonly time: number;
}

/** The fields that a link and an unlink share. */
interface NewStatement {
  readonly account: number;
  readonly token: number;
  readonly userUUID: string;
  readonly time: number;
}

export type Attributes = readonly (readonly [attrID: string, attrValue: string])[];

interface AuditQuery {
  readonly account?: number | undefined;
  /** from ≤ time < to */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly action?: AuditAction | undefined;
  /** Only entries before this one. */
  readonly beyond?: number | undefined;
  readonly limit: number;
}

/** A new audit entry, stored in the transaction of the write that it records. */
export interface AuditRecord {
  readonly action: AuditAction;
  readonly subject: AuditSubject;
  /** The account whose log gets the entry: its number, its accountUUID, or (`accountOf`) one of its tokenIDs; none: the service. */
  readonly account?: number | null | undefined;
  readonly accountUUID?: string;
  readonly accountOf?: string;
  /** The number of the token that made the change; null: the command line. */
  readonly by: number | null;
  readonly time: number;
}

export interface AuditEntry extends Pick<AuditRecord, 'action' | 'subject' | 'time'> {
  readonly audit: number;
  /** Null: the entry concerns the service, not an account. */
  readonly accountUUID: string | null;
  /** The tokenID of the token that made the change; null: the command line. */
  readonly actor: string | null;
  /** The member who made it, in a session of the console; null: nobody who is or was one. */
  readonly memberID: string | null;
}

/** A person who may sign in to the console of an account, or is invited. */
export interface Member {
  readonly memberID: string;
  readonly emailaddress: string;
  readonly memberName: string;
  readonly kind: TokenKind;
  readonly createdTime: number;
  /** When the last invitation was taken. */
  readonly joinedTime: number | null;
  readonly signedInTime: number | null;
  /** The number of passkeys. */
  readonly passkeys: number;
  readonly hasPassword: boolean;
  /** When the open invitation ends. */
  readonly invitationExpiresTime: number | null;
}

export interface NewInvitation extends Change {
  readonly account: number;
  /** Of a new member. */
  readonly memberID: string;
  readonly emailaddress: string;
  readonly memberName?: string | undefined;
  readonly kind: TokenKind;
  /** The hex SHA-256 of the invitation's code. */
  readonly hash: string;
  readonly expiresTime: number;
}

export interface Invitation extends Pick<Member, 'memberID' | 'emailaddress' | 'memberName' | 'kind'> {
  readonly account: number;
  readonly accountUUID: string;
  readonly accountName: string;
}

/** What was revoked with a member: tokenIDs and shareIDs. */
export interface RevokedWithMember {
  readonly tokens: readonly string[];
  readonly shareLinks: readonly string[];
}

/** The access of a member: a token whose text nobody knows, which makes the member's sessions. */
export interface SignedIn {
  readonly token: number;
  readonly tokenID: string;
  readonly kind: TokenKind;
}

/** What signing in needs to know of a member. */
export interface SigningIn extends SignedIn {
  readonly account: number;
  readonly memberID: string;
  /** Whether the member has signed in from the network. */
  readonly isKnown: boolean;
  /** The hash of the password, in the form that passwords.ts made. */
  readonly password: string;
}

/** A passkey of a member. */
export interface Passkey {
  readonly passkeyID: string;
  readonly passkeyName: string;
  /** In base64url. */
  readonly credentialID: string;
  /** The ways in which browsers reach the authenticator, such as `internal`. */
  readonly transports: readonly string[];
  readonly createdTime: number;
  readonly lastUsedTime: number | null;
}

export interface NewPasskey extends Omit<Passkey, 'createdTime' | 'lastUsedTime'> {
  /** The origin of the pages that made it: it signs in to no others. */
  readonly origin: string;
  /** A COSE key, in base64url. */
  readonly publicKey: string;
  /** How many signatures the authenticator has counted; 0: it may not count. */
  readonly counter: number;
}

/** A passkey with the access of its member. */
export interface SigningInByPasskey
  extends SignedIn,
    Pick<NewPasskey, 'passkeyID' | 'origin' | 'publicKey' | 'counter'> {
  readonly account: number;
  readonly memberID: string;
}

/** The text of a challenge, which is remembered until it expires. */
export interface Challenge {
  readonly challenge: string;
  readonly expiresTime: number;
}

/** What a live token may act for. `account` is null for an operator's token. */
export interface Access {
  readonly token: number;
  readonly tokenID: string;
  readonly kind: TokenKind;
  readonly account: number | null;
  readonly accountOrigin: readonly string[];
  readonly accountTimezone: string;
  /** Whether events of browser tokens get labels. */
  readonly enrich: boolean;
}

export interface NewToken {
  readonly tokenID: string;
  readonly kind: TokenKind;
  readonly tokenName: string;
  /** Hex SHA-256 of the token's text. */
  readonly hash: string;
  /** The token's text, stored for browser tokens only: it is public. */
  readonly text: string | null;
  readonly time: number;
  /** The number of the token that creates it; null or undefined: the command line. */
  readonly createdBy?: number | null | undefined;
  /** From this time on the token is not live. */
  readonly expiresTime?: number | null | undefined;
  /** A session of the console: it ends when the token that creates it is revoked. */
  readonly session?: boolean | undefined;
}

export interface CatalogueEntry {
  /** Null, for an event with a name: the ID that is listed under the name, or a new one. */
  readonly id: string | null;
  /** Default: the present name; for a new entry, the ID. */
  readonly name?: string | undefined;
  /** May a browser token use it? Default: the present value; for a new entry, true. */
  readonly browser?: boolean | undefined;
  /** For attributes only. */
  readonly type?: string | undefined;
  /** Removes the entry from the catalogue, if it is listed. Events and contacts that use the ID are not changed. */
  readonly remove?: boolean | undefined;
  /** Removes the entry although contacts or events use it: only the caller asks about uses. */
  readonly force?: boolean | undefined;
}

/** `type` is '' except for attributes. */
export interface ListedEntry {
  readonly id: string;
  readonly name: string;
  readonly browser: boolean;
  /** Only browser tokens used it. */
  readonly byBrowser: boolean;
  readonly type: string;
  /** The ID of the entry that stands for it; null: it is not merged. */
  readonly mergedInto: string | null;
}

/** A merge of the entry `otherID` into the entry `id`. */
export interface EntryMerge extends Change {
  readonly account: number;
  readonly kind: CatalogueKind;
  readonly id: string;
  readonly otherID: string;
}

export interface SavedSegment {
  /** In canonical form (`canonicalName` of the contract). */
  readonly segmentName: string;
  /** JSON of a checked filter, as it was sent; at most `limits.segmentBytes`. */
  readonly filter: string;
  readonly createdTime: number;
  readonly updatedTime: number;
}

/** A page of reports of the console under a name. */
export interface SavedView {
  /** In canonical form (`canonicalName` of the contract). */
  readonly viewName: string;
  readonly page: ViewPage;
  /** The query of its address. */
  readonly query: string;
  readonly createdTime: number;
  readonly updatedTime: number;
}

interface ShareLink {
  readonly shareID: string;
  readonly shareName: string;
  readonly page: string;
  readonly expiresTime: number;
}

export interface NewShareLink extends ShareLink, Change {
  readonly account: number;
  /** JSON of what the link shows (http/operations/reports/shared-view.ts). */
  readonly view: string;
  /** The hex SHA-256 of the link's secret. */
  readonly hash: string;
}

export interface OpenedShareLink extends ShareLink {
  readonly account: number;
  readonly view: string;
  readonly accountOrigin: readonly string[];
  readonly accountTimezone: string;
  readonly accountCurrency: string;
  readonly createdTime: number;
  readonly lastUsedTime: number | null;
}

export interface ListedShareLink extends ShareLink {
  /** null, unless views are asked for: they are long. */
  readonly view: string | null;
  readonly createdTime: number;
  /** The tokenID of the token that made it; null: the command line. */
  readonly createdBy: string | null;
  /** The member who made it, in a session of the console. */
  readonly memberID: string | null;
  readonly lastUsedTime: number | null;
}

export const catalogueKinds = ['profile', 'tag', 'attr', 'event'] as const;
export type CatalogueKind = (typeof catalogueKinds)[number];
export type Catalogues = Readonly<Partial<Record<CatalogueKind, readonly CatalogueEntry[]>>>;

export interface CatalogueSettings {
  /** Whether IDs that are not listed are refused. */
  readonly strict: boolean;
  /** Whether a browser token adds the profiles, tags and attributes that it uses to the catalogues. */
  readonly browserCatalogue: boolean;
}

interface AccountSettings extends CatalogueSettings {
  readonly accountName: string;
  readonly accountOrigin: readonly string[];
  readonly accountTimezone: string;
  /** A code of ISO 4217; '' for none. */
  readonly accountCurrency: string;
  /** Whether events of browser tokens get labels. */
  readonly enrich: boolean;
}

export interface NewAccount extends AccountSettings, Change {
  readonly accountUUID: string;
  readonly catalogues: Catalogues;
  readonly tokens: readonly NewToken[];
  readonly contacts: readonly AccountContact[];
}

type Given<Settings> = { readonly [Name in keyof Settings]?: Settings[Name] | undefined };

/** Settings that are not given keep their values. */
export interface AccountChange extends Change, Given<AccountSettings> {
  readonly account: number;
  readonly catalogues: Catalogues;
  readonly contacts: readonly AccountContact[];
}

/** A contact in the body of an account request: changed when it exists, otherwise created with `newContactUUID`. */
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

export interface AccountDetail extends AccountSummary, AccountSettings {
  /** Sorted by ID. */
  readonly catalogues: Readonly<Record<CatalogueKind, readonly ListedEntry[]>>;
  readonly tokens: readonly TokenDetail[];
  readonly usage: { readonly contacts: number; readonly users: number; readonly events: number };
  /** An estimate (row-bytes.ts). */
  readonly storedBytes: number;
}

export type AccountSize = Pick<AccountDetail, 'account' | 'accountUUID' | 'storedBytes'>;

export interface TokenDetail extends Pick<NewToken, 'tokenID' | 'kind' | 'tokenName' | 'text'> {
  readonly createdTime: number;
  /** The tokenID of the token that created it; null: the command line. */
  readonly createdBy: string | null;
  readonly expiresTime: number | null;
  readonly session: boolean;
  /** Of a member's access, and of its sessions: the member. */
  readonly memberID: string | null;
  /** The start of the hour in which the token was last used. */
  readonly lastUsedTime: number | null;
  readonly revokedTime: number | null;
}

/** How far the deletion of an account is. */
export interface AccountDeletion {
  readonly accountUUID: string;
  /** How many events this call deleted. */
  readonly deletedEvents: number;
  readonly pauseMilliseconds: number;
  readonly isGone: boolean;
}

/** A token and its account, which is null for an operator's token. */
export interface ListedToken extends TokenDetail {
  readonly token: number;
  readonly accountUUID: string | null;
  readonly accountName: string | null;
}

/** The token that sent a request, and its account. */
export interface Asker {
  readonly account: number;
  readonly token: number;
  /** It is a browser token: it names contacts by handles, and the values that it sends become claims. */
  readonly browser: boolean;
}

export interface EventValues {
  readonly eventID: number;
  readonly eventUUID: string;
  readonly eventTime: number;
  /** The client's time was not believable; eventTime is the received time. */
  readonly timeReplaced: boolean;
  readonly attributes: Attributes;
}

export interface NewEvent extends Omit<EventValues, 'eventID'> {
  /** Null: `eventName` names the kind of event. */
  readonly eventID: number | null;
  /** In canonical form (`canonicalName` of the contract). A name that is not listed gets an ID, in the same transaction. */
  readonly eventName: string | null;
  /** Whether the name may be listed, if there is room. An unlisted name is stored as an attribute (unlisted-names.ts). */
  readonly mayAddName: boolean;
  readonly userUUID: string | null;
  /** From a browser token, a handle. */
  readonly contactUUID: string | null;
  /** Names the contact when `contactUUID` is null; never from a browser token. */
  readonly externalID: string | null;
}

export interface EventBatch extends Asker {
  readonly receivedTime: number;
  /**
   * Whether `receivedTime` is simulated, as in sample data: an early one is then no sign that the clock was set back. Only SQLite
   * needs it, whose accounts share one day.
   */
  readonly isPast?: boolean;
  readonly events: readonly NewEvent[];
}

export type EventOutcome =
  | { readonly kept: true }
  | { readonly kept: false; readonly duplicate: true }
  | { readonly kept: false; readonly refused: ErrorCode; readonly field: string; readonly message: string };

export interface EventQuery {
  readonly account: number;
  readonly userUUID?: string | undefined;
  /** Only events that this contact owns. The contactUUID names it, or else the external ID. */
  readonly contactUUID?: string | undefined;
  readonly externalID?: string | undefined;
  readonly eventID?: number | undefined;
  /** Only events of the lowest ID that is listed under this name now, or else those that were stored under the unlisted name. */
  readonly eventName?: string | undefined;
  readonly attrID?: string | undefined;
  readonly attrValue?: string | undefined;
  /** Leaves out events with the robot mark. */
  readonly withoutRobots?: boolean | undefined;
  /** Returns events with the IDs that were sent, those of merged entries too. */
  readonly asSent?: boolean | undefined;
  /** from ≤ eventTime < to */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly order: 'asc' | 'desc';
  /** Only events beyond this sequence, in the order of `order`. */
  readonly beyond?: number | undefined;
  readonly limit: number;
}

export interface StoredEvent extends EventValues {
  readonly sequence: number;
  readonly eventName: string;
  readonly receivedTime: number;
  /** '' without a user. */
  readonly userUUID: string;
  /** The owner's contactUUID, or ''. */
  readonly contactUUID: string;
  readonly why: {
    readonly rule: 'logged with the contact' | 'linked' | 'reached back' | 'nobody';
    readonly linkID: string | null;
    readonly verified: boolean | null;
    readonly claimID: string | null;
    /** The contactUUID that the link or event names, when that contact is merged into the owner. */
    readonly mergedFrom: string | null;
  };
}

/** A page may hold fewer than `limit` events, or none, although more follow: examined events and returned bytes are bounded. */
export interface EventPage {
  readonly events: readonly StoredEvent[];
  /** `beyond` of the next page; null when no more events exist now. */
  readonly next: number | null;
  /** Every event up to this sequence was examined: a client that follows new events continues beyond it. */
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
  /** As in EventQuery. */
  readonly eventName?: string | undefined;
  /** Ascending, at least two, each a multiple of a quarter of an hour. */
  readonly edges: readonly number[];
  /** Leaves out events with the robot mark. Slower: it reads each event, not the stored rollups. */
  readonly withoutRobots?: boolean | undefined;
  readonly users: boolean;
}
export interface CountBucket {
  readonly events: number;
  readonly users?: number;
}

/** The names of a contact. The first that is given names it: contactUUID, external ID, address. */
export interface NamedContact {
  readonly account: number;
  readonly contactUUID?: string | undefined;
  readonly externalID?: string | null | undefined;
  /** Canonical (parseAddress). */
  readonly address?: string | undefined;
}

/** As NamedContact, for a contact that is or was merged into another one. */
export interface NamedOther {
  readonly otherContactUUID?: string | undefined;
  readonly otherExternalID?: string | undefined;
  readonly otherAddress?: string | undefined;
}

export interface NewContact extends Asker {
  /** The user to link. Null, which takes a server token and no requestUUID: none. */
  readonly userUUID: string | null;
  /** At least one of the two is given. `address` is canonical (parseAddress). */
  readonly externalID?: string | undefined;
  readonly address?: string | undefined;
  /** The other fields that are not empty. */
  readonly fields: Readonly<Partial<Record<PlainField, string>>>;
  readonly tags: readonly string[];
  readonly attributes: Attributes;
  /** The request came with a server token, or a valid contactProof of the address, or without one of the external ID. */
  readonly verified: boolean;
  readonly requestUUID: string | null;
  /** Used when a new contact, or a new handle, is created. */
  readonly newContactUUID: string;
  readonly newHandle: string;
  readonly time: number;
}

/** The names that are given beside the one that names the contact are new values: an external ID, null to clear it; an address. */
export interface ContactChange extends NamedContact {
  /** Null clears a field. */
  readonly fields: Readonly<Partial<Record<PlainField, string | null>>>;
  readonly addedTags: readonly string[];
  readonly removedTags: readonly string[];
  /** Null removes an attribute. */
  readonly attributes: readonly (readonly [attrID: string, attrValue: string | null])[];
  readonly contactStatus?: ContactStatus | undefined;
  readonly time: number;
  /** As in Change. */
  readonly by?: number | null | undefined;
}

export interface ContactQuery extends Asker, NamedContact {
  readonly include: readonly ('claim' | 'link' | 'merge')[];
  /** Returns values with the IDs that are stored, those of merged entries too. */
  readonly asSent?: boolean | undefined;
  /** Only claims and links beyond these. */
  readonly beyond?: ListEnds | undefined;
}

/** The ends of a page of a contact's claims and of a page of its links; null: no more follow. */
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
  readonly attributes: Attributes;
  /** A page of claims, oldest first (contact-lists.ts), and the count of all; likewise links. */
  readonly claims?: readonly ClaimDetail[];
  readonly claimCount?: number;
  readonly links?: readonly LinkDetail[];
  readonly linkCount?: number;
  /** The contacts that are merged into this one, on the first page: the newest merges, oldest first, and the count of all. */
  readonly merges?: readonly MergeDetail[];
  readonly mergeCount?: number;
  readonly next?: ListEnds;
}

export interface ClaimDetail
  extends Pick<ContactRecord, 'contactUUID' | 'fields' | 'contactProfileName' | 'createdTime' | 'updatedTime'> {
  readonly claimID: string;
  readonly userUUID: string;
  readonly tokenID: string;
  /** The link that the claim made; '' when the user was already linked to the contact. */
  readonly linkID: string;
  readonly state: 'open' | 'accepted' | 'voided';
  readonly tags: readonly string[];
  readonly attributes: Attributes;
}

/** A contact that another one answers for, with the values of its own record. */
export interface MergeDetail {
  readonly contactUUID: string;
  readonly fields: Readonly<Record<ContactField, string>>;
  /** The contact that it was merged into, which may be merged itself. */
  readonly intoContactUUID: string;
  readonly mergedTime: number;
}

export interface LinkDetail {
  readonly linkID: string;
  readonly userUUID: string;
  readonly contactUUID: string;
  readonly linkTime: number;
  readonly verified: boolean;
  readonly voided: boolean;
  /** Whether the link is the one that says who its user is now. */
  readonly current: boolean;
}

export interface ContactSearch {
  readonly account: number;
  /** A part of the e-mail address or of "first name, space, last name"; case is ignored. */
  readonly text?: string | undefined;
  readonly externalID?: string | undefined;
  readonly address?: string | undefined;
  readonly contactProfileID?: string | undefined;
  readonly contactTagID?: string | undefined;
  /** An attribute that the contact has, with this value or, without `attrValue`, with any. */
  readonly attrID?: string | undefined;
  readonly attrValue?: string | undefined;
  /** createdFrom <= createdTime < createdTo. */
  readonly createdFrom?: number | undefined;
  readonly createdTo?: number | undefined;
  readonly contactStatus?: string | undefined;
  /** seenFrom <= lastSeenTime < seenTo. */
  readonly seenFrom?: number | undefined;
  readonly seenTo?: number | undefined;
  /** The order: by createdTime (default) or lastSeenTime, then by contact. Contacts that were never seen come first. */
  readonly sort?: 'created' | 'seen' | undefined;
  readonly descending?: boolean | undefined;
  readonly limit: number;
  /** Only contacts beyond this place of the order. */
  readonly beyond?: SearchEnd | undefined;
}

/** A condition on a contact, as in a search. */
export type ContactCondition = Pick<
  ContactSearch,
  | 'contactProfileID'
  | 'contactTagID'
  | 'contactStatus'
  | 'attrID'
  | 'attrValue'
  | 'createdFrom'
  | 'createdTo'
  | 'seenFrom'
  | 'seenTo'
>;

export interface FedContacts {
  /** For each condition, the numbers of the contacts that meet it, in any order, each once. */
  readonly contacts: readonly Float64Array[];
  /** `beyond` of the next query; null after the last contact. */
  readonly next: SearchEnd | null;
}

/** A place in the order of a search: the key of its order, in milliseconds or days, and a contact. */
export interface SearchEnd {
  readonly key: number;
  readonly contact: number;
}

export interface FoundContact extends ContactDetail {
  /**
   * The first millisecond of the last day (UTC) on which an event was received that is the contact's; null: there was none. A day on
   * which a browser went from one contact to another counts for both.
   */
  readonly lastSeenTime: number | null;
}

export interface FoundContacts {
  readonly contacts: readonly FoundContact[];
  readonly next: SearchEnd | null;
}

/** The writes that are stored on the list of refused requests when they are refused for their content. */
export const keptOperations = ['logEvent', 'logEvents', 'createContact', 'updateContact'] as const;
export type KeptOperation = (typeof keptOperations)[number];

/** The fields as the client sent them; or the text of a request that could not be parsed into fields. */
export type RefusedInput = Readonly<Record<string, unknown>> | string;

export interface NewRefusedRequest {
  readonly operation: KeptOperation;
  /** The request without its tokens. */
  readonly input: RefusedInput;
  /** The e-mail address that the request names, canonical (parseAddress). */
  readonly address: string | null;
  readonly code: ErrorCode;
  readonly field?: string | undefined;
  readonly message: string;
}

export interface RefusedBatch {
  readonly account: number;
  readonly token: number;
  /** When the requests were received. */
  readonly time: number;
  /** The number by which the server distinguishes senders; 0 when the sender is not known. */
  readonly sender: number;
  /** Whether a robot sent the requests, by its user agent. */
  readonly robot?: boolean;
  readonly requests: readonly NewRefusedRequest[];
}

export interface RefusedQuery {
  readonly account?: number | null;
  /** Only requests beyond this number. */
  readonly beyond: number;
  readonly limit: number;
}

export interface RefusedRequest extends Pick<NewRefusedRequest, 'operation' | 'input' | 'code' | 'message'> {
  readonly refused: number;
  readonly account: number;
  readonly accountUUID: string;
  readonly token: number;
  readonly tokenID: string;
  readonly tokenKind: TokenKind;
  /** Null except for a browser token, which is public. */
  readonly tokenText: string | null;
  /** '' when no single field is at fault. */
  readonly field: string;
  readonly refusedTime: number;
  /** Whether a robot sent the request, by its user agent. */
  readonly robot: boolean;
}

export interface RefusedPage {
  readonly requests: readonly RefusedRequest[];
  readonly next: number | null;
}

/** The number of a token's refused requests is listed + evicted + erased + replayed. */
export interface RefusedCount extends Pick<RefusedRequest, 'accountUUID' | 'tokenID' | 'tokenKind'> {
  readonly listed: number;
  readonly listedBytes: number;
  readonly evicted: number;
  readonly erased: number;
  readonly replayed: number;
}

/** The write runs as the token `tokenID`; the audit entry names that token. */
export type RefusedReplay = ReplayedWrite & {
  readonly refused: number;
  readonly tokenID?: string;
  readonly by?: number | null;
};

export type ReplayedWrite =
  | { readonly write: 'logEvents'; readonly request: EventBatch }
  | { readonly write: 'createContact'; readonly request: NewContact }
  | { readonly write: 'updateContact'; readonly request: ContactChange };

/** The result of the write of the same name. */
export type ReplayedAnswer = Awaited<ReturnType<Store[ReplayedWrite['write']]>>;

export interface NewErasure extends NamedContact, Change {
  /** Does not erase events that the contact owns only by a claimed link. */
  readonly verifiedOnly?: boolean | undefined;
}

export interface ErasureReceipt {
  readonly contactUUID: string;
  readonly erasedTime: number;
  readonly deletedEvents: number;
  readonly complete: boolean;
}

/** One link, or all that a token claimed in a span of time (from ≤ time < to), except those verified or accepted since. */
export type LinkSelection =
  | { readonly linkID: string }
  | { readonly tokenID: string; readonly from?: number | undefined; readonly to?: number | undefined };
