import { charactersOf } from './attributes.ts';
import type { NewEvent } from './store.ts';

/**
 * What rows take on disk, with their entries in indexes: measured on SQLite with 20,000 of each, every name a random UUID
 * (106, 114 and 477 bytes), and rounded up. PostgreSQL takes up to half as much again.
 */
export const rowBytes = {
  event: 120,
  /** A user that is new. */
  user: 150,
  /** A contact, a claim and a link, all new. */
  contact: 600,
  /** A further claim with its link. */
  claim: 300,
} as const;

/** What an event takes: its row, and a byte for each character of its attributes. */
export const eventBytes = (event: Pick<NewEvent, 'attributes'>): number => rowBytes.event + charactersOf(event);

/** What an account has of each kind: rows, and the bytes that were counted of its events and of what is said of its contacts. */
export interface StoredCounts {
  readonly users: number;
  /** Merged ones as well. */
  readonly contacts: number;
  readonly claims: number;
  readonly eventBytes: number;
  readonly saidBytes: number;
}

/** What an account stores, estimated: compression and unused space are left out, erased rows count until they are deleted. */
export const storedBytesOf = ({ users, contacts, claims, eventBytes, saidBytes }: StoredCounts): number =>
  eventBytes + saidBytes + users * rowBytes.user + contacts * rowBytes.contact + claims * rowBytes.claim;
