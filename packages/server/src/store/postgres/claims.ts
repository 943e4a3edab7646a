/** Claims: what a browser said of a contact, kept beside it. */
import { limits } from '@firsthand/contract/limits';
import { byWeight, mergeClaim, type Values } from '../../identity/contact-view.ts';
import { bounded, type Said, toSaid, toValues } from '../said.ts';
import type { Connection } from './connection.ts';
import type { StatementRow } from './statements.ts';
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

type Mark = Pick<ClaimRow, 'contact' | 'claim' | 'user' | 'accepted' | 'voided'>;

/** The newest link of each claim's user to its contact. */
const newestLinksOf = async (db: Connection, marks: readonly Mark[]) => {
  const rows = await db.all<{ user: number; contact: number; newest: number }>(
    `SELECT "user", contact, max(sequence) AS newest FROM statement
     WHERE "user" = ANY ($1::bigint[]) AND contact = ANY ($2::bigint[]) AND voided = 0 GROUP BY "user", contact`,
    [[...new Set(marks.map(({ user }) => user))], [...new Set(marks.map(({ contact }) => contact))]],
  );
  const newest = new Map(rows.map((row) => [`${row.user} ${row.contact}`, row.newest]));
  return ({ user, contact }: Mark): number => newest.get(`${user} ${contact}`) ?? 0;
};

/** Of each contact, in their order, and however many there are, 25 at most: those that decide first (identity/contact-view.ts). */
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
  const weighed = new Map<number, (Mark & { newestLink: number })[]>();
  for (const mark of marks) {
    const ofContact = weighed.get(mark.contact) ?? [];
    ofContact.push({ ...mark, newestLink: newestLinkOf(mark) });
    weighed.set(mark.contact, ofContact);
  }
  const chosen = [...weighed.values()].flatMap((each) => each.sort(byWeight).slice(0, limits.openClaimsPerContact));
  const rows = await db.all<Row>(
    'SELECT * FROM claim WHERE contact = ANY ($1::bigint[]) AND claim = ANY ($2::bigint[]) ORDER BY claim',
    [contacts, chosen.map(({ claim }) => claim)],
  );
  const newestLinks = new Map(chosen.map(({ claim, newestLink }) => [claim, newestLink]));
  return rows.map((row) => ({ ...toClaim(row), newestLink: newestLinks.get(row.claim) ?? 0 }));
};

/** Up to `most` claims for these contacts whose number is greater, ascending. */
export const claimsAfter = async (
  db: Connection,
  contacts: readonly number[],
  claim: number,
  most: number,
): Promise<ClaimRow[]> => {
  const rows = await db.all<Row>(
    'SELECT * FROM claim WHERE contact = ANY ($1::bigint[]) AND claim > $2 ORDER BY claim LIMIT $3',
    [contacts, claim, most],
  );
  return rows.map(toClaim);
};

export const countClaims = async (db: Connection, contacts: readonly number[]): Promise<number> =>
  (
    await db.one<{ count: number }>('SELECT count(*)::integer AS count FROM claim WHERE contact = ANY ($1::bigint[])', [
      contacts,
    ])
  ).count;

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

/** So many give way to one: more than come in, so that a contact that has too many gets back to what it may have. */
const mostGivingWay = 10;
const claimsPerLook = 20;

interface OldClaim {
  readonly claim: number;
  readonly claimID: string;
  readonly user: number;
}

/** Those of these claims whose users nobody else holds now, and no link of which was verified. */
const mayGiveWay = async (db: Transaction, claims: readonly OldClaim[]): Promise<OldClaim[]> => {
  // Whoever holds one may wait for this transaction.
  const users = await db.all<{ user: number }>(
    'SELECT "user" FROM "user" WHERE "user" = ANY ($1::bigint[]) FOR NO KEY UPDATE SKIP LOCKED',
    [claims.map(({ user }) => user)],
  );
  const held = new Set(users.map(({ user }) => user));
  const verified = await db.all<{ claim: number }>(
    'SELECT claim FROM statement WHERE "user" = ANY ($1::bigint[]) AND claim = ANY ($2::bigint[]) AND verified',
    [[...held], claims.map(({ claim }) => claim)],
  );
  const kept = new Set(verified.map(({ claim }) => claim));
  return claims.filter(({ user, claim }) => held.has(user) && !kept.has(claim));
};

