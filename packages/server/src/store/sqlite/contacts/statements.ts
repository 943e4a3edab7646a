/** Reads statements in the form that the rules in identity/ take. */
import { applyClaimMarks } from '../../../identity/statements.ts';
import type { StatementRow, StatementWithClaim } from '../../rules/links.ts';
import type { Connection } from '../database/connection.ts';

/** The marks of a statement and those of its claim, if it has one. */
export interface Marks {
  readonly verified: number;
  readonly voided: number;
  readonly claimAccepted: number | null;
  readonly claimVoided: number | null;
}
type Row = Omit<StatementRow, 'verified' | 'voided' | 'onlyClaimed'> & Marks;

const marks = 's.verified, s.voided, c.accepted AS claimAccepted, c.voided AS claimVoided';
const source = 'FROM statement s LEFT JOIN claim c ON c.claim = s.claim';

export const statementColumns = `s.sequence, s.user, s.contact, s.claim, s.time, ${marks} ${source}`;

/** Returns links to a contact that is being erased as unlinks, which they will become (detaching.ts). */
const contactAndClaim =
  'iif(e.contact IS NULL, s.contact, NULL) AS contact, iif(e.contact IS NULL, s.claim, NULL) AS claim';
const erasing = `${source} LEFT JOIN erasing_contact e ON e.contact = s.contact`;

/** Returns the marks that the rules in identity/ take. */
export const decideMarks = ({ verified, voided, claimAccepted, claimVoided }: Marks) =>
  applyClaimMarks(
    { verified: verified === 1, voided: voided !== 0 },
    claimAccepted === null ? undefined : { accepted: claimAccepted === 1, voided: claimVoided === 1 },
  );

const toStatement = <One extends Row>(
  row: One,
): Omit<One, keyof Marks> & Pick<StatementRow, 'verified' | 'voided' | 'onlyClaimed'> => {
  const { claimAccepted: _, claimVoided: __, ...rest } = row;
  const { verified, voided, onlyClaimed } = decideMarks(row);
  // A link to a contact that is being erased no longer has a claim.
  return { ...rest, verified, voided, onlyClaimed: onlyClaimed && row.claim !== null };
};

export const createStatementReader = (db: Connection) => {
  const ofUser = db.prepare<[number], Row>(`
    SELECT s.sequence, s.user, s.time, ${marks}, ${contactAndClaim} ${erasing} WHERE s.user = ? ORDER BY s.sequence`);
  const decidingOf = db
    .prepare<
      [number],
      [
        ...[sequence: number, contact: number | null, claim: number | null],
        ...[verified: number, voided: number, claimAccepted: number | null, claimVoided: number | null],
      ]
    >(`SELECT s.sequence, ${contactAndClaim}, ${marks} ${erasing} WHERE s.user = ? ORDER BY s.sequence`)
    .raw();
  const datedOf = db.prepare<[number], Row & { seenDay: number | null }>(
    `SELECT s.sequence, s.user, s.time, s.seenDay, ${marks}, ${contactAndClaim} ${erasing} WHERE s.user = ? ORDER BY s.sequence`,
  );
  const ofUserUnfiltered = db.prepare<[number], Row>(`SELECT ${statementColumns} WHERE s.user = ? ORDER BY s.sequence`);
  const usersOf = db.prepare<[number], number>('SELECT DISTINCT user FROM statement WHERE contact = ?').pluck();
  const after = db.prepare<[number, number, number], Row & { userUUID: string; contactUUID: string }>(`
    SELECT u.userUUID, k.contactUUID, ${statementColumns} JOIN user u ON u.user = s.user
    JOIN contact k ON k.contact = s.contact WHERE s.contact = ? AND s.sequence > ? ORDER BY s.sequence LIMIT ?`);
  const count = db.prepare<[number], number>('SELECT count(*) FROM statement WHERE contact = ?').pluck();
  return {
    /** Returns all of a user's statements, ascending. */
    ofUser: (user: number): StatementRow[] => ofUser.all(user).map(toStatement),
    /** Like `ofUser`, but includes the links to contacts that are being erased. */
    ofUserUnfiltered: (user: number): StatementRow[] => ofUserUnfiltered.all(user).map(toStatement),
    /**
     * Like `ofUser`, but reads only the columns that determine owners, which is more than twice as fast: a contact can
     * have many users with many links.
     */
    forOwners: (user: number): StatementWithClaim[] =>
      decidingOf.all(user).map(([sequence, contact, claim, verified, voided, claimAccepted, claimVoided]) => {
        const marks = decideMarks({ verified, voided, claimAccepted, claimVoided });
        return { sequence, contact, claim, verified: marks.verified, voided: marks.voided };
      }),
    /** Like `ofUser`, with the user's last active day before each statement. */
    dated: (user: number) => datedOf.all(user).map(toStatement),
    /** Returns the users that were ever linked to a contact. */
    usersOf: (contact: number): number[] => usersOf.all(contact),
    /** Returns up to `limit` links to a contact after a sequence, with the userUUIDs and contactUUID. */
    after: (contact: number, sequence: number, limit: number) => after.all(contact, sequence, limit).map(toStatement),
    countOf: (contact: number): number => count.get(contact) as number,
  };
};
