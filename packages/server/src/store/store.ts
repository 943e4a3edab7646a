/**
 * The interface that both databases implement. Each method runs in one transaction, except that SQLite erases in
 * several.
 *
 * - Durability: a write is committed and synced before its promise resolves. Every later read sees it.
 * - Errors: a refused operation throws a Refusal and changes nothing. If the store cannot write now, it throws
 *   Refusal('unavailable').
 * - Identifiers: accounts and tokens are row numbers; everything else is the text that the client sent. The caller
 *   creates new identifiers.
 * - Times are milliseconds since 1970 and come from the caller.
 *
 * Pagination: pass a page's `next` as `beyond` to read the following page. `next` is null on the last page.
 *
 * | term            | meaning                                                                                      |
 * |-----------------|----------------------------------------------------------------------------------------------|
 * | account         | a tenant; it owns tokens, catalogues, contacts, users and events                             |
 * | token           | authorizes requests. Kinds: browser (public), agent, viewer, editor, server, operator        |
 * | live token      | a token that is neither revoked nor expired                                                  |
 * | member          | a person who may sign in to the console                                                      |
 * | access          | a member's token; its secret is discarded, so it can only create sessions                    |
 * | session         | a token in a console cookie; revoking the token that created it ends it                      |
 * | known network   | a network from which a member signed in with a password; stored as a keyed hash for 30 days  |
 * | passkey         | the public key of a credential that a member signs in with                                   |
 * | user            | one browser, identified by its userUUID                                                      |
 * | contact         | a person, found by e-mail address or by the customer's own external ID                       |
 * | key             | an external ID or e-mail address; it identifies one contact                                  |
 * | page-made key   | a key that only browser tokens have sent; a server token may assign it to another contact    |
 * | sequence        | the position of an event or statement in the order of the whole store; never reused          |
 * | statement       | a link ("from this sequence on, this user is this contact") or an unlink                     |
 * | merge           | makes two contacts one person; reads and writes of the merged contact go to the other        |
 * | owner           | the contact that an event belongs to, computed from statements and merges (ownership.ts)     |
 * | claim           | contact values sent by one browser; they fill empty fields and never replace a value         |
 * | handle          | a claimID, returned to a browser token in place of a contactUUID; valid with that token only |
 * | verified        | sent with a server token or a valid contactProof, or confirmed later; otherwise only claimed |
 * | voided          | ignored by reads until restored (links and claims)                                           |
 * | catalogue       | an account's list of profiles, tags, attributes or event definitions, by ID                  |
 * | merged entry    | a catalogue entry merged into another, its target; reads return the target's ID              |
 * | segment         | a report filter that an account saved under a name                                           |
 * | bot mark        | the attribute on events that a bot sent (`robotMark`)                                        |
 * | refused request | a write refused for its content; it is on its token's list and can be replayed after a fix   |
 * | import          | a file whose records are stored only once, and can be removed together                       |
 * | evicted         | removed from a full list of refused requests                                                 |
 * | audience        | a segment whose new and former members a webhook sends                                       |
 * | notification    | a digest or an alert, which is sent to members by mail                                       |
 * | fact            | a change that webhooks send; stored only for accounts with webhooks that want it             |
 */

import type { AuditAction, AuditSubject } from '@firsthand/contract/account/audit';
import type { TokenKind } from '@firsthand/contract/account/tokens';
import type { ContactStatus } from '@firsthand/contract/contact';
import type { ErrorCode } from '@firsthand/contract/errors';
import type { ImportKind, ImportState } from '@firsthand/contract/import';
import type { MailedOperation, NotificationKind, NotificationSettings } from '@firsthand/contract/notification';
import type { ViewPage } from '@firsthand/contract/reports/view';
import type { AudienceProblem, WebhookType } from '@firsthand/contract/webhook';
import type { ContactField, PlainField } from '../identity/contact-view.ts';
import type { StoreMeasures } from './measures.ts';
import type { OwnershipRange, ReportFeed, ReportNames } from './report-feed.ts';

export interface Store extends ReportFeed, ReportNames {
  // Accounts and tokens
  /**
   * Returns what a token may access; undefined if it is unknown, revoked, or expired at `time` (default: now).
   * `tokenHash` is the hex SHA-256 of the token's text.
   */
  findAccess(tokenHash: string, time?: number): Promise<Access | undefined>;
  /** Whether a token with this hash was ever created. Reads only a cache, so false can also mean "not cached". */
  wasTokenCreated(tokenHash: string): Promise<boolean>;
  /** Returns the keys for an account's contactProofs: the raw SHA-256 of each server token that is live at `time`. */
  findProofKeys(request: { account: number; time: number }): Promise<Uint8Array[]>;
  /**
   * Lists an account's tokens; without `account`, all tokens, including operator tokens. Omits the text of secret
   * tokens.
   */
  listTokens(request: { account?: number | undefined }): Promise<ListedToken[]>;
  /** Returns an account's row number. */
  findAccount(accountUUID: string): Promise<number | undefined>;
  listAccounts(): Promise<AccountSummary[]>;
  getAccount(account: number): Promise<AccountDetail>;
  /** Returns one catalogue, sorted by ID, as `getAccount` returns it. Cheaper: it counts nothing. */
  listCatalogue(query: { readonly account: number; readonly kind: CatalogueKind }): Promise<ListedEntry[]>;
  /** Returns each account's size. Reads in small steps, and takes seconds with millions of contacts. */
  measureAccounts(): Promise<AccountSize[]>;
  /** Creates an account with its tokens, catalogues and contacts. Returns one outcome per contact. */
  createAccount(request: NewAccount): Promise<ContactOutcome[]>;
  /** Returns the names of the fields whose values changed (`updated`), and one outcome per contact. */
  updateAccount(request: AccountChange): Promise<{ updated: string[]; contacts: ContactOutcome[] }>;
  /**
   * Deletes about `limit` of an account's rows: events first, then other rows, then the account. The first call revokes
   * its tokens. Repeat it until `isGone`, pausing for `pauseMilliseconds` each time. Throws Refusal('unknown_account').
   *
   * The account's audit log is deleted too; the deletion is recorded in the service's log.
   */
  deleteAccount(request: Change & { account: number; limit: number }): Promise<AccountDeletion>;
  /**
   * Merges one catalogue entry into another. Idempotent. Throws Refusal('unknown_entry') if either is not listed, and
   * Refusal('merge_refused') by the rules in rules/accounts/entry-merges.ts.
   */
  mergeEntry(request: EntryMerge): Promise<void>;
  /**
   * Undoes a merge. Throws Refusal('unknown_entry') if the entry is not listed, Refusal('merge_refused') if it is not
   * merged.
   */
  unmergeEntry(request: Omit<EntryMerge, 'id'>): Promise<void>;
  /**
   * Throws Refusal('invalid_token') if the creating token (`createdBy`) is no longer live, or if `password`, the hash
   * that the sign-in was checked against, is no longer the member's.
   */
  createToken(token: NewToken & { account: number | null; password?: string | undefined }): Promise<void>;
  /**
   * Returns when the token was first revoked. `account` is null for an operator token. Throws Refusal('invalid_field')
   * for a member's access.
   *
   * With `descendants`, also revokes every live token it created, directly or indirectly, including the access of
   * members it invited. It cancels their open invitations and returns the revoked tokenIDs.
   */
  revokeToken(
    request: Change & { account: number | null; tokenID: string; descendants?: boolean | undefined },
  ): Promise<{ revokedTime: number; descendants: string[] }>;
  /**
   * Invites a person by e-mail address and returns the resulting memberID and kind. Inviting a member again renews the
   * invitation; `kind` is ignored once the member has joined.
   *
   * Throws Refusal('invalid_token') if `by` is no longer live, and Refusal('invalid_field') if the address is new and
   * the account already has `limits.membersPerAccount` members.
   */
  inviteMember(request: NewInvitation): Promise<{ memberID: string; kind: TokenKind }>;
  /** Returns the open invitation whose code has this hash. */
  findInvitation(request: { hash: string; time: number }): Promise<Invitation | undefined>;
  /**
   * Accepts an invitation, once. Replaces the member's name, password and passkeys, and forgets the known networks. A
   * new access replaces the earlier one, which ends all open sessions.
   *
   * Throws Refusal('invalid_token') if the code is no longer valid or never was, and Refusal('invalid_field') if a
   * passkey with this credential exists.
   */
  joinMember(request: {
    hash: string;
    memberName: string;
    /** The password's hash; null if the member uses a passkey instead. */
    password: string | null;
    passkey?: NewPasskey | undefined;
    /** The new access. Its secret has been discarded. */
    access: { tokenID: string; hash: string };
    time: number;
  }): Promise<{ account: number; memberID: string; access: MemberAccess }>;
  /**
   * Returns the members with this e-mail address who have a password, at most one per account, and whether `network` (a
   * hash) is known for each. The member of the account `accountUUID` comes first, then the others, most recent sign-in
   * first.
   */
  findMembers(request: {
    emailaddress: string;
    accountUUID?: string | undefined;
    network: string;
    time: number;
  }): Promise<MemberCredentials[]>;
  /**
   * Records a network (its hash) as known to these members for 30 days. Only a member's 20 latest networks are stored.
   * Skips members that no longer exist.
   */
  recordKnownNetwork(request: { memberIDs: readonly string[]; network: string; time: number }): Promise<void>;
  /** Lists an account's members, sorted by e-mail address. */
  listMembers(request: { account: number }): Promise<Member[]>;
  /** Changes what a member may do; open sessions change too. */
  updateMember(request: Change & { account: number; memberID: string; kind: TokenKind }): Promise<void>;
  /**
   * Removes a member and revokes its access. With `descendants`, also revokes the secret tokens that the member
   * created, directly or indirectly, and ends the member's share links and open invitations.
   *
   * Browser tokens stay live: they are in pages and give no access. Members whom the member invited stay, as does
   * everything they created.
   */
  removeMember(
    request: Change & { account: number; memberID: string; descendants?: boolean | undefined },
  ): Promise<RevokedWithMember>;
  /**
   * Sets or changes a member's password in the session `by`, and ends the member's other sessions. Throws
   * Refusal('unknown_member') under the same conditions as `addPasskey`.
   */
  changePassword(request: {
    account: number;
    memberID: string;
    /** The new password's hash. */
    password: string;
    by: number;
    time: number;
  }): Promise<void>;

