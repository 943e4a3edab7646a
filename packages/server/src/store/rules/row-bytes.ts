import type { NewEvent } from '../store.ts';
import { charactersOf } from './kept-event.ts';

/**
 * Bytes that rows take on disk, with their index entries. Measured on SQLite with 20,000 rows of each, every name a random UUID
 * (event 106, user 114, contact 477 bytes), and rounded up. PostgreSQL takes up to half as much again.
 */
export const rowBytes = {
  event: 120,
  /** A new user. */
  user: 150,
  /** A new contact with its first claim and link. */
  contact: 600,
  /** A claim with its link. */
  claim: 300,
} as const;

/** Estimates the bytes of an event: its row, and a byte for each character of its attributes. */
export const eventBytes = (event: Pick<NewEvent, 'attributes'>): number => rowBytes.event + charactersOf(event);

/** An account's rows of each kind, and the bytes of its events and of the values of its contacts and claims. */
interface StoredCounts {
  readonly users: number;
  /** Includes merged contacts. */
  readonly contacts: number;
  readonly claims: number;
  readonly eventBytes: number;
  readonly valueBytes: number;
}

/** Estimates the bytes that an account stores. Ignores compression and unused space; erased rows count until they are deleted. */
export const storedBytesOf = ({ users, contacts, claims, eventBytes, valueBytes }: StoredCounts): number =>
  eventBytes + valueBytes + users * rowBytes.user + contacts * rowBytes.contact + claims * rowBytes.claim;
