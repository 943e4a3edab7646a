import { hash } from 'node:crypto';
import type { TokenKind } from '@firsthand/contract/account/tokens';
import { nanoid } from 'nanoid';
import type { NewToken, TokenDetail } from '../store/store.ts';

/** Creates a token's text: its kind and 144 random bits. */
export const createTokenText = (kind: TokenKind, random = nanoid(24)): string => `${kind}_${random}`;

/** Returns the hash under which the store finds a token: the hex SHA-256 of its text. */
export const hashToken = (text: string): string => hash('sha256', text, 'hex');

/** Returns a token as the store expects it: its hash and, for a browser token, also its text, which is public. */
export const newToken = (
  kind: TokenKind,
  { text, ...rest }: Omit<NewToken, 'kind' | 'hash' | 'text'> & { readonly text: string },
): NewToken => ({ ...rest, kind, hash: hashToken(text), text: kind === 'browser' ? text : null });

/**
 * Whether a token represents a member's access. Its text is discarded, and it creates the tokens of the member's
 * sessions.
 */
export const isMemberAccess = ({ session, memberID }: Pick<TokenDetail, 'session' | 'memberID'>): boolean =>
  !session && memberID !== null;

/** Whether a token is live at `time`: neither revoked nor expired. */
export const isLive = (
  { revokedTime, expiresTime }: { readonly revokedTime: number | null; readonly expiresTime: number | null },
  time: number,
): boolean => revokedTime === null && (expiresTime === null || time < expiresTime);