  /**
   * Returns a key for hashes and seals, which is derived from the database's secret. It is the same on all servers, in
   * every copy and backup, and never changes. Prefix each hash with its purpose.
   */
  getDatabaseKey(): Promise<Uint8Array>;

  // Passkeys
  /** Lists a member's passkeys, oldest first. */
  listPasskeys(request: { memberID: string }): Promise<Passkey[]>;
  /**
   * Adds a passkey to a member who has joined. Throws:
   * - Refusal('invalid_field') if the member has `limits.passkeysPerMember` passkeys, or the credential is registered
   *   already
   * - Refusal('invalid_token') if the challenge was used before
   * - Refusal('unknown_member') if there is no such member, or `by` is not a live session of the member's current
   *   access
   */
  addPasskey(
    request: Change & { account: number; memberID: string; passkey: NewPasskey; challenge: Challenge },
  ): Promise<void>;
  /**
   * Removes a passkey. Throws Refusal('invalid_field') if it is the member's last credential or not the member's
   * passkey, and Refusal('unknown_member') under the same conditions as `addPasskey`.
   */
  removePasskey(request: Change & { account: number; memberID: string; passkeyID: string }): Promise<void>;
  /** Returns the passkey with this credentialID if its member may sign in. */
  findPasskey(request: { credentialID: string }): Promise<PasskeyCredentials | undefined>;
  /**
   * Records a sign-in. Throws Refusal('invalid_token') if the passkey was removed, its counter did not increase, or the
   * challenge was used before.
   */
  usePasskey(request: { passkeyID: string; counter: number; challenge: Challenge; time: number }): Promise<void>;
  /** Records when tokens were last used. Ignores times before the recorded one. */
  recordTokenUses(request: { uses: readonly (readonly [token: number, time: number])[] }): Promise<void>;

  /**
   * Saves a filter under a name. `replaced` is true if the name existed. Throws Refusal('invalid_field') if the name is
   * new and the account already has `limits.segmentsPerAccount` segments.
   */
  saveSegment(
    request: Pick<SavedSegment, 'segmentName' | 'filter'> & { account: number; time: number },
  ): Promise<{ replaced: boolean }>;
  /** Returns an account's segments, sorted by name; with `segmentNames`, only those segments. */
  listSegments(request: { account: number; segmentNames?: readonly string[] | undefined }): Promise<SavedSegment[]>;
  deleteSegment(request: { account: number; segmentName: string }): Promise<void>;

  /** Like `saveSegment`, for views, up to `limits.viewsPerAccount`. */
  saveView(
    request: Pick<SavedView, 'viewName' | 'page' | 'query'> & { account: number; time: number },
  ): Promise<{ replaced: boolean }>;
  /** Returns an account's views, sorted by name. */
  listViews(request: { account: number }): Promise<SavedView[]>;
  deleteView(request: { account: number; viewName: string }): Promise<void>;

  /**
   * Creates a goal. Throws Refusal('invalid_field') if another goal has this name, or the account already has
   * `limits.goalsPerAccount` goals.
   */
  createGoal(request: Omit<Goal, 'createdTime' | 'updatedTime'> & { account: number; time: number }): Promise<void>;
  /** Throws Refusal('unknown_goal'), or Refusal('invalid_field') if another goal has the new name. */
  updateGoal(request: {
    account: number;
    goalID: string;
    changes: Partial<Omit<Goal, 'goalID' | 'createdTime' | 'updatedTime'>>;
    time: number;
  }): Promise<void>;
  /** Returns an account's goals, sorted by name. */
  listGoals(request: { account: number }): Promise<Goal[]>;
  /** Throws Refusal('unknown_goal'). */
  deleteGoal(request: { account: number; goalID: string }): Promise<void>;

  /**
   * Stores a note, and returns its noteID. If there is already a note with this text and time, returns that one instead.
   * Throws Refusal('invalid_field') if the account already has `limits.notesPerAccount` notes.
   */
  createNote(request: Omit<Note, 'createdTime'> & { account: number; time: number }): Promise<Pick<Note, 'noteID'>>;
  /** Returns the latest notes with from ≤ noteTime < to, newest first. */
  listNotes(request: { account: number; from: number; to: number; limit: number }): Promise<Note[]>;
  /** Throws Refusal('unknown_note'). */
  deleteNote(request: { account: number; noteID: string }): Promise<void>;

  /**
   * Stores a share link and deletes the account's expired links. Throws Refusal('invalid_field') if the account already
   * has `limits.shareLinksPerAccount` links.
   */
  createShareLink(request: NewShareLink): Promise<void>;
  /** Returns the link whose secret has this hash; undefined if it is expired, revoked or unknown. */
  findShareLink(request: { hash: string; time: number }): Promise<OpenedShareLink | undefined>;
  /** Returns an account's links, newest first, including expired ones. */
  listShareLinks(request: { account: number; views?: boolean }): Promise<ListedShareLink[]>;
  revokeShareLink(request: Change & { account: number; shareID: string }): Promise<void>;
  /** Records when a link was last used. Ignores times before the recorded one. */
  recordShareLinkUse(request: { shareID: string; time: number }): Promise<void>;
  /**
   * Deletes expired share links and known networks, old facts, and console sessions that ended at least a day ago.
   * Keeps sessions that other rows reference, and the newest session of each token, which shows when a member last
   * signed in.
   *
   * Each call deletes up to `limit` links, networks and facts each, and examines up to `limit` tokens after the token
   * `after`. Pass `next` as `after`; null: nothing is left to delete.
   */
  deleteExpired(request: {
    time: number;
    after: number;
    limit: number;
  }): Promise<{ deleted: number; next: number | null }>;

