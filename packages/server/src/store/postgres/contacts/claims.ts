/** Claims: the values of a contact that a browser sent, stored beside the contact. */
import { limits } from '@firsthand/contract/limits';
import { byWeight } from '../../../identity/contact-view.ts';
import {
  type ClaimRow,
  claimedBy,
  claimedContact,
  keyTextOf,
  type StoredValues,
  toValues,
} from '../../rules/claims.ts';
import type { NewContact } from '../../store.ts';
import { readMerges } from '../accounts/catalogues.ts';
import { type Connection, Overtaken } from '../database/connection.ts';
import type { Transaction } from '../transactions/transaction.ts';
import { groupOf } from './merges.ts';

type Row = Omit<ClaimRow, 'values'> & { readonly said: StoredValues };

/** The key of a claim (keyTextOf). An index has the same expression. */
export const claimKey = `coalesce(
  'contactEmailaddress ' || (said -> 'fields' ->> 'contactEmailaddress'),
  'contactExternalID ' || (said -> 'fields' ->> 'contactExternalID'))`;

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

/** Whether a claim of the contact is accepted and not voided. */
export const hasAcceptedClaim = async (db: Connection, contact: number): Promise<boolean> =>
  (await db.get('SELECT FROM claim WHERE contact = $1 AND accepted AND NOT voided LIMIT 1', [contact])) !== undefined;

export const countClaims = async (db: Connection, contacts: readonly number[]): Promise<number> => {
  const sql = 'SELECT count(*) AS count FROM claim WHERE contact = ANY ($1::bigint[])';
  return (await db.one<{ count: number }>(sql, [contacts])).count;
};

/**
 * Stores a claim. There is one open claim for each token, user, contact and key (rules/claims.ts): later values are added to it, but
 * never to an accepted or voided claim. The key is included so that a handle does not show that two of them belong to one contact.
 * `found`: the contact that has the key. `earlierClaims`: those of the user with this key. `contact`: that of the claim
 * (claimedContact). The caller must hold the user's row and that of the key.
 */
export const submitClaim = async (
  db: Transaction,
  request: NewContact,
  user: number,
  found: number,
): Promise<{ claim: number; claimID: string; contact: number; earlierClaims: number[] }> => {
  const { account, token, newHandle, time } = request;
  const merges = await readMerges(db, account);
  const earlier = await db.all<
    Pick<ClaimRow, 'claim' | 'claimID' | 'contact' | 'token'> & { said: StoredValues; open: boolean }
  >(
    `SELECT claim, "claimID", contact, said, token, NOT accepted AND NOT voided AS open FROM claim
     WHERE contact = ANY ($1::bigint[]) AND "user" = $2 AND ${claimKey} = $3
     ORDER BY contact, claim FOR NO KEY UPDATE`,
    [await groupOf(db, found), user, keyTextOf(request)],
  );
  const earlierClaims = earlier.map(({ claim }) => claim);
  const before = earlier.find((claim) => claim.token === token && claim.open);
  if (before) {
    await db.run('UPDATE claim SET said = $3, "updatedTime" = $4 WHERE contact = $1 AND claim = $2', [
      before.contact,
      before.claim,
      claimedBy(request, merges, before.said),
      time,
    ]);
    return { ...before, earlierClaims };
  }
  const contact = claimedContact(earlier, found);
  const { claim } = await db.one<{ claim: number }>(
    `INSERT INTO claim (contact, claim, "claimID", account, token, "user", said, accepted, voided, "createdTime", "updatedTime")
     VALUES ($1, nextval('claim_number'), $2, $3, $4, $5, $6, false, false, $7, $7) RETURNING claim`,
    [contact, newHandle, account, token, user, claimedBy(request, merges), time],
  );
  await db.run('INSERT INTO claim_name ("claimID", claim, contact) VALUES ($1, $2, $3)', [newHandle, claim, contact]);
  return { claim, claimID: newHandle, contact, earlierClaims };
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
