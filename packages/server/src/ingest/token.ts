import { hash } from 'node:crypto';
import type { TokenKind } from '@firsthand/contract/tokens';
import { nanoid } from 'nanoid';
import type { NewToken } from '../store/store.ts';

/** A new token's text: its kind, and 144 random bits. */
export const createTokenText = (kind: TokenKind, random = nanoid(24)): string => `${kind}_${random}`;

/** What a token is found by: the hex SHA-256 of its text. */
export const hashToken = (text: string): string => hash('sha256', text, 'hex');

/** What the store keeps of a token: a browser's text as well, because every page shows it anyway. */
export const newToken = (
  kind: TokenKind,
  {
    text,
    createdBy = null,
    expiresTime = null,
    ...rest
  }: Omit<NewToken, 'kind' | 'hash' | 'text' | 'createdBy' | 'expiresTime'> & {
    readonly text: string;
    readonly createdBy?: number | null;
    readonly expiresTime?: number | null;
  },
): NewToken => ({
  ...rest,
  kind,
  hash: hashToken(text),
  text: kind === 'browser' ? text : null,
  createdBy,
  expiresTime,
});