  // Webhooks
  /**
   * Creates a webhook, which sends what is stored after the sequence `sentThrough`. Throws Refusal('invalid_field') if
   * the account already has `limits.webhooksPerAccount` webhooks or `limits.audiencesPerAccount` audiences,
   * Refusal('unknown_segment') if its filter has a segment that is not saved.
   */
  createWebhook(request: NewWebhook): Promise<void>;
  /** Lists an account's webhooks, oldest first; without `account`, the active webhooks of all accounts. */
  listWebhooks(request: { account?: number | undefined }): Promise<Webhook[]>;
  /**
   * Throws Refusal('unknown_webhook'), or a refusal of its audiences as in createWebhook. `state: 'active'` ends a wait
   * after failures, and makes a disabled webhook resume where it stopped. With `sentThrough`, messages up to this sequence
   * are not sent.
   */
  updateWebhook(
    request: Change & {
      account: number;
      webhookID: string;
      changes: Partial<WebhookSettings & Pick<Webhook, 'sentThrough'>>;
    },
  ): Promise<void>;
  /** Replaces the secret; the previous one stays valid for a day. Throws Refusal('unknown_webhook'). */
  rotateWebhookSecret(request: Change & { account: number; webhookID: string }): Promise<{ secretTime: number }>;
  /** Throws Refusal('unknown_webhook'). */
  deleteWebhook(request: Change & { account: number; webhookID: string }): Promise<void>;
  /**
   * Returns the account's changes with after < sequence ≤ through, ascending, without changes to erased contacts.
   * `recognized`: includes new links. All changes up to the returned `through` were examined.
   */
  listFacts(query: {
    account: number;
    after: number;
    through: number;
    limit: number;
    recognized: boolean;
    /** Includes facts for this webhook only. */
    webhookID?: string | undefined;
  }): Promise<{ facts: Fact[]; through: number }>;
  /**
   * Lets a server send a webhook's messages until the time `until`. Returns false if the webhook is no longer active,
   * is no longer at `sentThrough`, waits after failures, or another server's lease has not expired.
   */
  leaseWebhook(request: {
    webhookID: string;
    server: string;
    sentThrough: number;
    time: number;
    until: number;
  }): Promise<boolean>;
  /**
   * Records attempts, ends the lease, and returns the webhook as it is now. Records nothing and returns undefined if
   * the server no longer has the lease. Stores no responses if a contact of the account was erased since the lease.
   */
  recordDeliveries(request: DeliveryRecord): Promise<Webhook | undefined>;
  /** Lists failed deliveries of a webhook, ascending by sequence; with `dueTime`, by the time of the next attempt. */
  listDeliveries(query: {
    webhookID: string;
    /** Only deliveries whose next attempt is due at this time. */
    dueTime?: number | undefined;
    after?: number | undefined;
    through?: number | undefined;
    limit: number;
  }): Promise<Delivery[]>;
  /**
   * Retries deliveries as soon as possible, with a new schedule. Throws Refusal('unknown_webhook'), or
   * Refusal('invalid_field') if more than `limits.retriesPerWebhook` would wait for an attempt.
   */
  resendDeliveries(request: {
    account: number;
    webhookID: string;
    sequences: readonly number[];
    time: number;
  }): Promise<void>;

  /** Lists the audiences of an account's webhooks, sorted by segmentName. */
  listAudiences(request: { account: number }): Promise<Audience[]>;
  /** Lists the audiences of active webhooks that are due to be compared, the longest due first. */
  listDueAudiences(request: { time: number }): Promise<DueAudience[]>;
  /**
   * Sets the time of the next comparison. Returns false if another server has set it since `nextTime`, or if the webhook
   * has not sent earlier changes yet.
   */
  claimAudience(request: { account: number; audience: number; nextTime: number; until: number }): Promise<boolean>;
  /** Returns the numbers of the contacts that are in the audience by the facts recorded so far, in any order. */
  listAudienceContacts(request: { account: number; audience: number }): Promise<number[]>;
  /**
   * Adds and removes contacts in one commit, with a fact for each contact that was not or was in the audience. Erased
   * contacts are not added. Returns false if the audience no longer exists.
   */
  changeAudience(request: {
    account: number;
    audience: number;
    entered: readonly number[];
    left: readonly number[];
    time: number;
  }): Promise<boolean>;
  /** Records the result of a comparison: the number of contacts in the segment, or a problem. */
  recordComparison(request: {
    account: number;
    audience: number;
    contacts: number;
    problem: Audience['problem'];
    time: number;
  }): Promise<void>;

  /**
   * Records a fact with the number of refused requests on the lists of the account, by code, with from ≤ refusedTime <
   * to; only once for each `to`, and not if there are none.
   */
  noticeRefusals(request: { account: number; from: number; to: number }): Promise<void>;
  /** Records a fact that the account's storage has reached a percentage of its quota; at most once a day for each. */
  noticeQuota(request: {
    account: number;
    percent: number;
    storedBytes: number;
    accountBytes: number;
    time: number;
  }): Promise<void>;

  // Notifications
  /**
   * Creates a notification. Recipients who have not confirmed their address are asked to by a mail, at most once a day.
   * Throws Refusal('unknown_member') for a recipient who is not a member or has not joined, and Refusal('invalid_field')
   * if the account already has `limits.notificationsPerAccount` notifications, and Refusal('missing_field') if there are
   * neither `recipients` nor a member.
   */
  createNotification(request: NewNotification): Promise<void>;
  /** Lists an account's notifications, oldest first. `by`: the session whose member is marked. */
  listNotifications(request: { account: number; by: number | null }): Promise<ListedNotification[]>;
  /** Throws Refusal('unknown_notification'), and Refusal('unknown_member') like `createNotification`. */
  updateNotification(
    request: Change & {
      account: number;
      notificationID: string;
      changes: Partial<Pick<Notification, 'notificationName' | 'recipients' | 'state' | 'dueTime'>>;
    },
  ): Promise<void>;
  /** Throws Refusal('unknown_notification'). */
  deleteNotification(request: Change & { account: number; notificationID: string }): Promise<void>;
  /**
   * Adds a member to the recipients, or removes it. Returns false if there is no such notification, or no such member
   * who has joined. With `account`, only for notifications of that account.
   */
  setRecipient(request: {
    account?: number | undefined;
    notificationID: string;
    memberID: string;
    isRecipient: boolean;
    time: number;
  }): Promise<boolean>;
  /** Records that a member has confirmed the e-mail address. Returns false if there is no such member. */
  confirmMember(request: { memberID: string; time: number }): Promise<boolean>;
  /** Lists active notifications that are due, of all accounts, in the order of `dueTime`. */
  listDueNotifications(request: { time: number; limit: number }): Promise<DueNotification[]>;
  /**
   * Moves a notification from `dueTime` to `nextTime` and, with an occasion, adds a mail for each recipient who has
   * confirmed. Returns false, and does nothing, if it is no longer active or due at `dueTime`: another server was
   * faster, or it was changed.
   */
  claimNotification(request: {
    notificationID: string;
    dueTime: number;
    nextTime: number;
    time: number;
    activeSince: number | null;
    occasion: Occasion | null;
    /** Why the condition could not be checked. */
    failure?: string | undefined;
  }): Promise<boolean>;
  /** Lists mails whose next attempt is due, of all accounts, in the order of `nextTime`. */
  listDueMails(request: { time: number; limit: number }): Promise<DueMail[]>;
  /** Moves a mail from `nextTime` to `until`. Returns false, and does nothing, if it is not at `nextTime`. */
  claimMail(request: { mailID: string; nextTime: number; until: number }): Promise<boolean>;
  /** Records an attempt. `nextTime` null: deletes the mail. Does nothing if the mail is not at `claimedUntil`. */
  recordMail(request: {
    mailID: string;
    claimedUntil: number;
    time: number;
    sent: boolean;
    failure?: string | undefined;
    nextTime: number | null;
  }): Promise<void>;

  /** Records when a proxy on a private address forwarded requests while TRUST_PROXY was not set; null clears it. */
  recordUnknownProxy(request: { seenTime: number | null }): Promise<void>;
  /** Returns the time recorded by `recordUnknownProxy`; null if there is none. */
  findUnknownProxy(): Promise<number | null>;

