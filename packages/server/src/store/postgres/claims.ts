/** Claims: what a browser said of a contact, kept beside it. */
import { limits } from '@firsthand/contract/limits';
import { mergeClaim, type Values } from '../../identity/contact-view.ts';
import { bounded, type Said, toSaid, toValues } from '../said.ts';
import type { Connection } from './connection.ts';
import type { Transaction } from './transaction.ts';

export interface ClaimRow {
  readonly claim: number;
  readonly claimID: string;
  readonly account: number;
  readonly token: number;
  readonly user: number;
  readonly contact: number;
  readonly values: Values;
  readonly accepted: boolean;
  readonly voided: boolean;
  readonly createdTime: number;
  readonly updatedTime: number;
}

type Row = Omit<ClaimRow, 'values'> & { said: Said };

const toClaim = ({ said, ...row }: Row): ClaimRow => ({ ...row, values: toValues(said) });

/** By claimID: those of the account. */
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

/** Of each contact, in their order, and however many there are, 25 at most: accepted ones before open ones before voided ones. */
export const claimsOf = async (db: Connection, contacts: readonly number[]): Promise<ClaimRow[]> => {
  const rows = await db.all<Row>(
    `SELECT found.* FROM unnest($1::bigint[]) AS asked (contact) CROSS JOIN LATERAL (
       SELECT * FROM claim c WHERE c.contact = asked.contact
       ORDER BY c.voided, c.accepted DESC, c.claim LIMIT ${limits.openClaimsPerContact}
     ) AS found ORDER BY found.claim`,
    [contacts],
  );
  return rows.map(toClaim);
};

export interface GivenClaim {
  readonly account: number;
  readonly token: number;
  readonly user: number;
  readonly contact: number;
  /** The e-mail address among them. */
  readonly values: Values;
  /** Its handle, if it is a new one. */
  readonly newHandle: string;
  readonly time: number;
}

/**
 * One open claim for each token, user, contact and address: what is said again is added to what was said, but never to
 * what was accepted. A handle must not show that two addresses are one contact's. `wasGiven`: this user has given the
 * address for this contact before. The user's row is to be held.
 */
export const sayClaim = async (
  db: Transaction,
  given: GivenClaim,
): Promise<{ claim: number; claimID: string; wasGiven: boolean }> => {
  const { account, token, user, contact, values, newHandle, time } = given;
  const earlier = await db.all<{ claim: number; claimID: string; said: Said; token: number; open: boolean }>(
    `SELECT claim, "claimID", said, token, NOT accepted AND NOT voided AS open FROM claim
     WHERE contact = $1 AND "user" = $2 AND said -> 'fields' ->> 'contactEmailaddress' = $3 FOR NO KEY UPDATE`,
    [contact, user, values.fields.contactEmailaddress],
  );
  const wasGiven = earlier.length > 0;
  const before = earlier.find((claim) => claim.token === token && claim.open);
  if (before) {
    const said = toSaid(bounded(mergeClaim(toValues(before.said), values)));
    await db.run('UPDATE claim SET said = $3, "updatedTime" = $4 WHERE contact = $1 AND claim = $2', [
      contact,
      before.claim,
      JSON.stringify(said),
      time,
    ]);
    return { ...before, wasGiven };
  }
  const { claim } = await db.one<{ claim: number }>(
    `INSERT INTO claim (contact, claim, "claimID", account, token, "user", said, accepted, voided, "createdTime", "updatedTime")
     VALUES ($1, nextval('claim_number'), $2, $3, $4, $5, $6, false, false, $7, $7) RETURNING claim`,
    [contact, newHandle, account, token, user, JSON.stringify(toSaid(values)), time],
  );
  await db.run('INSERT INTO claim_name ("claimID", claim, contact) VALUES ($1, $2, $3)', [newHandle, claim, contact]);
  return { claim, claimID: newHandle, wasGiven };
};

export const acceptClaim = (db: Transaction, { contact, claim }: ClaimRow, time: number) =>
  db.run('UPDATE claim SET accepted = true, voided = false, "updatedTime" = $3 WHERE contact = $1 AND claim = $2', [
    contact,
    claim,
    time,
  ]);

export const setClaimVoided = (db: Transaction, { contact, claim }: ClaimRow, voided: boolean, time: number) =>
  db.run('UPDATE claim SET voided = $3, "updatedTime" = $4 WHERE contact = $1 AND claim = $2', [
    contact,
    claim,
    voided,
    time,
  ]);
