import type { NewEvent } from '../store.ts';
import { charactersOf } from './event-row.ts';

/**
 * The size of rows on disk, including index entries. Rounded up from measurements on SQLite with 20,000 rows each and
 * random UUIDs as names (event 106, user 114, contact 477 bytes). PostgreSQL takes up to 1.5 times as much.
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

/** Estimates an event's size: its row, and one byte per character of its attributes. */
export const eventBytes = (event: Pick<NewEvent, 'attributes'>): number => rowBytes.event + charactersOf(event);

/** An account's row counts, and the bytes of its events and of its contacts' and claims' values. */
interface StoredCounts {
  readonly users: number;
  /** Includes merged contacts. */
  readonly contacts: number;
  readonly claims: number;
  readonly eventBytes: number;
  readonly valueBytes: number;
}

/** Estimates an account's size. Ignores compression and unused space. Erased rows count until they are deleted. */
export const storedBytesOf = ({ users, contacts, claims, eventBytes, valueBytes }: StoredCounts): number =>
  eventBytes + valueBytes + users * rowBytes.user + contacts * rowBytes.contact + claims * rowBytes.claim;
