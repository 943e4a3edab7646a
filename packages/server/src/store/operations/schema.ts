/** The tables that shared operations use, as both databases define them. Times are in milliseconds since 1970. */
import type { TokenKind } from '@firsthand/contract/account/tokens';
import type { ColumnType, Generated } from 'kysely';
import type { Audience, Import, MemberCredentials, Notification, SavedView, Webhook } from '../store.ts';

/** SQLite returns 0 or 1. */
type Flag = ColumnType<boolean | 0 | 1, boolean, boolean>;

export interface Schema {
  account: {
    account: number;
    accountUUID: string;
    accountName: string;
    /** A JSON list of origins. PostgreSQL returns it parsed. */
    accountOrigin: ColumnType<string | readonly string[], string, string>;
    accountTimezone: string;
    accountCurrency: string;
  };
  account_deletion: { account: number };
  answered_challenge: { challenge: string; expiresTime: number };
  contact: { contact: number; account: number; contactUUID: string; mergedInto: number | null };
  goal: {
    account: number;
    goalID: string;
    goalName: string;
    eventID: number | null;
    eventName: string | null;
    path: string | null;
    attrID: string;
    createdTime: number;
    updatedTime: number;
  };
  import: {
    importID: string;
    account: number;
    kind: Import['kind'];
    importName: string;
    fingerprint: string;
    position: number;
    isComplete: Flag;
    isUndoing: Flag;
    imported: number;
    repeated: number;
    refused: number;
    kept: number;
    createdTime: number;
    undoneTime: number | null;
    /** The erasure that undoes the import. */
    erasure: number | null;
  };
  import_contact: {
    account: number;
    importID: string;
    contact: number;
    isCreated: Flag;
    updatedTime: number;
    changes: string;
  };
  import_stretch: { account: number; importID: string; after: number; through: number };
  known_network: { memberID: string; network: string; expiresTime: number };
  member: {
    memberID: string;
    account: number;
    kind: MemberCredentials['kind'];
    /** The member's access; null: the member has not joined yet. */
    token: number | null;
    emailaddress: string;
    memberName: string;
    password: string | null;
    joinedTime: number | null;
    /** The hex SHA-256 of the open invitation's code. */
    invitation: string | null;
    invitationExpiresTime: number | null;
    /** The token that created the invitation; null: the command line. */
    invitedBy: number | null;
    createdTime: number;
    /** When the member confirmed the e-mail address, and when a mail last asked for that. */
    confirmedTime: Generated<number | null>;
    confirmationSentTime: Generated<number | null>;
  };
  notification: {
    notificationID: string;
    account: number;
    notificationName: string;
    kind: Notification['kind'];
    /** JSON. */
    settings: string;
    page: Notification['page'];
    query: string;
    /** JSON. */
    reports: string;
    /** JSON. */
    recipients: string;
    state: Notification['state'];
    dueTime: number;
    activeSince: number | null;
    lastSentTime: number | null;
    lastFailureTime: number | null;
    lastFailure: string;
    createdTime: number;
    updatedTime: number;
  };
  notification_mail: {
    mailID: string;
    account: number;
    notificationID: string;
    memberID: string;
    /** JSON. */
    occasion: string;
    attempts: number;
    nextTime: number;
  };
  note: { account: number; noteID: string; noteText: string; noteTime: number; createdTime: number };
  passkey: {
    passkeyID: string;
    memberID: string;
    passkeyName: string;
    origin: string;
    credentialID: string;
    publicKey: string;
    counter: number;
    /** Transports, separated by spaces. */
    transports: string;
    createdTime: number;
    lastUsedTime: ColumnType<number | null, never, number>;
  };
  position: { secret: Buffer };
  report_segment: { account: number; segmentName: string; filter: string; createdTime: number; updatedTime: number };
  report_view: {
    account: number;
    viewName: string;
    page: SavedView['page'];
    query: string;
    createdTime: number;
    updatedTime: number;
  };
  share_link: {
    shareID: string;
    account: number;
    hash: string;
    shareName: string;
    page: string;
    view: string;
    createdTime: number;
    createdBy: number | null;
    expiresTime: number;
    lastUsedTime: ColumnType<number | null, never, number>;
  };
  token: {
    token: Generated<number>;
    tokenID: string;
    /** Null: an operator token. */
    account: number | null;
    kind: TokenKind;
    tokenName: string;
    /** The hex SHA-256 of the token. */
    hash: string;
    /** Browser tokens only: they are not secret. */
    text: string | null;
    createdTime: number;
    createdBy: number | null;
    expiresTime: number | null;
    session: Flag;
    /** Set for a member's access and its sessions. */
    memberID: string | null;
    lastUsedTime: number | null;
    revokedTime: number | null;
  };
  unknown_proxy: { id: number; seenTime: number };
  webhook: {
    webhookID: string;
    account: number;
    url: string;
    description: string;
    /** JSON. */
    types: string;
    /** JSON. */
    filter: string;
    payload: Webhook['payload'];
    state: Webhook['state'];
    disabledReason: Webhook['disabledReason'];
    secretTime: number;
    previousSecretTime: number | null;
    sentThrough: number;
    failures: number;
    waitUntil: number;
    lastSuccessTime: number | null;
    lastFailureTime: number | null;
    lastFailure: string;
    leasedBy: string;
    leasedUntil: number;
    createdTime: number;
    createdBy: number | null;
    updatedTime: number;
    skippedEvents: number;
    skippedFrom: number;
    skippedThrough: number;
  };
  webhook_audience: {
    account: number;
    audience: number;
    webhookID: string;
    segmentName: string;
    nextTime: number;
    comparedTime: number | null;
    contacts: number;
    problem: Audience['problem'];
  };
  webhook_member: { account: number; audience: number; contact: number };
  webhook_delivery: {
    account: number;
    webhookID: string;
    sequence: number;
    attempts: number;
    firstTime: number;
    lastTime: number;
    nextTime: number | null;
    httpStatus: number | null;
    error: string;
    response: string;
  };
}
