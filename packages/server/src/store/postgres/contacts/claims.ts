/** Claims: values about a contact that a browser sent, stored separately from the contact. */
import { limits } from '@firsthand/contract/limits';
import { compareClaims } from '../../../identity/contact-view.ts';
import { readEntryMerges } from '../../operations/catalogues.ts';
import { tokenIDsOf } from '../../operations/public-ids.ts';
import {
  type ClaimRow,
  chooseClaimContact,
  type StoredValues,
  toClaimJSON,
  toClaimKeyText,
  toValues,
} from '../../rules/claims.ts';
import type { NewContact } from '../../store.ts';
import { type AccountConnection, ConcurrentChange } from '../database/connection.ts';
import { runOperation } from '../transactions/operations.ts';
import type { Transaction } from '../transactions/transaction.ts';
import { groupOf } from './merges.ts';

type Row = Omit<ClaimRow, 'values'> & { readonly said: StoredValues };

/** The key of a claim (toClaimKeyText). An index has the same expression. */
export const claimKey = `coalesce(
  'contactEmailaddress ' || (said -> 'fields' ->> 'contactEmailaddress'),
  'contactExternalID ' || (said -> 'fields' ->> 'contactExternalID'))`;

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
 * Returns a function that returns the sequence of the newest valid link of a claim's user to its contact; 0 without
 * any.
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

/** Returns up to `limits.openClaimsPerContact` claims of each contact, by precedence in its view (contact-view.ts). */
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

/** Returns up to `limit` claims for these contacts with greater numbers than `claim`, in ascending order. */
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

/** Whether a claim of the contact is accepted and not voided. */
export const hasAcceptedClaim = async (db: AccountConnection, contact: number): Promise<boolean> =>
  (await db.get('SELECT FROM claim WHERE account = $1 AND contact = $2 AND accepted AND NOT voided LIMIT 1', [
    db.account,
    contact,
  ])) !== undefined;

export const countClaims = async (db: AccountConnection, contacts: readonly number[]): Promise<number> => {
  const sql = 'SELECT count(*) AS count FROM claim WHERE account = $1 AND contact = ANY ($2::bigint[])';
  return (await db.one<{ count: number }>(sql, [db.account, contacts])).count;
};

/**
 * Stores a claim, or adds values to the open claim of this token, user, contact and key (rules/claims.ts). Claims
 * differ by key, so that a handle does not show that two keys belong to one contact.
 *
 * `keyHolder`: the contact that has the key. Returns the claim's contact (chooseClaimContact), and the user's
 * `earlierClaims` with this key. The caller must hold the locks of the user's and the key's rows.
 */
export const submitClaim = async (
  db: Transaction,
  request: NewContact,
  user: number,
  keyHolder: number,
): Promise<{ claim: number; claimID: string; contact: number; earlierClaims: number[] }> => {
  const { token, newHandle, time } = request;
  const merges = await runOperation(db, readEntryMerges(db.account));
  const earlier = await db.all<
    Pick<ClaimRow, 'claim' | 'claimID' | 'contact' | 'token'> & { said: StoredValues; open: boolean }
  >(
    `SELECT claim, "claimID", contact, said, token, NOT accepted AND NOT voided AS open FROM claim
     WHERE account = $1 AND contact = ANY ($2::bigint[]) AND "user" = $3 AND ${claimKey} = $4
     ORDER BY contact, claim FOR NO KEY UPDATE`,
    [db.account, await groupOf(db, keyHolder), user, toClaimKeyText(request)],
  );
  const earlierClaims = earlier.map(({ claim }) => claim);
  const before = earlier.find((claim) => claim.token === token && claim.open);
  if (before) {
    await db.run('UPDATE claim SET said = $4, "updatedTime" = $5 WHERE account = $1 AND contact = $2 AND claim = $3', [
      db.account,
      before.contact,
      before.claim,
      toClaimJSON(request, merges, before.said),
      time,
    ]);
    return { ...before, earlierClaims };
  }
  const contact = chooseClaimContact(earlier, keyHolder);
  const { claim } = await db.one<{ claim: number }>(
    `INSERT INTO claim (account, contact, claim, "claimID", token, "user", said, accepted, voided, "createdTime", "updatedTime")
     VALUES ($1, $2, nextval('claim_number'), $3, $4, $5, $6, false, false, $7, $7) RETURNING claim`,
    [db.account, contact, newHandle, token, user, toClaimJSON(request, merges), time],
  );
  await db.run('INSERT INTO claim_name (account, "claimID", claim, contact) VALUES ($1, $2, $3, $4)', [
    db.account,
    newHandle,
    claim,
    contact,
  ]);
  return { claim, claimID: newHandle, contact, earlierClaims };
};

/**
 * Accepts, voids or restores a claim. An accepted claim stays accepted. Throws ConcurrentChange if it was deleted
 * meanwhile.
 */
export const markClaim = async (
  db: Transaction,
  { contact, claim }: ClaimRow,
  { accepted = false, voided, time }: { accepted?: boolean; voided: boolean; time: number },
): Promise<void> => {
  const marked = await db.run(
    `UPDATE claim SET accepted = accepted OR $4, voided = $5, "updatedTime" = $6
     WHERE account = $1 AND contact = $2 AND claim = $3`,
    [db.account, contact, claim, accepted, voided, time],
  );
  if (marked === 0) throw new ConcurrentChange();
};
