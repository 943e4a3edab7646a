/** Claims: the values of a contact that a browser sent, stored beside the contact. */
import { limits } from '@firsthand/contract/limits';
import { byWeight } from '../../../identity/contact-view.ts';
import { type ClaimRow, claimedBy, type StoredValues, toValues } from '../../rules/claims.ts';
import type { NewContact } from '../../store.ts';
import { type Connection, Overtaken } from '../database/connection.ts';
import type { Transaction } from '../transactions/transaction.ts';

type Row = Omit<ClaimRow, 'values'> & { readonly said: StoredValues };

const toClaim = <One extends Row>({ said, ...row }: One) => ({ ...row, values: toValues(said) });

/** Returns the claims with these claimIDs, of any account. */
export const findClaims = async (db: Connection, claimIDs: readonly string[]): Promise<ClaimRow[]> => {
  const places = await db.all<{ claim: number; contact: number }>(
    'SELECT claim, contact FROM claim_name WHERE "claimID" = ANY ($1::text[])',
    [claimIDs],
  );
  if (places.length === 0) return [];
  const rows = await db.all<Row>(
    'SELECT * FROM claim WHERE contact = ANY ($1::bigint[]) AND claim = ANY ($2::bigint[])',
    [places.map(({ contact }) => contact), places.map(({ claim }) => claim)],
  );
  return rows.map(toClaim);
};

export const findClaim = async (db: Connection, account: number, claimID: string): Promise<ClaimRow | undefined> =>
  (await findClaims(db, [claimID])).find((claim) => claim.account === account);

type Mark = Pick<ClaimRow, 'contact' | 'claim' | 'user' | 'accepted' | 'voided'>;

/** Returns a function that returns the sequence of the newest link of a claim's user to its contact, not voided; 0: none. */
const newestLinksOf = async (db: Connection, marks: readonly Mark[]) => {
  const rows = await db.all<{ user: number; contact: number; newest: number }>(
    `SELECT "user", contact, max(sequence) AS newest FROM statement
     WHERE "user" = ANY ($1::bigint[]) AND contact = ANY ($2::bigint[]) AND voided = 0 GROUP BY "user", contact`,
    [[...new Set(marks.map(({ user }) => user))], [...new Set(marks.map(({ contact }) => contact))]],
  );
  const newest = new Map(rows.map((row) => [`${row.user} ${row.contact}`, row.newest]));
  return ({ user, contact }: Mark): number => newest.get(`${user} ${contact}`) ?? 0;
};

/**
 * Returns the claims of contacts: of each at most `limits.openClaimsPerContact`, those that take precedence in its view
 * (identity/contact-view.ts).
 */
export const claimsOf = async (
  db: Connection,
  contacts: readonly number[],
): Promise<(ClaimRow & { readonly newestLink: number })[]> => {
  const marks = await db.all<Mark>(
    'SELECT contact, claim, "user", accepted, voided FROM claim WHERE contact = ANY ($1::bigint[])',
    [contacts],
  );
  if (marks.length === 0) return [];
  const newestLinkOf = await newestLinksOf(db, marks);
  const weighed = marks.map((mark) => ({ ...mark, newestLink: newestLinkOf(mark) })).sort(byWeight);
  const counts = new Map<number, number>();
  const chosen = weighed.filter(({ contact }) => {
    const count = counts.get(contact) ?? 0;
    counts.set(contact, count + 1);
    return count < limits.openClaimsPerContact;
  });
  const rows = await db.all<Row>(
    'SELECT * FROM claim WHERE contact = ANY ($1::bigint[]) AND claim = ANY ($2::bigint[])',
    [contacts, chosen.map(({ claim }) => claim)],
  );
  return rows.map((row) => ({ ...toClaim(row), newestLink: newestLinkOf(row) }));
};

/** Returns up to `most` claims for these contacts with greater numbers than `claim`, ascending. */
export const claimsAfter = async (
  db: Connection,
  contacts: readonly number[],
  claim: number,
  most: number,
): Promise<(ClaimRow & { readonly tokenID: string })[]> => {
  const rows = await db.all<Row & { tokenID: string }>(
    `SELECT c.*, t."tokenID" FROM claim c JOIN token t ON t.token = c.token
     WHERE c.contact = ANY ($1::bigint[]) AND c.claim > $2 ORDER BY c.claim LIMIT $3`,
    [contacts, claim, most],
  );
  return rows.map(toClaim);
};

export const countClaims = async (db: Connection, contacts: readonly number[]): Promise<number> => {
  const sql = 'SELECT count(*) AS count FROM claim WHERE contact = ANY ($1::bigint[])';
  return (await db.one<{ count: number }>(sql, [contacts])).count;
};

/**
 * Stores a claim. There is one open claim for each token, user, contact and address: later values are added to it, but never to an
 * accepted or voided claim. The address is included so that a handle does not show that two addresses belong to one contact.
 * `wasGiven`: the user has claimed this address for this contact before. The caller must hold the user's row.
 */
export const submitClaim = async (
  db: Transaction,
  request: NewContact,
  user: number,
  contact: number,
): Promise<{ claim: number; claimID: string; wasGiven: boolean }> => {
  const { account, token, address, newHandle, time } = request;
  const earlier = await db.all<{ claim: number; claimID: string; said: StoredValues; token: number; open: boolean }>(
    `SELECT claim, "claimID", said, token, NOT accepted AND NOT voided AS open FROM claim
     WHERE contact = $1 AND "user" = $2 AND said -> 'fields' ->> 'contactEmailaddress' = $3 FOR NO KEY UPDATE`,
    [contact, user, address],
  );
  const wasGiven = earlier.length > 0;
  const before = earlier.find((claim) => claim.token === token && claim.open);
  if (before) {
    await db.run('UPDATE claim SET said = $3, "updatedTime" = $4 WHERE contact = $1 AND claim = $2', [
      contact,
      before.claim,
      claimedBy(request, before.said),
      time,
    ]);
    return { ...before, wasGiven };
  }
  const { claim } = await db.one<{ claim: number }>(
    `INSERT INTO claim (contact, claim, "claimID", account, token, "user", said, accepted, voided, "createdTime", "updatedTime")
     VALUES ($1, nextval('claim_number'), $2, $3, $4, $5, $6, false, false, $7, $7) RETURNING claim`,
    [contact, newHandle, account, token, user, claimedBy(request), time],
  );
  await db.run('INSERT INTO claim_name ("claimID", claim, contact) VALUES ($1, $2, $3)', [newHandle, claim, contact]);
  return { claim, claimID: newHandle, wasGiven };
};

/** Marks a claim. An accepted claim stays accepted. Throws Overtaken when the claim was deleted meanwhile. */
export const markClaim = async (
  db: Transaction,
  { contact, claim }: ClaimRow,
  { accepted = false, voided, time }: { accepted?: boolean; voided: boolean; time: number },
): Promise<void> => {
  const marked = await db.run(
    `UPDATE claim SET accepted = accepted OR $3, voided = $4, "updatedTime" = $5 WHERE contact = $1 AND claim = $2`,
    [contact, claim, accepted, voided, time],
  );
  if (marked === 0) throw new Overtaken();
};
