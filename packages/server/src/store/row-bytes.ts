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
} as const;
