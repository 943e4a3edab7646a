/** Deletes the oldest claims and claimed links beyond the limits of a contact or user, as if they had never been made. */
import { limits } from '@firsthand/contract/limits';
import { maxGivingWay, type StatementRow } from '../../rules/links.ts';
import type { Transaction } from '../transactions/transaction.ts';
import { claimKey } from './claims.ts';
import { holdFreeUsers } from './held-rows.ts';

const claimsPerLook = 20;

/**
 * Claims of the contact $2 with the key of its claim $3, not accepted. Only claims of one key are counted and deleted: otherwise a
 * page could see which of its keys find one contact.
 */
const open = `
  FROM claim WHERE account = $1 AND contact = $2 AND NOT accepted
    AND ${claimKey} = (SELECT ${claimKey} FROM claim WHERE account = $1 AND contact = $2 AND claim = $3)`;

interface OldClaim {
  readonly claim: number;
  readonly claimID: string;
  readonly user: number;
}

/** Returns the claims that may be deleted: no other transaction holds their users, and none of their links is verified. */
const mayGiveWay = async (db: Transaction, claims: readonly OldClaim[]): Promise<OldClaim[]> => {
  const users = claims.map(({ user }) => user);
  const held = await holdFreeUsers(db, users);
  const verified = await db.all<{ claim: number }>(
    `SELECT claim FROM statement
     WHERE account = $1 AND "user" = ANY ($2::bigint[]) AND claim = ANY ($3::bigint[]) AND verified`,
    [db.account, [...held], claims.map(({ claim }) => claim)],
  );
  const kept = new Set(verified.map(({ claim }) => claim));
  return claims.filter(({ user, claim }) => held.has(user) && !kept.has(claim));
};

/** Deletes claims for a contact, and the links that they made. The caller must hold their users' rows. */
const dropClaims = async (db: Transaction, contact: number, claims: readonly OldClaim[]): Promise<void> => {
  if (claims.length === 0) return;
  const users = claims.map(({ user }) => user);
  const numbers = claims.map(({ claim }) => claim);
  await db.run(
    `WITH gone AS (
       DELETE FROM statement WHERE account = $1 AND "user" = ANY ($2::bigint[]) AND claim = ANY ($3::bigint[])
       RETURNING sequence
     )
     DELETE FROM statement_place p USING gone WHERE p.account = $1 AND p.sequence = gone.sequence`,
    [db.account, users, numbers],
  );
  await Promise.all([
    db.run(
      `DELETE FROM contact_user c WHERE account = $1 AND contact = $2 AND "user" = ANY ($3::bigint[])
         AND NOT EXISTS (SELECT FROM statement s WHERE s.account = $1 AND s."user" = c."user" AND s.contact = c.contact)`,
      [db.account, contact, users],
    ),
    db.run('DELETE FROM claim_name WHERE account = $1 AND "claimID" = ANY ($2::text[])', [
      db.account,
      claims.map(({ claimID }) => claimID),
    ]),
    db.run('DELETE FROM claim WHERE account = $1 AND contact = $2 AND claim = ANY ($3::bigint[])', [
      db.account,
      contact,
      numbers,
    ]),
  ]);
};

/**
 * Makes room for the new claim `made`: deletes the oldest claims with its key beyond `limits.claimsPerContact`, with their links.
 * Accepted claims, and claims with a verified link, stay.
 */
export const dropSurplusClaims = async (db: Transaction, contact: number, made: number): Promise<void> => {
  const { surplus } = await db.one<{ surplus: number }>(
    `SELECT count(*) AS surplus FROM (
       SELECT 1 ${open} LIMIT ${maxGivingWay} OFFSET ${limits.claimsPerContact}
     ) AS beyond`,
    [db.account, contact, made],
  );
  let after = 0;
  for (let left = surplus; left > 0; ) {
    const looked = await db.all<OldClaim>(
      `SELECT claim, "claimID", "user" ${open} AND claim <> $3 AND claim > $4
       ORDER BY claim LIMIT ${claimsPerLook} FOR UPDATE SKIP LOCKED`,
      [db.account, contact, made, after],
    );
    const going = (await mayGiveWay(db, looked)).slice(0, left);
    await dropClaims(db, contact, going);
    left -= going.length;
    if (looked.length < claimsPerLook) return;
    after = (looked.at(-1) as OldClaim).claim;
  }
};

