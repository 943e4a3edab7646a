/** Statements: who users were said to be, in the form that the rules in identity/ take. */
import type { DecidingStatement, StatementRow } from '../../rules/links.ts';
import type { Connection } from '../database/connection.ts';

interface Row extends Omit<StatementRow, 'verified' | 'voided' | 'onlyClaimed'> {
  readonly verified: number;
  readonly voided: number;
  readonly onlyClaimed: number;
}

/**
 * A statement that a claim made has the marks of the claim until it is verified otherwise. So accepting or voiding a claim changes
 * one mark on the claim, and can be undone exactly.
 */
const marks = `
  (s.verified OR (c.claim IS NOT NULL AND c.accepted AND NOT c.voided)) AS verified,
  (s.voided OR (c.claim IS NOT NULL AND c.voided AND NOT s.verified)) AS voided`;
const isOnlyClaimed = '(c.claim IS NOT NULL AND NOT c.accepted AND NOT s.verified)';
const source = 'FROM statement s LEFT JOIN claim c ON c.claim = s.claim';

export const statementColumns = `
  s.sequence, s.user, s.contact, s.claim, s.time, ${marks}, ${isOnlyClaimed} AS onlyClaimed ${source}`;

/** Reads links to a contact that is being erased as the unlinks that they will become (detaching.ts). */
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
  const ofUserAsMade = db.prepare<[number], Row>(`SELECT ${statementColumns} WHERE s.user = ? ORDER BY s.sequence`);
  const usersOf = db.prepare<[number], number>('SELECT DISTINCT user FROM statement WHERE contact = ?').pluck();
  const after = db.prepare<[number, number, number], Row & { userUUID: string; contactUUID: string }>(`
    SELECT u.userUUID, k.contactUUID, ${statementColumns} JOIN user u ON u.user = s.user
    JOIN contact k ON k.contact = s.contact WHERE s.contact = ? AND s.sequence > ? ORDER BY s.sequence LIMIT ?`);
  const count = db.prepare<[number], number>('SELECT count(*) FROM statement WHERE contact = ?').pluck();
  return {
    /** All of a user's statements, ascending: the list that the rules take. */
    ofUser: (user: number): StatementRow[] => ofUser.all(user).map(toStatement),
    /** The same, except that links to contacts that are being erased still name those contacts. */
    ofUserAsMade: (user: number): StatementRow[] => ofUserAsMade.all(user).map(toStatement),
    /**
     * As `ofUser`, but only the columns that decide about owners, in less than half the time: a contact may have many users with
     * many links.
     */
    forOwners: (user: number): DecidingStatement[] =>
      decidingOf.all(user).map(([sequence, contact, claim, verified, voided]) => ({
        sequence,
        contact,
        claim,
        verified: verified === 1,
        voided: voided === 1,
      })),
    /** As `ofUser`, with the last day on which the user had been active before each. */
    dated: (user: number) =>
      datedOf.all(user).map((row) => ({ ...row, verified: row.verified === 1, voided: row.voided === 1 })),
    /** The users that were ever linked to a contact. */
    usersOf: (contact: number): number[] => usersOf.all(contact),
    /** Up to `most` links to a contact that were made after a sequence, with the names of their users and of the contact. */
    after: (contact: number, sequence: number, most: number) => after.all(contact, sequence, most).map(toStatement),
    countOf: (contact: number): number => count.get(contact) as number,
  };
};
