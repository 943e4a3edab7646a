/** Reads statements in the form that the rules in identity/ take. */
import type { StatementRow, StatementWithClaim } from '../../rules/links.ts';
import type { Connection } from '../database/connection.ts';

interface Row extends Omit<StatementRow, 'verified' | 'voided' | 'onlyClaimed'> {
  readonly verified: number;
  readonly voided: number;
  readonly onlyClaimed: number;
}

/**
 * A statement created by a claim has the claim's marks until it is verified separately. So accepting or voiding a claim
 * changes only the claim, and can be undone exactly.
 */
const marks = `
  (s.verified OR (c.claim IS NOT NULL AND c.accepted AND NOT c.voided)) AS verified,
  (s.voided OR (c.claim IS NOT NULL AND c.voided AND NOT s.verified)) AS voided`;
const isOnlyClaimed = '(c.claim IS NOT NULL AND NOT c.accepted AND NOT s.verified)';
const source = 'FROM statement s LEFT JOIN claim c ON c.claim = s.claim';

export const statementColumns = `
  s.sequence, s.user, s.contact, s.claim, s.time, ${marks}, ${isOnlyClaimed} AS onlyClaimed ${source}`;

/** Links to a contact that is being erased read as unlinks, which they will become (detaching.ts). */
const contactAndClaim =
  'iif(e.contact IS NULL, s.contact, NULL) AS contact, iif(e.contact IS NULL, s.claim, NULL) AS claim';
const erasing = `${source} LEFT JOIN erasing_contact e ON e.contact = s.contact`;

const toStatement = <One extends Row>({ verified, voided, onlyClaimed, ...row }: One) => ({
  ...row,
  verified: verified === 1,
  voided: voided === 1,
  onlyClaimed: onlyClaimed === 1,
});

export const createStatementReader = (db: Connection) => {
  const ofUser = db.prepare<[number], Row>(`
    SELECT s.sequence, s.user, s.time, ${marks}, (e.contact IS NULL AND ${isOnlyClaimed}) AS onlyClaimed, ${contactAndClaim}
    ${erasing} WHERE s.user = ? ORDER BY s.sequence`);
  const decidingOf = db
    .prepare<
      [number],
      [sequence: number, contact: number | null, claim: number | null, verified: 0 | 1, voided: 0 | 1]
    >(`SELECT s.sequence, ${contactAndClaim}, ${marks} ${erasing} WHERE s.user = ? ORDER BY s.sequence`)
    .raw();
  const datedOf = db.prepare<[number], Omit<Row, 'onlyClaimed'> & { seenDay: number | null }>(
    `SELECT s.sequence, s.user, s.time, s.seenDay, ${marks}, ${contactAndClaim} ${erasing} WHERE s.user = ? ORDER BY s.sequence`,
  );
  const ofUserUnfiltered = db.prepare<[number], Row>(`SELECT ${statementColumns} WHERE s.user = ? ORDER BY s.sequence`);
  const usersOf = db.prepare<[number], number>('SELECT DISTINCT user FROM statement WHERE contact = ?').pluck();
  const after = db.prepare<[number, number, number], Row & { userUUID: string; contactUUID: string }>(`
    SELECT u.userUUID, k.contactUUID, ${statementColumns} JOIN user u ON u.user = s.user
    JOIN contact k ON k.contact = s.contact WHERE s.contact = ? AND s.sequence > ? ORDER BY s.sequence LIMIT ?`);
  const count = db.prepare<[number], number>('SELECT count(*) FROM statement WHERE contact = ?').pluck();
  return {
    /** Returns all statements of a user, ascending. */
    ofUser: (user: number): StatementRow[] => ofUser.all(user).map(toStatement),
    /** Like `ofUser`, but links to contacts that are being erased still have these contacts. */
    ofUserUnfiltered: (user: number): StatementRow[] => ofUserUnfiltered.all(user).map(toStatement),
    /**
     * Like `ofUser`, but reads only the columns that determine owners, which is more than twice as fast: a contact may
     * have many users with many links.
     */
    forOwners: (user: number): StatementWithClaim[] =>
      decidingOf.all(user).map(([sequence, contact, claim, verified, voided]) => ({
        sequence,
        contact,
        claim,
        verified: verified === 1,
        voided: voided === 1,
      })),
    /** Like `ofUser`, with the user's last active day before each statement. */
    dated: (user: number) =>
      datedOf.all(user).map((row) => ({ ...row, verified: row.verified === 1, voided: row.voided === 1 })),
    /** Returns the users that were ever linked to a contact. */
    usersOf: (contact: number): number[] => usersOf.all(contact),
    /** Returns up to `most` links to a contact after a sequence, with the userUUIDs and contactUUID. */
    after: (contact: number, sequence: number, most: number) => after.all(contact, sequence, most).map(toStatement),
    countOf: (contact: number): number => count.get(contact) as number,
  };
};
