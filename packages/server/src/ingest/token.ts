import { hash } from 'node:crypto';
import type { TokenKind } from '@firsthand/contract/account/tokens';
import { nanoid } from 'nanoid';
import type { NewToken, TokenDetail } from '../store/store.ts';

/** The text of a new token: its kind and 144 random bits. */
export const createTokenText = (kind: TokenKind, random = nanoid(24)): string => `${kind}_${random}`;

/** The hash by which the store finds a token: the hex SHA-256 of its text. */
export const hashToken = (text: string): string => hash('sha256', text, 'hex');

/** A token in the form that the store takes: its hash and, for a browser token, also its text, which is public anyway. */
export const newToken = (
  kind: TokenKind,
  { text, ...rest }: Omit<NewToken, 'kind' | 'hash' | 'text'> & { readonly text: string },
): NewToken => ({ ...rest, kind, hash: hashToken(text), text: kind === 'browser' ? text : null });

/** Whether a token is the access of a member: nobody knows its text, and it makes the member's sessions. */
export const isMemberAccess = ({ session, memberID }: Pick<TokenDetail, 'session' | 'memberID'>): boolean =>
  !session && memberID !== null;

/** Whether a token is live at `time`: neither revoked nor expired. */
export const isLive = (
  { revokedTime, expiresTime }: { readonly revokedTime: number | null; readonly expiresTime: number | null },
  time: number,
): boolean => revokedTime === null && (expiresTime === null || time < expiresTime);