  /** Adds an audit entry for an action that does not go through the store. Writes add their own entries (audit.ts). */
  recordAudit(record: AuditRecord): Promise<void>;
  /** Returns a page of the audit log, newest first. Without `account`, it covers all accounts and the service. */
  listAudit(query: AuditQuery): Promise<{ entries: AuditEntry[]; next: number | null }>;

  // Events
  /**
   * Returns the highest sequence below which no sequence is still uncommitted. To follow the account's events, links
   * and other changes from now on, continue after it.
   */
  getLastSequence(query: { account: number }): Promise<number>;
  /**
   * Stores a batch in one commit. Returns one outcome per event, in order. A refused event does not affect the others.
   */
  logEvents(batch: EventBatch): Promise<EventOutcome[]>;
  /** Returns a page of events in sequence order. */
  getEvents(query: EventQuery): Promise<EventPage>;
  /**
   * Returns each listed event ID that has events, with the number of events and the times of the first and last event.
   * While events are being deleted, the times can be off by 15 minutes.
   */
  getEventDefinitions(account: number): Promise<EventDefinition[]>;
  /** Counts events by eventTime between each pair of adjacent `edges`; with `users`, also distinct users. */
  countEvents(query: CountQuery): Promise<CountBucket[]>;
  /**
   * Deletes the oldest events received before `time`, up to `limit`, and requests refused before `time`, up to `limit`.
   * Returns the larger of the two counts; if it equals `limit`, there might be more to delete. Webhooks that have not
   * sent the events yet count them as skipped.
   *
   * A received time after `now` comes from a server clock that was ahead. Such an event counts as received at the same
   * time as the next event with a plausible time. Throws Refusal('unavailable') while a cluster worker is unreachable.
   */
  deleteEventsBefore(request: { time: number; limit: number; now?: number }): Promise<number>;

  // Contacts
  createContact(request: NewContact): Promise<{ exists: boolean; contactUUID: string }>;
  updateContact(request: ContactChange): Promise<{ contactUUID: string; updated: string[] }>;
  getContact(query: ContactQuery): Promise<ContactDetail>;
  searchContact(query: ContactSearch): Promise<FoundContacts>;
  /**
   * Returns the contacts that meet each condition, among the account's next `limit` contacts in creation order. Merged
   * contacts never match.
   */
  feedContacts(query: {
    account: number;
    conditions: readonly ContactCondition[];
    beyond: SearchPosition | null;
    limit: number;
  }): Promise<ContactFeedPage>;
  /**
   * Removes a contact, and all contacts merged with it, from every read except event counts. Later commits delete its
   * events and reduce the counts, possibly after the promise resolves. Repeat the call with the contactUUID to read the
   * progress.
   */
  eraseContact(request: NewErasure): Promise<ErasureReceipt>;

  // Links, claims and merges
  linkUser(
    request: NewStatement & Omit<NamedContact, 'account'>,
  ): Promise<{ exists: boolean; linkID: string; contactUUID: string }>;
  unlinkUser(request: NewStatement): Promise<{ exists: boolean; linkID: string }>;
  /** Returns the number of links that changed. */
  voidLinks(request: Change & { account: number; restore: boolean; links: LinkSelection }): Promise<number>;
  acceptClaim(request: Change & { account: number; claimID: string }): Promise<{ contactUUID: string }>;
  voidClaim(request: Change & { account: number; claimID: string; restore: boolean }): Promise<{ contactUUID: string }>;
  /**
   * Returns the links of up to 1,000 users, and who owns their events. The order is undefined, and unknown users are
   * omitted.
   */
  listUserLinks(query: { readonly account: number; readonly users: readonly number[] }): Promise<UserLinks[]>;
  /** Returns each merged contact with the contact that it belongs to now. */
  listMergedContacts(query: { readonly account: number }): Promise<MergedContact[]>;
  mergeContact(
    request: Change & NamedContact & NamedOther,
  ): Promise<{ contactUUID: string; otherContactUUID: string; mergedTime: number }>;
  unmergeContact(request: Change & NamedOther & { account: number }): Promise<{ contactUUID: string }>;

  // Imports
  /**
   * Creates an import. If the account has imported a file with this fingerprint, and has not undone that import,
   * returns it instead. Throws Refusal('unavailable') while that import is being undone, and Refusal('invalid_field')
   * if the account already has `limits.importsPerAccount` imports.
   */
  createImport(request: NewImport): Promise<Import>;
  /** Returns an account's imports, newest first; with `kind`, only imports of this kind. */
  listImports(request: {
    account: number;
    kind?: ImportKind | undefined;
    limit: number;
    beyond?: ImportPosition | undefined;
  }): Promise<Import[]>;
  /**
   * Stores the next records of an import and advances it, in one transaction. If the import is not at `position`,
   * stores nothing and returns it with no `outcomes`: the records were stored before, or the sender must continue from
   * there.
   *
   * A refused record does not affect the others. Throws Refusal('unknown_import') or Refusal('import_undone').
   */
  addToImport(batch: ImportBatch): Promise<{ import: Import; outcomes: ImportOutcome[] | null }>;
  /** Returns the outcomes that contacts would have in an import, and stores nothing. */
  previewImport(preview: ImportPreview): Promise<ImportOutcome[]>;
  /**
   * Undoes an import. Reports exclude its events immediately. Later commits delete its events, its links, and the
   * contacts that it created unless something else has changed or uses them. In other contacts, they restore the values
   * that have not changed since. Repeat the call to read the progress. Throws Refusal('unknown_import') and, with
   * `kind`, Refusal('token_kind') if the import is of another kind.
   */
  undoImport(request: Change & { account: number; importID: string; kind?: ImportKind | undefined }): Promise<Import>;

  // Refused requests
  /**
   * Adds requests to their token's list. If the list is full, the oldest entries of the sender with the most entries
   * are evicted (rules/refused/eviction.ts). A request that identifies an erased contact is counted but not stored.
   */
  addRefused(batch: RefusedBatch): Promise<void>;
  /** Returns a page of the listed requests, oldest first. */
  listRefused(query: RefusedQuery): Promise<RefusedPage>;
  /**
   * Returns how many requests are listed, evicted, erased and replayed, for each token that ever had a request refused.
   */
  countRefused(query: { account?: number | null }): Promise<RefusedCount[]>;
  /**
   * Executes the write of a refused request and removes it from the list, atomically. If the write or any of its events
   * is refused again, nothing changes. Returns undefined if the request is no longer listed.
   */
  replayRefused(replay: RefusedReplay): Promise<ReplayResult | undefined>;
  /** Removes a request from its list without executing it; it counts as evicted. Returns whether it was listed. */
  discardRefused(request: { readonly account: number; readonly refused: number } & Change): Promise<boolean>;

  // The store itself
  /**
   * Calls `listener` after each commit that stores events or may change owners. Returns a function that removes the
   * listener.
   */
  onCommit(listener: () => void): () => void;
  /** Throws if the database cannot be read, or if the disk is still full after a write failed for lack of space. */
  check(): Promise<void>;
  /** Returns the store's metrics, without reading rows. */
  measure(): Promise<StoreMeasures>;
  /** Waits for the operations in progress, then closes the database. */
  close(): Promise<void>;
}

/** Receives an error from background work, and a message that describes the work. */
export type OnFault = (error: unknown, message: string) => void;

/** The request type of a store operation. */
export type RequestOf<Name extends keyof Store> = Parameters<Store[Name]>[0];

/** Who made a change, and when. */
interface Change {
  /** The row number of the token that makes the change; null or undefined: the command line. */
  readonly by?: number | null | undefined;
  readonly time: number;
}

/** The common fields of a link and an unlink. */
interface NewStatement {
  readonly account: number;
  readonly token: number;
  readonly userUUID: string;
  readonly time: number;
}

export type Attributes = readonly (readonly [attrID: string, attrValue: string])[];

interface AuditQuery {
  readonly account?: number | undefined;
  /** from ≤ time < to. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly action?: AuditAction | undefined;
  /** Selects only entries before this entry. */
  readonly beyond?: number | undefined;
  readonly limit: number;
}

