/** The tables that operations read and write, as both databases have them. Times are in milliseconds since 1970. */
import type { TokenKind } from '@firsthand/contract/account/tokens';
import type { ColumnType, Generated } from 'kysely';
import type { SavedView, SigningIn } from '../store.ts';

/** SQLite returns 0 or 1. */
type Flag = ColumnType<boolean | 0 | 1, boolean, boolean>;

export interface Schema {
  account: {
    account: number;
    accountUUID: string;
    accountName: string;
    /** JSON: a list of origins. PostgreSQL returns it parsed. */
    accountOrigin: ColumnType<string | readonly string[], string, string>;
    accountTimezone: string;
    accountCurrency: string;
  };
  account_deletion: { account: number };
  answered_challenge: { challenge: string; expiresTime: number };
  known_network: { memberID: string; network: string; expiresTime: number };
  member: {
    memberID: string;
    account: number;
    /** What the member may do. */
    kind: SigningIn['kind'];
    /** The access, which makes the sessions; null: nobody has joined yet. */
    token: number | null;
    emailaddress: string;
    memberName: string;
    password: string | null;
    joinedTime: number | null;
    /** SHA-256 of the code of the open invitation, hex. */
    invitation: string | null;
    invitationExpiresTime: number | null;
    /** The token that made the invitation; null: the command line. */
    invitedBy: number | null;
    createdTime: number;
  };
  passkey: {
    passkeyID: string;
    memberID: string;
    passkeyName: string;
    origin: string;
    credentialID: string;
    publicKey: string;
    counter: number;
    /** Separated by spaces. */
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
    /** Null: an operator's. */
    account: number | null;
    kind: TokenKind;
    tokenName: string;
    /** SHA-256 of the token, hex. */
    hash: string;
    /** Of a browser token, which is not secret. */
    text: string | null;
    createdTime: number;
    createdBy: number | null;
    expiresTime: number | null;
    session: Flag;
    /** Of a member's access, and of the sessions that it made. */
    memberID: string | null;
    lastUsedTime: number | null;
    revokedTime: number | null;
  };
  unknown_proxy: { id: number; seenTime: number };
}
