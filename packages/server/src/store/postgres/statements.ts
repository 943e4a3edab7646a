/** What users were said to be, as the rules in identity/ take it. */
import type { KeptStatement, Statement } from '../../identity/statements.ts';
import type { Connection } from './connection.ts';

export interface StatementRow extends KeptStatement {
  readonly user: number;
  readonly claim: number | null;
  readonly claimID: string | null;
  readonly time: number;
}

/** What decides about owners, and the claim that made it. */
export type DecidingStatement = Statement & Pick<StatementRow, 'claim'>;

type Facts = Omit<DecidingStatement, 'voided'> & { readonly user: number; readonly voided: number };
type Row = Facts & Pick<StatementRow, 'time'>;

interface ClaimMarks {
  readonly claim: number;
  readonly claimID: string;
  readonly accepted: boolean;
  readonly voided: boolean;
}

/** The marks of the claims that made these statements, by claim; or of those of them that were accepted or voided. */
export const marksOf = async (
  db: Connection,
  statements: readonly { readonly claim: number | null; readonly contact: number | null }[],
  which: 'all' | 'marked' = 'all',
): Promise<Map<number, ClaimMarks>> => {
  const made = statements.filter(({ claim }) => claim !== null);
  if (made.length === 0) return new Map();
  const rows = await db.all<ClaimMarks>(
    `SELECT claim, "claimID", accepted, voided FROM claim
     WHERE contact = ANY ($1::bigint[]) AND claim = ANY ($2::bigint[]) ${which === 'all' ? '' : 'AND (accepted OR voided)'}`,
    [made.map(({ contact }) => contact), made.map(({ claim }) => claim)],
  );
  return new Map(rows.map((row) => [row.claim, row]));
};

/**
 * A statement that a claim made stands or falls with the claim, until something better has verified it; so accepting and
 * voiding a claim are one mark on the claim, and taking them back is exact.
 */
const toDeciding = (
  { sequence, contact, claim, verified, voided }: Facts,
  marks: ClaimMarks | undefined,
): DecidingStatement => ({
  sequence,
  contact,
  claim,
  verified: verified || (marks?.accepted === true && !marks.voided),
  voided: voided !== 0 || (!verified && marks?.voided === true),
});

const toStatement = (row: Row, marks: ClaimMarks | undefined): StatementRow => {
  const { user, time } = row;
  const onlyClaimed = marks?.accepted === false && !row.verified;
  return { ...toDeciding(row, marks), user, time, claimID: marks?.claimID ?? null, onlyClaimed };
};

/** All statements of these users, ascending: for each the list that the rules take. */
export const statementsOf = async (db: Connection, users: readonly number[]): Promise<Map<number, StatementRow[]>> => {
  const lists = new Map<number, StatementRow[]>(users.map((user) => [user, []]));
  if (users.length === 0) return lists;
  const rows = await db.all<Row>(
    `SELECT "user", sequence, contact, claim, verified, voided, time FROM statement
     WHERE "user" = ANY ($1::bigint[]) ORDER BY sequence`,
    [[...lists.keys()]],
  );
  const marks = await marksOf(db, rows);
  for (const row of rows) lists.get(row.user)?.push(toStatement(row, marks.get(row.claim ?? 0)));
  return lists;
};

/** As `statementsOf`, with only what decides about owners, in half the time: a contact may have many users with many links. */
export const statementsForOwners = async (
  db: Connection,
  users: readonly number[],
): Promise<Map<number, DecidingStatement[]>> => {
  const lists = new Map<number, DecidingStatement[]>(users.map((user) => [user, []]));
  if (users.length === 0) return lists;
  const rows = await db.all<Facts>(
    `SELECT "user", sequence, contact, claim, verified, voided FROM statement
     WHERE "user" = ANY ($1::bigint[]) ORDER BY sequence`,
    [users],
  );
  const marks = await marksOf(db, rows, 'marked');
  for (const row of rows) lists.get(row.user)?.push(toDeciding(row, marks.get(row.claim ?? 0)));
  return lists;
};

/** The linkID of the first link that each of these claims made, by claim; none where no link is left. */
export const firstLinksOf = async (
  db: Connection,
  claims: readonly { readonly claim: number; readonly user: number; readonly contact: number }[],
): Promise<Map<number, string>> => {
  const rows = await db.all<{ claim: number; first: number }>(
    `SELECT claim, min(sequence) AS first FROM statement
     WHERE "user" = ANY ($1::bigint[]) AND contact = ANY ($2::bigint[]) AND claim = ANY ($3::bigint[]) GROUP BY claim`,
    [
      claims.map(({ user }) => user),
      [...new Set(claims.map(({ contact }) => contact))],
      claims.map(({ claim }) => claim),
    ],
  );
  return new Map(rows.map(({ claim, first }) => [claim, String(first)]));
};

/** Up to `most` links to these contacts that were made after a sequence, ascending, and how many links there are in all. */
export const linksAfter = async (
  db: Connection,
  contacts: readonly number[],
  sequence: number,
  most: number,
): Promise<{ links: StatementRow[]; count: number }> => {
  const asked = [await usersOf(db, contacts), contacts];
  const toContacts = 'FROM statement WHERE "user" = ANY ($1::bigint[]) AND contact = ANY ($2::bigint[])';
  const [{ count }, rows] = await Promise.all([
    db.one<{ count: number }>(`SELECT count(*)::integer AS count ${toContacts}`, asked),
    db.all<Row>(
      `SELECT "user", sequence, contact, claim, verified, voided, time ${toContacts} AND sequence > $3
       ORDER BY sequence LIMIT $4`,
      [...asked, sequence, most],
    ),
  ]);
  const marks = await marksOf(db, rows);
  return { links: rows.map((row) => toStatement(row, marks.get(row.claim ?? 0))), count };
};

/** The users who were ever linked to one of these contacts. */
export const usersOf = async (db: Connection, contacts: readonly number[]): Promise<number[]> => {
  const rows = await db.all<{ user: number }>(
    'SELECT DISTINCT "user" FROM contact_user WHERE contact = ANY ($1::bigint[])',
    [contacts],
  );
  return rows.map(({ user }) => user);
};