/** Deletes claims for a contact, and the links that they made. Their users' rows are to be held. */
const dropClaims = async (db: Transaction, contact: number, claims: readonly OldClaim[]): Promise<void> => {
  const users = claims.map(({ user }) => user);
  const numbers = claims.map(({ claim }) => claim);
  const links = await db.all<{ sequence: number }>(
    'DELETE FROM statement WHERE "user" = ANY ($1::bigint[]) AND claim = ANY ($2::bigint[]) RETURNING sequence',
    [users, numbers],
  );
  const linked = await db.all<{ user: number }>(
    'SELECT DISTINCT "user" FROM statement WHERE "user" = ANY ($1::bigint[]) AND contact = $2',
    [users, contact],
  );
  const still = new Set(linked.map(({ user }) => user));
  await Promise.all([
    db.run('DELETE FROM statement_place WHERE sequence = ANY ($1::bigint[])', [links.map(({ sequence }) => sequence)]),
    db.run('DELETE FROM contact_user WHERE contact = $1 AND "user" = ANY ($2::bigint[])', [
      contact,
      users.filter((user) => !still.has(user)),
    ]),
    db.run('DELETE FROM claim_name WHERE "claimID" = ANY ($1::text[])', [claims.map(({ claimID }) => claimID)]),
    db.run('DELETE FROM claim WHERE contact = $1 AND claim = ANY ($2::bigint[])', [contact, numbers]),
  ]);
};

/**
 * Makes room for a claim that was just made: beyond `limits.claimsPerContact` the oldest go, as if they had never been made,
 * with their links. One that was accepted, or whose link was verified, stays.
 */
export const giveWay = async (db: Transaction, contact: number, made: number): Promise<void> => {
  const { surplus } = await db.one<{ surplus: number }>(
    `SELECT count(*) AS surplus FROM (
       SELECT 1 FROM claim WHERE contact = $1 AND NOT accepted LIMIT ${mostGivingWay} OFFSET ${limits.claimsPerContact}
     ) AS beyond`,
    [contact],
  );
  let after = 0;
  for (let left = surplus; left > 0; ) {
    const looked = await db.all<OldClaim>(
      `SELECT claim, "claimID", "user" FROM claim WHERE contact = $1 AND NOT accepted AND claim > $2 AND claim <> $3
       ORDER BY claim LIMIT ${claimsPerLook} FOR UPDATE SKIP LOCKED`,
      [contact, after, made],
    );
    const going = (await mayGiveWay(db, looked)).slice(0, left);
    if (going.length > 0) await dropClaims(db, contact, going);
    left -= going.length;
    if (looked.length < claimsPerLook) return;
    after = (looked.at(-1) as OldClaim).claim;
  }
};

/**
 * Deletes links of a user, whose row is to be held, and where none is left to a contact, this user's claims for it that nobody
 * has accepted. A link stays whose claim another transaction holds: it may be accepting it.
 */
export const dropLinks = async (
  db: Transaction,
  user: number,
  chosen: readonly Pick<StatementRow, 'sequence' | 'contact' | 'claim'>[],
): Promise<void> => {
  if (chosen.length === 0) return;
  const open = await db.all<{ claim: number }>(
    `SELECT claim FROM claim WHERE contact = ANY ($1::bigint[]) AND claim = ANY ($2::bigint[]) AND NOT accepted
     FOR UPDATE SKIP LOCKED`,
    [chosen.map(({ contact }) => contact), chosen.map(({ claim }) => claim)],
  );
  const held = new Set(open.map(({ claim }) => claim));
  const links = chosen.filter(({ claim }) => held.has(claim as number));
  const sequences = links.map(({ sequence }) => sequence);
  const contacts = [...new Set(links.map(({ contact }) => contact as number))];
  await db.run('DELETE FROM statement WHERE "user" = $1 AND sequence = ANY ($2::bigint[])', [user, sequences]);
  await db.run('DELETE FROM statement_place WHERE sequence = ANY ($1::bigint[])', [sequences]);
  const linked = await db.all<{ contact: number }>(
    'SELECT DISTINCT contact FROM statement WHERE "user" = $1 AND contact = ANY ($2::bigint[])',
    [user, contacts],
  );
  const still = new Set(linked.map(({ contact }) => contact));
  const claims = await db.all<OldClaim & { contact: number }>(
    `SELECT contact, claim, "claimID", "user" FROM claim
     WHERE contact = ANY ($1::bigint[]) AND "user" = $2 AND NOT accepted FOR UPDATE`,
    [contacts.filter((contact) => !still.has(contact)), user],
  );
  for (const contact of new Set(claims.map((claim) => claim.contact))) {
    const ofContact = claims.filter((claim) => claim.contact === contact);
    await dropClaims(db, contact, ofContact);
  }
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