/** Claims of the user $4 for the contact $2 with the key of its claim $3. */
const ofKey = `
  FROM claim WHERE account = $1 AND contact = $2 AND "user" = $4
    AND ${claimKey} = (SELECT ${claimKey} FROM claim WHERE account = $1 AND contact = $2 AND claim = $3)`;

/**
 * Deletes links of a user, whose row the caller must hold. When none of the user's claims with the key of such a link has a link
 * left, also deletes those that are not accepted. A link stays while another transaction holds its claim, which may be accepting it.
 */
export const dropLinks = async (
  db: Transaction,
  user: number,
  chosen: readonly Pick<StatementRow, 'sequence' | 'contact' | 'claim'>[],
): Promise<void> => {
  if (chosen.length === 0) return;
  const held = await db.all<{ claim: number }>(
    `SELECT claim FROM claim
     WHERE account = $1 AND contact = ANY ($2::bigint[]) AND claim = ANY ($3::bigint[]) AND NOT accepted
     FOR UPDATE SKIP LOCKED`,
    [db.account, chosen.map(({ contact }) => contact), chosen.map(({ claim }) => claim)],
  );
  const gone = await db.all<{ contact: number; claim: number }>(
    `WITH gone AS (
       DELETE FROM statement
       WHERE account = $1 AND "user" = $2 AND sequence = ANY ($3::bigint[]) AND claim = ANY ($4::bigint[]) AND NOT verified
       RETURNING sequence, contact, claim
     ), places AS (DELETE FROM statement_place p USING gone WHERE p.account = $1 AND p.sequence = gone.sequence)
     SELECT DISTINCT contact, claim FROM gone`,
    [db.account, user, chosen.map(({ sequence }) => sequence), held.map(({ claim }) => claim)],
  );
  for (const { contact, claim } of gone) {
    const claims = await db.all<OldClaim>(
      `SELECT claim, "claimID", "user" ${ofKey} AND NOT accepted
         AND NOT EXISTS (
           SELECT FROM statement s WHERE s.account = $1 AND s."user" = $4 AND s.claim IN (SELECT claim ${ofKey})
         ) FOR UPDATE`,
      [db.account, contact, claim, user],
    );
    await dropClaims(db, contact, claims);
  }
};

const claimedLinks = `FROM statement WHERE account = $1 AND contact = $2 AND claim IN (SELECT claim ${open}) AND NOT verified`;

/**
 * Makes room for a link by the claim `made`: deletes the oldest claimed links by the same key beyond
 * `limits.claimedLinksPerContact`, up to `maxGivingWay` of them. Links of users that another transaction holds stay until the next call.
 */
export const dropSurplusLinks = async (db: Transaction, contact: number, made: number | null): Promise<void> => {
  const surplus = await db.all<Pick<StatementRow, 'sequence' | 'user' | 'contact' | 'claim'>>(
    `SELECT sequence, "user", contact, claim ${claimedLinks} ORDER BY sequence LIMIT (
       SELECT count(*) FROM (SELECT 1 ${claimedLinks} LIMIT ${maxGivingWay} OFFSET ${limits.claimedLinksPerContact}) AS beyond
     )`,
    [db.account, contact, made],
  );
  const users = surplus.map(({ user }) => user);
  for (const user of await holdFreeUsers(db, users)) {
    const links = surplus.filter((link) => link.user === user);
    await dropLinks(db, user, links);
  }
};
