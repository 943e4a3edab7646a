/** Claims: values about a contact that a browser has sent. They are stored separately from the contact. */
import { limits } from '@firsthand/contract/limits';
import { compareClaims } from '../../../identity/contact-view.ts';
import { tokenIDsOf } from '../../operations/public-ids.ts';
import { type ClaimRow, type StoredValues, toValues } from '../../rules/claims.ts';
import type { AccountConnection } from '../database/connection.ts';
import { runOperation } from '../transactions/operations.ts';

type Row = Omit<ClaimRow, 'values'> & { readonly said: StoredValues };

const toClaim = <One extends Row>({ said, ...row }: One) => ({ ...row, values: toValues(said) });

/** Returns the claims with these claimIDs. */
export const findClaims = async (db: AccountConnection, claimIDs: readonly string[]): Promise<ClaimRow[]> => {
  const places = await db.all<{ claim: number; contact: number }>(
    'SELECT claim, contact FROM claim_name WHERE account = $1 AND "claimID" = ANY ($2::text[])',
    [db.account, claimIDs],
  );
  if (places.length === 0) return [];
  const rows = await db.all<Row>(
    'SELECT * FROM claim WHERE account = $1 AND contact = ANY ($2::bigint[]) AND claim = ANY ($3::bigint[])',
    [db.account, places.map(({ contact }) => contact), places.map(({ claim }) => claim)],
  );
  return rows.map(toClaim);
};

export const findClaim = async (db: AccountConnection, claimID: string): Promise<ClaimRow | undefined> =>
  (await findClaims(db, [claimID]))[0];

type Mark = Pick<ClaimRow, 'contact' | 'claim' | 'user' | 'accepted' | 'voided'>;

/**
 * Returns a function that looks up the sequence of the newest valid link from a claim's user to its contact; 0 if there
 * is none.
 */
const newestLinksOf = async (db: AccountConnection, marks: readonly Mark[]) => {
  const rows = await db.all<{ user: number; contact: number; newest: number }>(
    `SELECT "user", contact, max(sequence) AS newest FROM statement
     WHERE account = $1 AND "user" = ANY ($2::bigint[]) AND contact = ANY ($3::bigint[]) AND voided = 0
     GROUP BY "user", contact`,
    [db.account, [...new Set(marks.map(({ user }) => user))], [...new Set(marks.map(({ contact }) => contact))]],
  );
  const newest = new Map(rows.map((row) => [`${row.user} ${row.contact}`, row.newest]));
  return ({ user, contact }: Mark): number => newest.get(`${user} ${contact}`) ?? 0;
};

/**
 * Returns up to `limits.openClaimsPerContact` of each contact's claims, by precedence in its view (contact-view.ts).
 */
export const claimsOf = async (
  db: AccountConnection,
  contacts: readonly number[],
): Promise<(ClaimRow & { readonly newestLink: number })[]> => {
  const marks = await db.all<Mark>(
    'SELECT contact, claim, "user", accepted, voided FROM claim WHERE account = $1 AND contact = ANY ($2::bigint[])',
    [db.account, contacts],
  );
  if (marks.length === 0) return [];
  const newestLinkOf = await newestLinksOf(db, marks);
  const weighed = marks.map((mark) => ({ ...mark, newestLink: newestLinkOf(mark) })).sort(compareClaims);
  const counts = new Map<number, number>();
  const chosen = weighed.filter(({ contact }) => {
    const count = counts.get(contact) ?? 0;
    counts.set(contact, count + 1);
    return count < limits.openClaimsPerContact;
  });
  const rows = await db.all<Row>(
    'SELECT * FROM claim WHERE account = $1 AND contact = ANY ($2::bigint[]) AND claim = ANY ($3::bigint[])',
    [db.account, contacts, chosen.map(({ claim }) => claim)],
  );
  return rows.map((row) => ({ ...toClaim(row), newestLink: newestLinkOf(row) }));
};

/** Returns up to `limit` claims for these contacts, numbered above `claim`, in ascending order. */
export const claimsAfter = async (
  db: AccountConnection,
  contacts: readonly number[],
  claim: number,
  limit: number,
): Promise<(ClaimRow & { readonly tokenID: string })[]> => {
  const rows = await db.all<Row>(
    'SELECT * FROM claim WHERE account = $1 AND contact = ANY ($2::bigint[]) AND claim > $3 ORDER BY claim LIMIT $4',
    [db.account, contacts, claim, limit],
  );
  const tokenIDs = await runOperation(db, tokenIDsOf(rows.map(({ token }) => token)));
  return rows.map((row) => ({ ...toClaim(row), tokenID: tokenIDs.get(row.token)?.tokenID as string }));
};

export const countClaims = async (db: AccountConnection, contacts: readonly number[]): Promise<number> => {
  const sql = 'SELECT count(*) AS count FROM claim WHERE account = $1 AND contact = ANY ($2::bigint[])';
  return (await db.one<{ count: number }>(sql, [db.account, contacts])).count;
};
