/** Reads users' statements in the form that the rules in identity/ expect. */
import { applyClaimMarks } from '../../../identity/statements.ts';
import type { StatementRow, StatementWithClaim } from '../../rules/links.ts';
import type { AccountConnection } from '../database/connection.ts';

export type Facts = Omit<StatementWithClaim, 'voided'> & { readonly user: number; readonly voided: number };
type Row = Facts & Pick<StatementRow, 'time'>;
export const factColumns = '"user", sequence, contact, claim, verified, voided';

export interface ClaimMarks {
  readonly claimID: string;
  readonly accepted: boolean;
  readonly voided: boolean;
}

/** Returns the marks of these statements' claims, by claim. Reads all claims, or only accepted and voided claims. */
const marksOf = async (
  db: AccountConnection,
  statements: readonly { readonly claim: number | null; readonly contact: number | null }[],
  which: 'all' | 'marked',
): Promise<Map<number, ClaimMarks>> => {
  const claimed = statements.filter(({ claim }) => claim !== null);
  if (claimed.length === 0) return new Map();
  const rows = await db.all<ClaimMarks & { readonly claim: number }>(
    `SELECT claim, "claimID", accepted, voided FROM claim
     WHERE account = $1 AND contact = ANY ($2::bigint[]) AND claim = ANY ($3::bigint[])
       ${which === 'all' ? '' : 'AND (accepted OR voided)'}`,
    [db.account, claimed.map(({ contact }) => contact), claimed.map(({ claim }) => claim)],
  );
  return new Map(rows.map((row) => [row.claim, row]));
};

export const toDecidingStatement = (
  { sequence, contact, claim, verified, voided }: Facts,
  marks: ClaimMarks | undefined,
): StatementWithClaim & Pick<StatementRow, 'onlyClaimed'> => ({
  sequence,
  contact,
  claim,
  ...applyClaimMarks({ verified, voided: voided !== 0 }, marks),
});

const toStatement = (row: Row, marks: ClaimMarks | undefined): StatementRow => ({
  ...toDecidingStatement(row, marks),
  user: row.user,
  time: row.time,
});

const listsOf = async <Read extends Facts, One>(
  db: AccountConnection,
  users: readonly number[],
  { columns, which }: { columns: string; which: 'all' | 'marked' },
  toOne: (row: Read, marks: ClaimMarks | undefined) => One,
): Promise<Map<number, One[]>> => {
  const lists = new Map<number, One[]>(users.map((user) => [user, []]));
  if (users.length === 0) return lists;
  const rows = await db.all<Read>(
    `SELECT ${columns} FROM statement WHERE account = $1 AND "user" = ANY ($2::bigint[])`,
    [db.account, [...lists.keys()].sort((a, b) => a - b)],
  );
  const marks = await marksOf(db, rows, which);
  // Sorts in JavaScript for the reason given in event-order.ts.
  for (const row of rows.sort((a, b) => a.sequence - b.sequence))
    lists.get(row.user)?.push(toOne(row, marks.get(row.claim ?? 0)));
  return lists;
};

/** Returns all statements of these users, by user and ascending by sequence. */
export const statementsOf = (db: AccountConnection, users: readonly number[]) =>
  listsOf(db, users, { columns: `${factColumns}, time`, which: 'all' }, toStatement);

/** Like `statementsOf`, with the user's last active day before each statement. */
export const datedStatementsOf = (db: AccountConnection, users: readonly number[]) =>
  listsOf(
    db,
    users,
    { columns: `${factColumns}, time, "seenDay"`, which: 'marked' },
    (row: Row & { readonly seenDay: number | null }, marks) => ({
      ...toDecidingStatement(row, marks),
      time: row.time,
      seenDay: row.seenDay,
    }),
  );

/** Like `statementsOf`, with only the fields that determine owners, in half the time. */
export const statementsForOwners = (db: AccountConnection, users: readonly number[]) =>
  listsOf(db, users, { columns: factColumns, which: 'marked' }, toDecidingStatement);

/** Returns the linkID of each claim's first link, by claim; claims without a link are absent. */
export const firstLinksOf = async (
  db: AccountConnection,
  claims: readonly { readonly claim: number; readonly user: number; readonly contact: number }[],
): Promise<Map<number, string>> => {
  const rows = await db.all<{ claim: number; first: number }>(
    `SELECT claim, min(sequence) AS first FROM statement
     WHERE account = $1 AND "user" = ANY ($2::bigint[]) AND contact = ANY ($3::bigint[]) AND claim = ANY ($4::bigint[])
     GROUP BY claim`,
    [
      db.account,
      claims.map(({ user }) => user),
      [...new Set(claims.map(({ contact }) => contact))],
      claims.map(({ claim }) => claim),
    ],
  );
  return new Map(rows.map(({ claim, first }) => [claim, String(first)]));
};

/** Returns up to `limit` links to these contacts after a sequence, ascending, and the total number of their links. */
export const linksAfter = async (
  db: AccountConnection,
  contacts: readonly number[],
  sequence: number,
  limit: number,
): Promise<{ links: StatementRow[]; count: number }> => {
  const toContacts = 'FROM statement WHERE account = $1 AND contact = ANY ($2::bigint[])';
  const [{ count }, rows] = await Promise.all([
    db.one<{ count: number }>(`SELECT count(*) AS count ${toContacts}`, [db.account, contacts]),
    db.all<Row>(`SELECT ${factColumns}, time ${toContacts} AND sequence > $3 ORDER BY sequence LIMIT $4`, [
      db.account,
      contacts,
      sequence,
      limit,
    ]),
  ]);
  const marks = await marksOf(db, rows, 'all');
  return { links: rows.map((row) => toStatement(row, marks.get(row.claim ?? 0))), count };
};

/** Returns all users ever linked to one of these contacts. */
export const usersOf = async (db: AccountConnection, contacts: readonly number[]): Promise<number[]> => {
  const rows = await db.all<{ user: number }>(
    'SELECT DISTINCT "user" FROM contact_user WHERE account = $1 AND contact = ANY ($2::bigint[])',
    [db.account, contacts],
  );
  return rows.map(({ user }) => user);
};