/** A new audit entry, stored in the transaction of the write that it records. */
export interface AuditRecord {
  readonly action: AuditAction;
  readonly subject: AuditSubject;
  /**
   * The account whose log gets the entry, identified by number, accountUUID, or one of its tokenIDs (`accountOf`). If
   * none is set, the service's log gets the entry.
   */
  readonly account?: number | null | undefined;
  readonly accountUUID?: string;
  readonly accountOf?: string;
  /** The row number of the token that made the change; null: the command line. */
  readonly by: number | null;
  readonly time: number;
}

export interface AuditEntry extends Pick<AuditRecord, 'action' | 'subject' | 'time'> {
  readonly audit: number;
  /** Null for an entry of the service's log. */
  readonly accountUUID: string | null;
  /** The tokenID of the token that made the change; null: the command line. */
  readonly actor: string | null;
  /** The member who made the change in a console session; null: not made by a member. */
  readonly memberID: string | null;
}

/** A person who may sign in to an account's console, or who is invited to it. */
export interface Member {
  readonly memberID: string;
  readonly emailaddress: string;
  readonly memberName: string;
  readonly kind: TokenKind;
  readonly createdTime: number;
  /** When the latest invitation was accepted. */
  readonly joinedTime: number | null;
  readonly signedInTime: number | null;
  /** The number of passkeys. */
  readonly passkeys: number;
  readonly hasPassword: boolean;
  /** When the open invitation expires. */
  readonly invitationExpiresTime: number | null;
}

