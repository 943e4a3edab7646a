/** Deletes the oldest claims and claimed links beyond the limits of a contact or user, as if they had never existed. */
import { limits } from '@firsthand/contract/limits';
import { maxDroppedPerStep, type StatementRow } from '../../rules/links.ts';
import type { Transaction } from '../transactions/transaction.ts';
import { claimKey } from './claims.ts';
import { lockFreeUsers } from './row-locks.ts';

const claimsPerQuery = 20;

/**
 * SQL for the unaccepted claims of the contact $2 with the key of its claim $3. Limits apply to each key, so that a
 * page cannot see which of its keys find the same contact.
 */
const open = `
  FROM claim WHERE account = $1 AND contact = $2 AND NOT accepted
    AND ${claimKey} = (SELECT ${claimKey} FROM claim WHERE account = $1 AND contact = $2 AND claim = $3)`;

interface OldClaim {
  readonly claim: number;
  readonly claimID: string;
  readonly user: number;
}

/** Returns the claims that may be deleted: their users are not locked, and none of their links is verified. */
const listDeletable = async (db: Transaction, claims: readonly OldClaim[]): Promise<OldClaim[]> => {
  const users = claims.map(({ user }) => user);
  const lockedUsers = await lockFreeUsers(db, users);
  const verified = await db.all<{ claim: number }>(
    `SELECT claim FROM statement
     WHERE account = $1 AND "user" = ANY ($2::bigint[]) AND claim = ANY ($3::bigint[]) AND verified`,
    [db.account, [...lockedUsers], claims.map(({ claim }) => claim)],
  );
  const verifiedClaims = new Set(verified.map(({ claim }) => claim));
  return claims.filter(({ user, claim }) => lockedUsers.has(user) && !verifiedClaims.has(claim));
};

/** Deletes claims for a contact and their links. The caller must have locked the users' rows. */
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
 * Makes room for a new claim: deletes the oldest claims with its key beyond `limits.claimsPerContact`, and their links,
 * except accepted claims and claims with a verified link.
 */
export const dropSurplusClaims = async (db: Transaction, contact: number, newClaim: number): Promise<void> => {
  const { surplus } = await db.one<{ surplus: number }>(
    `SELECT count(*) AS surplus FROM (
       SELECT 1 ${open} LIMIT ${maxDroppedPerStep} OFFSET ${limits.claimsPerContact}
     ) AS beyond`,
    [db.account, contact, newClaim],
  );
  let after = 0;
  for (let left = surplus; left > 0; ) {
    const rows = await db.all<OldClaim>(
      `SELECT claim, "claimID", "user" ${open} AND claim <> $3 AND claim > $4
       ORDER BY claim LIMIT ${claimsPerQuery} FOR UPDATE SKIP LOCKED`,
      [db.account, contact, newClaim, after],
    );
    const deletable = (await listDeletable(db, rows)).slice(0, left);
    await dropClaims(db, contact, deletable);
    left -= deletable.length;
    if (rows.length < claimsPerQuery) return;
    after = (rows.at(-1) as OldClaim).claim;
  }
};

/** SQL for the claims of the user $4 for the contact $2 with the key of its claim $3. */
const ofKey = `
  FROM claim WHERE account = $1 AND contact = $2 AND "user" = $4
    AND ${claimKey} = (SELECT ${claimKey} FROM claim WHERE account = $1 AND contact = $2 AND claim = $3)`;

/**
 * Deletes links of a user, whose row the caller must have locked, and the user's unaccepted claims with a key whose
 * last link this is. A link stays while another transaction has locked its claim, because it may be accepting it.
 */
export const dropLinks = async (
  db: Transaction,
  user: number,
  chosen: readonly Pick<StatementRow, 'sequence' | 'contact' | 'claim'>[],
): Promise<void> => {
  if (chosen.length === 0) return;
  const lockedClaims = await db.all<{ claim: number }>(
    `SELECT claim FROM claim
     WHERE account = $1 AND contact = ANY ($2::bigint[]) AND claim = ANY ($3::bigint[]) AND NOT accepted
     FOR UPDATE SKIP LOCKED`,
    [db.account, chosen.map(({ contact }) => contact), chosen.map(({ claim }) => claim)],
  );
  const deletedLinks = await db.all<{ contact: number; claim: number }>(
    `WITH gone AS (
       DELETE FROM statement
       WHERE account = $1 AND "user" = $2 AND sequence = ANY ($3::bigint[]) AND claim = ANY ($4::bigint[]) AND NOT verified
       RETURNING sequence, contact, claim
     ), places AS (DELETE FROM statement_place p USING gone WHERE p.account = $1 AND p.sequence = gone.sequence)
     SELECT DISTINCT contact, claim FROM gone`,
    [db.account, user, chosen.map(({ sequence }) => sequence), lockedClaims.map(({ claim }) => claim)],
  );
  for (const { contact, claim } of deletedLinks) {
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
 * Makes room for a claimed link: deletes up to `maxDroppedPerStep` of the oldest claimed links by the same key beyond
 * `limits.claimedLinksPerContact`. Links of locked users stay until the next call.
 */
export const dropSurplusLinks = async (db: Transaction, contact: number, claim: number | null): Promise<void> => {
  const surplus = await db.all<Pick<StatementRow, 'sequence' | 'user' | 'contact' | 'claim'>>(
    `SELECT sequence, "user", contact, claim ${claimedLinks} ORDER BY sequence LIMIT (
       SELECT count(*) FROM (SELECT 1 ${claimedLinks} LIMIT ${maxDroppedPerStep} OFFSET ${limits.claimedLinksPerContact}) AS beyond
     )`,
    [db.account, contact, claim],
  );
  const users = surplus.map(({ user }) => user);
  for (const user of await lockFreeUsers(db, users)) {
    const links = surplus.filter((link) => link.user === user);
    await dropLinks(db, user, links);
  }
};