export interface NewInvitation extends Change {
  readonly account: number;
  /** Used if the member is new. */
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

/** The tokenIDs and shareIDs that were revoked with a member. */
export interface RevokedWithMember {
  readonly tokens: readonly string[];
  readonly shareLinks: readonly string[];
}

/** A member's access. */
export interface MemberAccess {
  readonly token: number;
  readonly tokenID: string;
  readonly kind: TokenKind;
}

/** The member data that a sign-in with a password checks. */
export interface MemberCredentials extends MemberAccess {
  readonly account: number;
  readonly memberID: string;
  /** Whether the member recently signed in from this network. */
  readonly isKnown: boolean;
  /** The password's hash, in the format of passwords.ts. */
  readonly password: string;
}

export interface Passkey {
  readonly passkeyID: string;
  readonly passkeyName: string;
  /** In base64url. */
  readonly credentialID: string;
  /** WebAuthn transports, such as `internal`. */
  readonly transports: readonly string[];
  readonly createdTime: number;
  readonly lastUsedTime: number | null;
}

export interface NewPasskey extends Omit<Passkey, 'createdTime' | 'lastUsedTime'> {
  /** The origin that created the passkey. The passkey works on this origin only. */
  readonly origin: string;
  /** A COSE key, in base64url. */
  readonly publicKey: string;
  /** The authenticator's signature counter; always 0 if it does not count. */
  readonly counter: number;
}

/** A passkey with its member's access. */
export interface PasskeyCredentials
  extends MemberAccess,
    Pick<NewPasskey, 'passkeyID' | 'origin' | 'publicKey' | 'counter'> {
  readonly account: number;
  readonly memberID: string;
}

/** A WebAuthn challenge. Its use is recorded until it expires, so that it works only once. */
export interface Challenge {
  readonly challenge: string;
  readonly expiresTime: number;
}

/** What a live token may access. `account` is null for an operator token. */
export interface Access extends SegmentSettings {
  readonly token: number;
  readonly tokenID: string;
  readonly kind: TokenKind;
  readonly account: number | null;
  readonly accountOrigin: readonly string[];
  readonly accountTimezone: string;
  /** Whether events sent with browser tokens get labels. */
  readonly enrich: boolean;
}

export interface NewToken {
  readonly tokenID: string;
  readonly kind: TokenKind;
  readonly tokenName: string;
  /** Hex SHA-256 of the token's text. */
  readonly hash: string;
  /** The token's text. Stored only for browser tokens, which are public. */
  readonly text: string | null;
  readonly time: number;
  /** The row number of the token that creates it; null or undefined: the command line. */
  readonly createdBy?: number | null | undefined;
  readonly expiresTime?: number | null | undefined;
  /** A console session: it ends when the token that created it is revoked. */
  readonly session?: boolean | undefined;
}

export interface CatalogueEntry {
  /** Null, for an event with a name: use the ID listed under the name, or a new one. */
  readonly id: string | null;
  /** The default is the current name or, for a new entry, the ID. */
  readonly name?: string | undefined;
  /** Whether browser tokens may use it. The default is the current value or, for a new entry, true. */
  readonly browser?: boolean | undefined;
  /** The type, for attributes only. */
  readonly type?: string | undefined;
  /** Removes the entry if it is listed. Events and contacts that use the ID do not change. */
  readonly remove?: boolean | undefined;
  /** Removes the entry even if contacts or events use it. The store relies on its caller to check this. */
  readonly force?: boolean | undefined;
}

/** `type` is '' except for attributes. */
export interface ListedEntry {
  readonly id: string;
  readonly name: string;
  readonly browser: boolean;
  /** Whether only browser tokens have used it. */
  readonly byBrowser: boolean;
  readonly type: string;
  /** The ID of the target; null if the entry is not merged. */
  readonly mergedInto: string | null;
}

/** Merges the entry `otherID` into the entry `id`. */
export interface EntryMerge extends Change {
  readonly account: number;
  readonly kind: CatalogueKind;
  readonly id: string;
  readonly otherID: string;
}

export interface SavedSegment {
  /** In canonical form (`canonicalName` of the contract). */
  readonly segmentName: string;
  /** A validated filter, as the JSON that was sent; at most `limits.segmentBytes`. */
  readonly filter: string;
  readonly createdTime: number;
  readonly updatedTime: number;
}

/** A named report page of the console. */
export interface SavedView {
  /** In canonical form (`canonicalName` of the contract). */
  readonly viewName: string;
  readonly page: ViewPage;
  /** The query string of the page's URL. */
  readonly query: string;
  readonly createdTime: number;
  readonly updatedTime: number;
}

/** What an account wants people to do: an event of a kind (by ID or by name), or on a page. */
export interface Goal {
  readonly goalID: string;
  readonly goalName: string;
  /** Two of these three are null. */
  readonly eventID: number | null;
  readonly eventName: string | null;
  /** A pattern of paths, in which `*` stands for any text. */
  readonly path: string | null;
  /** The attribute with the value of the goal; '' for none. */
  readonly attrID: string;
  readonly createdTime: number;
  readonly updatedTime: number;
}

/** Text that marks a point in time on plots. */
export interface Note {
  readonly noteID: string;
  readonly noteText: string;
  readonly noteTime: number;
  readonly createdTime: number;
}

interface ShareLink {
  readonly shareID: string;
  readonly shareName: string;
  readonly page: string;
  readonly expiresTime: number;
}

export interface NewShareLink extends ShareLink, Change {
  readonly account: number;
  /** What the link shows, as JSON (http/operations/reports/shared-view.ts). */
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
  /** Null unless `views` was set: views are long. */
  readonly view: string | null;
  readonly createdTime: number;
  /** The tokenID of the token that created it; null: the command line. */
  readonly createdBy: string | null;
  /** The member who created it in a console session. */
  readonly memberID: string | null;
  readonly lastUsedTime: number | null;
}

/** A report in the mails of a notification. */
export interface MailedReport {
  readonly title: string;
  readonly operation: MailedOperation;
  /** A validated request, without its range. */
  readonly request: Readonly<Record<string, unknown>>;
}

export interface Notification {
  readonly account: number;
  readonly notificationID: string;
  readonly notificationName: string;
  readonly kind: NotificationKind;
  readonly settings: NotificationSettings;
  readonly page: ViewPage;
  readonly query: string;
  readonly reports: readonly MailedReport[];
  /** The memberIDs of the members who receive the mails. They may include members who were removed. */
  readonly recipients: readonly string[];
  readonly state: 'active' | 'paused';
  /** When the next digest is sent or the condition is next checked. */
  readonly dueTime: number;
  /** Null unless the condition of an alert holds. */
  readonly activeSince: number | null;
  readonly lastSentTime: number | null;
  readonly lastFailureTime: number | null;
  readonly lastFailure: string;
  readonly createdTime: number;
  readonly updatedTime: number;
}

export interface NewNotification
  extends Change,
    Pick<
      Notification,
      'account' | 'notificationID' | 'notificationName' | 'kind' | 'settings' | 'page' | 'query' | 'reports'
    > {
  /** The default is the member of the session `by`. */
  readonly recipients?: readonly string[] | undefined;
  readonly dueTime: number;
}

export interface ListedNotification extends Omit<Notification, 'recipients'> {
  readonly recipients: readonly { readonly memberID: string; readonly confirmed: boolean; readonly self?: true }[];
  /** The number of mails that are not sent yet. */
  readonly waiting: number;
}

/** The account data that mails depend on. */
interface MailAccount {
  readonly accountName: string;
  readonly accountOrigin: readonly string[];
  readonly accountTimezone: string;
}

export interface DueNotification extends Notification, MailAccount {}

/** Why a mail is sent. Times are in milliseconds since 1970. */
export type Occasion =
  /** A digest of the day or week before `time`. */
  | { readonly type: 'digest'; readonly time: number }
  /** An alert that begins or ends; `count` and `earlier` are what was counted. */
  | {
      readonly type: 'started' | 'ended';
      readonly time: number;
      readonly since: number;
      readonly count: number;
      readonly earlier?: number | undefined;
    }
  /** The member is asked to confirm the address. */
  | { readonly type: 'confirmation'; readonly time: number };

export interface DueMail extends DueNotification {
  readonly mailID: string;
  readonly memberID: string;
  readonly occasion: Occasion;
  readonly attempts: number;
  readonly nextTime: number;
  /** Undefined: the member was removed. */
  readonly member: { readonly emailaddress: string; readonly memberName: string } | undefined;
}

export interface WebhookSettings {
  readonly url: string;
  readonly description: string;
  readonly types: readonly WebhookType[];
  /** Which events are sent; an empty filter: all. */
  readonly filter: WebhookFilter;
  readonly payload: 'thin' | 'full';
  readonly state: 'active' | 'paused' | 'disabled';
}

export interface WebhookFilter {
  readonly eventNames?: readonly string[] | undefined;
  readonly attrID?: string | undefined;
  readonly attrValue?: string | undefined;
  /** The segments to compare. */
  readonly segmentNames?: readonly string[] | undefined;
}

/** A segment whose changes a webhook sends. */
export interface Audience {
  readonly webhookID: string;
  readonly segmentName: string;
  /** Null until the first comparison. */
  readonly comparedTime: number | null;
  /** The number of contacts at the last comparison. */
  readonly contacts: number;
  /** Why the last comparison failed; '' if it did not. */
  readonly problem: AudienceProblem | '';
}

export interface DueAudience {
  readonly account: number;
  /** The number of the audience within the account. */
  readonly audience: number;
  readonly segmentName: string;
  readonly nextTime: number;
}

export interface NewWebhook extends Omit<WebhookSettings, 'state'>, Change {
  readonly account: number;
  readonly webhookID: string;
  readonly sentThrough: number;
}

export interface Webhook extends WebhookSettings {
  readonly account: number;
  readonly webhookID: string;
  readonly disabledReason: '' | 'gone' | 'failing' | 'token_revoked';
  readonly secretTime: number;
  readonly previousSecretTime: number | null;
  readonly sentThrough: number;
  /** The number of failed batches since the last success. */
  readonly failures: number;
  readonly waitUntil: number;
  readonly lastSuccessTime: number | null;
  readonly lastFailureTime: number | null;
  readonly lastFailure: string;
  readonly leasedBy: string;
  readonly leasedUntil: number;
  /** The number of failed deliveries that will be retried, and the time of the next attempt. */
  readonly retrying: number;
  readonly nextRetryTime: number | null;
  /** The number of events that retention deleted before they were sent, and their first and last sequence. */
  readonly skippedEvents: number;
  readonly skippedFrom: number;
  readonly skippedThrough: number;
  readonly createdTime: number;
  readonly updatedTime: number;
}

/** A change that webhooks send. Identifiers of absent objects are ''. */
export interface Fact {
  readonly sequence: number;
  readonly type: Exclude<WebhookType, 'event.logged'>;
  readonly time: number;
  readonly contactUUID: string;
  readonly otherContactUUID: string;
  readonly userUUID: string;
  readonly detail: Readonly<Record<string, unknown>>;
}

/** A delivery that failed. */
export interface Delivery {
  readonly sequence: number;
  readonly attempts: number;
  readonly firstTime: number;
  readonly lastTime: number;
  /** Null: no more attempts. */
  readonly nextTime: number | null;
  readonly httpStatus: number | null;
  readonly error: string;
  /** The first characters of the response. */
  readonly response: string;
}

export interface DeliveryRecord extends Pick<Webhook, 'webhookID' | 'sentThrough' | 'failures' | 'waitUntil'> {
  readonly server: string;
  readonly time: number;
  readonly succeeded: boolean;
  /** A description of the last failure. */
  readonly failure?: string | undefined;
  readonly failed: readonly Delivery[];
  /** The sequences of earlier failures that succeeded now, or whose message no longer exists. */
  readonly resolved: readonly number[];
  readonly disabledReason?: Webhook['disabledReason'] | undefined;
}

interface NewImport extends Change {
  readonly account: number;
  readonly importID: string;
  readonly kind: ImportKind;
  /** The file's name. */
  readonly importName: string;
  /** A hash of the file's content. */
  readonly fingerprint: string;
}

/** A file that is or was imported. */
export interface Import extends Pick<NewImport, 'importID' | 'kind' | 'importName' | 'fingerprint'> {
  readonly state: ImportState;
  /** The number of records in the file that were read, including repeated and refused records. */
  readonly position: number;
  readonly imported: number;
  readonly repeated: number;
  readonly refused: number;
  /**
   * After an undo, the number of contacts that the import created but that remain, because something else changed or
   * uses them.
   */
  readonly kept: number;
  readonly createdTime: number;
  /** When its undo began. */
  readonly undoneTime: number | null;
}

/** A position in the import list: after the first `skip` imports created at this time. */
export interface ImportPosition extends Pick<Import, 'createdTime'> {
  readonly skip: number;
}

/** A record in a file: an event, or a contact to create or change. */
export interface ImportStep {
  readonly event?: NewEvent;
  /** For an event: the contact that it identifies by external ID or address. Created if it does not exist. */
  readonly contact?: NewContact;
  /** The status to give the contact. */
  readonly contactStatus?: ContactStatus | undefined;
}

export interface ImportBatch extends StoreCaller {
  readonly importID: string;
  readonly kind: ImportKind;
  /** The number of records that were read before. */
  readonly position: number;
  /** The number of records in this batch, including those without a step, which were refused before. */
  readonly records: number;
  readonly isLast: boolean;
  readonly receivedTime: number;
  /** The profile of new contacts without one. */
  readonly defaultProfileID: string;
  /**
   * Whether values replace those of a contact whose last write was not an import. Otherwise, they only fill its empty
   * values.
   */
  readonly replaces: boolean;
  readonly steps: readonly ImportStep[];
}

/**
 * `created`: whether a contact was created. With `replaces`, a contact that the record did not change is a duplicate.
 */
export type ImportOutcome = EventOutcome | { readonly kept: true; readonly created: boolean };

export type ImportPreview = Omit<ImportBatch, 'importID' | 'kind' | 'position' | 'records' | 'isLast'>;

export const catalogueKinds = ['profile', 'tag', 'attr', 'event'] as const;
export type CatalogueKind = (typeof catalogueKinds)[number];
export type Catalogues = Readonly<Partial<Record<CatalogueKind, readonly CatalogueEntry[]>>>;

/** How messages to the Segment API identify contacts. */
export interface SegmentSettings {
  /** The profile of the contacts that these messages create; '' for none. */
  readonly defaultProfileID: string;
  /** Whether `userId` is an e-mail address. Otherwise it is an external ID. */
  readonly userIDIsEmailaddress: boolean;
}

export interface CatalogueSettings {
  /** Whether unlisted IDs are refused. */
  readonly strict: boolean;
  /** Whether browser tokens add the profiles, tags and attributes that they use to the catalogues. */
  readonly browserCatalogue: boolean;
}

interface AccountSettings extends CatalogueSettings, SegmentSettings {
  readonly accountName: string;
  readonly accountOrigin: readonly string[];
  readonly accountTimezone: string;
  /** An ISO 4217 code; '' for none. */
  readonly accountCurrency: string;
  /** Whether events sent with browser tokens get labels. */
  readonly enrich: boolean;
}

export interface NewAccount extends AccountSettings, Change {
  readonly accountUUID: string;
  readonly catalogues: Catalogues;
  readonly tokens: readonly NewToken[];
  readonly contacts: readonly AccountContact[];
}

type Optional<Settings> = { readonly [Name in keyof Settings]?: Settings[Name] | undefined };

/** A settings change. Undefined settings stay as they are. */
export interface AccountChange extends Change, Optional<AccountSettings> {
  readonly account: number;
  readonly catalogues: Catalogues;
  readonly contacts: readonly AccountContact[];
}

/** A contact in an account request. It is updated if it exists, otherwise created with `newContactUUID`. */
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
  /** Each catalogue's entries, sorted by ID. */
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
  /** The member, if this is a member's access or session. */
  readonly memberID: string | null;
  /** The start of the hour in which the token was last used. */
  readonly lastUsedTime: number | null;
  readonly revokedTime: number | null;
}

/** The progress of an account's deletion. */
export interface AccountDeletion {
  readonly accountUUID: string;
  /** The number of events that this call deleted. */
  readonly deletedEvents: number;
  readonly pauseMilliseconds: number;
  readonly isGone: boolean;
}

/** A token and its account, which is null for an operator token. */
export interface ListedToken extends TokenDetail {
  readonly token: number;
  readonly accountUUID: string | null;
  readonly accountName: string | null;
}

/** The token that sent a request, and its account. */
export interface StoreCaller {
  readonly account: number;
  readonly token: number;
  /** Whether it is a browser token: it identifies contacts by handles, and the values that it sends become claims. */
  readonly browser: boolean;
}

export interface EventValues {
  readonly eventID: number;
  readonly eventUUID: string;
  readonly eventTime: number;
  /** Whether the client's time was implausible and eventTime is the received time instead. */
  readonly timeReplaced: boolean;
  readonly attributes: Attributes;
}

export interface NewEvent extends Omit<EventValues, 'eventID'> {
  /** Null if `eventName` identifies the event definition. */
  readonly eventID: number | null;
  /**
   * In canonical form (`canonicalName` of the contract). An unlisted name is assigned an ID in the same transaction.
   */
  readonly eventName: string | null;
  /** Whether the name may be added to the catalogue. Otherwise it is stored as an attribute (unlisted-names.ts). */
  readonly mayAddName: boolean;
  readonly userUUID: string | null;
  /** A handle if a browser token sent the event. */
  readonly contactUUID: string | null;
  /** Identifies the contact if `contactUUID` is null; never sent by a browser token. */
  readonly externalID: string | null;
}

export interface EventBatch extends StoreCaller {
  readonly receivedTime: number;
  /**
   * Whether `receivedTime` is simulated, as in sample data: an earlier time then does not mean that the clock was set
   * back. Only SQLite needs this flag, because its accounts share one current day.
   */
  readonly isSimulated?: boolean;
  readonly events: readonly NewEvent[];
}

export type EventOutcome =
  | { readonly kept: true }
  | { readonly kept: false; readonly duplicate: true }
  | { readonly kept: false; readonly refused: ErrorCode; readonly field: string; readonly message: string };

export interface EventQuery {
  readonly account: number;
  readonly userUUID?: string | undefined;
  /** Selects only events owned by this contact. Without a contactUUID, `externalID` identifies the contact. */
  readonly contactUUID?: string | undefined;
  readonly externalID?: string | undefined;
  readonly eventID?: number | undefined;
  /**
   * Selects only events with the lowest ID that is now listed under this name or, if no ID is, events stored under the
   * unlisted name.
   */
  readonly eventName?: string | undefined;
  readonly attrID?: string | undefined;
  readonly attrValue?: string | undefined;
  /** Excludes events with the bot mark. */
  readonly withoutRobots?: boolean | undefined;
  /** Returns IDs as they were sent, including those of merged entries. */
  readonly asSent?: boolean | undefined;
  /** from ≤ eventTime < to. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly order: 'asc' | 'desc';
  /** Selects only events after this sequence or, if `order` is `desc`, before it. */
  readonly beyond?: number | undefined;
  readonly limit: number;
}

export interface StoredEvent extends EventValues {
  readonly sequence: number;
  readonly eventName: string;
  readonly receivedTime: number;
  /** '' for an event without a user. */
  readonly userUUID: string;
  /** The owner's contactUUID, or ''. */
  readonly contactUUID: string;
  readonly why: {
    readonly rule: 'logged with the contact' | 'linked' | 'reached back' | 'nobody';
    readonly linkID: string | null;
    readonly verified: boolean | null;
    readonly claimID: string | null;
    /** The contactUUID in the link or event, if that contact was merged into the owner. */
    readonly mergedFrom: string | null;
  };
}

/**
 * A page can have fewer than `limit` events, or none, even if more follow, because the examined events and the returned
 * bytes are limited.
 */
export interface EventPage {
  readonly events: readonly StoredEvent[];
  /** The `beyond` of the next page; null if there are no more events for now. */
  readonly next: number | null;
  /** All events up to this sequence were examined. To follow new events, continue from here. */
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
  /** Selects events by name, as in EventQuery. */
  readonly eventName?: string | undefined;
  /** At least two edges, in ascending order, each a multiple of 15 minutes. */
  readonly edges: readonly number[];
  /** Excludes events with the bot mark. This is slower, because it reads each event instead of the rollups. */
  readonly withoutRobots?: boolean | undefined;
  readonly users: boolean;
}
export interface CountBucket {
  readonly events: number;
  readonly users?: number;
}

/** Identifies a contact by the first of these that is set: contactUUID, external ID, address. */
export interface NamedContact {
  readonly account: number;
  readonly contactUUID?: string | undefined;
  readonly externalID?: string | null | undefined;
  /** A canonical address (parseAddress). */
  readonly address?: string | undefined;
}

/** Like NamedContact, for the contact that is or was merged into another. */
export interface NamedOther {
  readonly otherContactUUID?: string | undefined;
  readonly otherExternalID?: string | undefined;
  readonly otherAddress?: string | undefined;
}

export interface NewContact extends StoreCaller {
  /** The user to link; null if there is none, which requires a server token. */
  readonly userUUID: string | null;
  /** At least one of `externalID` and `address` is set. `address` is canonical (parseAddress). */
  readonly externalID?: string | undefined;
  readonly address?: string | undefined;
  /** The nonempty fields other than keys. */
  readonly fields: Readonly<Partial<Record<PlainField, string>>>;
  readonly tags: readonly string[];
  readonly attributes: Attributes;
  /**
   * Whether it was sent with a server token, or a valid contactProof for the address or, if there is none, the external
   * ID.
   */
  readonly verified: boolean;
  readonly requestUUID: string | null;
  /** The UUID to use if a contact or a handle is created. */
  readonly newContactUUID: string;
  readonly newHandle: string;
  readonly time: number;
}

/**
 * Keys other than the key that identifies the contact are new values. A null external ID clears the contact's external
 * ID.
 */
export interface ContactChange extends NamedContact {
  /** Null clears a field. */
  readonly fields: Readonly<Partial<Record<PlainField, string | null>>>;
  readonly addedTags: readonly string[];
  readonly removedTags: readonly string[];
  /** Null removes an attribute. */
  readonly attributes: readonly (readonly [attrID: string, attrValue: string | null])[];
  readonly contactStatus?: ContactStatus | undefined;
  readonly time: number;
  /** The token that makes the change, as in Change. */
  readonly by?: number | null | undefined;
}

export interface ContactQuery extends StoreCaller, NamedContact {
  readonly include: readonly ('claim' | 'link' | 'merge' | 'import')[];
  /** Returns IDs as stored, including those of merged entries. */
  readonly asSent?: boolean | undefined;
  /** Selects only claims and links after these positions. */
  readonly beyond?: ListPositions | undefined;
}

/** Where a page of a contact's claims and links ends; null if no more follow. */
export interface ListPositions {
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
  /** A page of claims, oldest first (contact-lists.ts), and the total count; likewise for links. */
  readonly claims?: readonly ClaimDetail[];
  readonly claimCount?: number;
  readonly links?: readonly LinkDetail[];
  readonly linkCount?: number;
  /** The latest merges into this contact, oldest first, and the total count. On the first page only. */
  readonly merges?: readonly MergeDetail[];
  readonly mergeCount?: number;
  /** The latest imports that wrote to the contact. On the first page only. */
  readonly imports?: readonly ContactImport[];
  readonly next?: ListPositions;
}

/** What an import wrote to a contact. */
export interface ContactImport extends Pick<Import, 'importID' | 'importName' | 'createdTime'> {
  readonly isCreated: boolean;
  /** The changed values. Null stands for no value. */
  readonly changes: readonly {
    readonly field: string;
    readonly before: string | null;
    readonly after: string | null;
  }[];
}

export interface ClaimDetail
  extends Pick<ContactRecord, 'contactUUID' | 'fields' | 'contactProfileName' | 'createdTime' | 'updatedTime'> {
  readonly claimID: string;
  readonly userUUID: string;
  readonly tokenID: string;
  /** The link that the claim created; '' if the user was already linked to the contact. */
  readonly linkID: string;
  readonly state: 'open' | 'accepted' | 'voided';
  readonly tags: readonly string[];
  readonly attributes: Attributes;
}

/** A merged contact, with the values of its own record. */
export interface MergeDetail {
  readonly contactUUID: string;
  readonly fields: Readonly<Record<ContactField, string>>;
  /** The contact that it was merged into, which may itself be merged. */
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
  /** Whether this link determines which contact its user currently is. */
  readonly current: boolean;
}

/** A user's links, and who owns its history. Contacts are those that the links were created for, before merges. */
export interface UserLinks {
  readonly userUUID: string;
  /** In order of creation. The contactUUID is '' for an unlink, and for a link to an erased contact. */
  readonly links: readonly Omit<LinkDetail, 'userUUID' | 'current'>[];
  /** The parts of the user's history that have an owner, ascending. Adjacent parts with the same owner are joined. */
  readonly stretches: readonly (Omit<OwnershipRange, 'contact'> & { readonly contactUUID: string })[];
}

export interface MergedContact {
  readonly contactUUID: string;
  /** The contact at the end of its merges. */
  readonly ownerUUID: string;
}

export interface ContactSearch {
  readonly account: number;
  /** A case-insensitive substring of the e-mail address or of "first name, space, last name". */
  readonly text?: string | undefined;
  readonly externalID?: string | undefined;
  readonly address?: string | undefined;
  /**
   * Selects only these contacts (row numbers, at most 1,000). All matches are returned on one page, in any order, and
   * `limit` is ignored.
   */
  readonly contacts?: readonly number[] | undefined;
  readonly contactProfileID?: string | undefined;
  readonly contactTagID?: string | undefined;
  /** Selects contacts that have this attribute: with this `attrValue` if it is set, otherwise with any value. */
  readonly attrID?: string | undefined;
  readonly attrValue?: string | undefined;
  /** createdFrom ≤ createdTime < createdTo. */
  readonly createdFrom?: number | undefined;
  readonly createdTo?: number | undefined;
  readonly contactStatus?: string | undefined;
  /** seenFrom ≤ lastSeenTime < seenTo. */
  readonly seenFrom?: number | undefined;
  readonly seenTo?: number | undefined;
  /** Sorts by createdTime (default) or lastSeenTime, then by contact. Contacts that were never seen sort first. */
  readonly sort?: 'created' | 'seen' | undefined;
  readonly descending?: boolean | undefined;
  readonly limit: number;
  /** Selects only contacts after this position in the sort order. */
  readonly beyond?: SearchPosition | undefined;
}

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

export interface ContactFeedPage {
  /** For each condition, the distinct row numbers of the matching contacts, in any order. */
  readonly contacts: readonly Float64Array[];
  /** The `beyond` of the next query; null after the last contact. */
  readonly next: SearchPosition | null;
}

/** A position in a search's sort order: the sort key, in milliseconds or days, and a contact. */
export interface SearchPosition {
  readonly key: number;
  readonly contact: number;
}

export interface FoundContact extends ContactDetail {
  /** The row number. */
  readonly contact: number;
  /**
   * The start of the last day (UTC) on which one of the contact's events was received; null if there is none. If a
   * browser switched from one contact to another, that day counts for both.
   */
  readonly lastSeenTime: number | null;
}

export interface FoundContacts {
  readonly contacts: readonly FoundContact[];
  readonly next: SearchPosition | null;
}

/** The writes that are listed as refused requests if they are refused for their content. */
export const refusableOperations = ['logEvent', 'logEvents', 'createContact', 'updateContact'] as const;
export type RefusableOperation = (typeof refusableOperations)[number];

/** The fields as the client sent them, or the raw text if it could not be parsed. */
export type RefusedInput = Readonly<Record<string, unknown>> | string;

export interface NewRefusedRequest {
  readonly operation: RefusableOperation;
  /** The request without its tokens. */
  readonly input: RefusedInput;
  /** The request's e-mail address, canonical (parseAddress). */
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
  /** A number that distinguishes senders; 0 if unknown. */
  readonly sender: number;
  /** Whether a bot sent the requests, according to the user agent. */
  readonly robot?: boolean;
  readonly requests: readonly NewRefusedRequest[];
}

export interface RefusedQuery {
  readonly account?: number | null;
  /** Selects only requests after this number. */
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
  /** The token's text if it is a browser token, which is public; otherwise null. */
  readonly tokenText: string | null;
  /** The field at fault; '' if no single field is. */
  readonly field: string;
  readonly refusedTime: number;
  /** Whether a bot sent the request, according to the user agent. */
  readonly robot: boolean;
}

export interface RefusedPage {
  readonly requests: readonly RefusedRequest[];
  readonly next: number | null;
}

/** The counts of a token's refused requests. The total is listed + evicted + erased + replayed. */
export interface RefusedCount extends Pick<RefusedRequest, 'accountUUID' | 'tokenID' | 'tokenKind'> {
  readonly listed: number;
  readonly listedBytes: number;
  readonly evicted: number;
  readonly erased: number;
  readonly replayed: number;
}

/** The write runs with the rights of the token `tokenID`, which the audit entry records. */
export type RefusedReplay = ReplayedWrite & {
  readonly refused: number;
  readonly tokenID?: string;
  readonly by?: number | null;
};

export type ReplayedWrite =
  | { readonly write: 'logEvents'; readonly request: EventBatch }
  | { readonly write: 'createContact'; readonly request: NewContact }
  | { readonly write: 'updateContact'; readonly request: ContactChange };

/** The result of the replayed write. */
export type ReplayResult = Awaited<ReturnType<Store[ReplayedWrite['write']]>>;

export interface NewErasure extends NamedContact, Change {
  /** Keeps events that the contact owns only through a claimed link. */
  readonly verifiedOnly?: boolean | undefined;
}

export interface ErasureReceipt {
  readonly contactUUID: string;
  readonly erasedTime: number;
  readonly deletedEvents: number;
  readonly complete: boolean;
}

/**
 * Selects one link, or all links that a token claimed (from ≤ time < to), except links that have since been verified or
 * accepted.
 */
export type LinkSelection =
  | { readonly linkID: string }
  | { readonly tokenID: string; readonly from?: number | undefined; readonly to?: number | undefined };
