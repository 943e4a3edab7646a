/** Claims: what a browser token said of a contact, stored beside the contact. */
import { limits } from '@firsthand/contract/limits';
import { mergeClaim, type Values } from '../../../identity/contact-view.ts';
import { bounded, toStoredValues, toValues } from '../../rules/values-json.ts';
import type { Connection } from '../database/connection.ts';

export interface ClaimRow {
  readonly claim: number;
  readonly claimID: string;
  readonly account: number;
  readonly token: number;
  readonly tokenID: string;
  readonly user: number;
  readonly userUUID: string;
  readonly contact: number;
  readonly values: Values;
  readonly accepted: boolean;
  readonly voided: boolean;
  readonly createdTime: number;
  readonly updatedTime: number;
}

type Row = Omit<ClaimRow, 'values' | 'accepted' | 'voided'> & { said: string; accepted: number; voided: number };

const toClaim = ({ said, accepted, voided, ...row }: Row): ClaimRow => ({
  ...row,
  values: toValues(JSON.parse(said)),
  accepted: accepted === 1,
  voided: voided === 1,
});

const columns = `
  c.claim, c.claimID, c.account, c.token, t.tokenID, c.user, u.userUUID, c.contact, c.said, c.accepted, c.voided,
  c.createdTime, c.updatedTime
  FROM claim c JOIN token t ON t.token = c.token JOIN user u ON u.user = c.user`;

export const createClaimReader = (db: Connection) => {
  const isKept = 'NOT EXISTS (SELECT 1 FROM erasing_contact e WHERE e.contact = c.contact)';
  const byID = db.prepare<[number, string], Row>(
    `SELECT ${columns} WHERE c.account = ? AND c.claimID = ? AND ${isKept}`,
  );
  const byNumber = db.prepare<[number], Row>(`SELECT ${columns} WHERE c.claim = ? AND ${isKept}`);
  // The links are read once: a lookup for each claim would examine the links of all other claims.
  const ofContact = db.prepare<{ contact: number }, Row & { newestLink: number }>(
    `SELECT coalesce(l.newest, 0) AS newestLink, ${columns} LEFT JOIN (
       SELECT user, max(sequence) AS newest FROM statement WHERE contact = @contact AND NOT voided GROUP BY user
     ) l ON l.user = c.user
     WHERE c.contact = @contact ORDER BY c.voided, c.accepted DESC, newestLink DESC, c.claim LIMIT ${limits.openClaimsPerContact}`,
  );
  // The unary plus forces a sort: reading claims in the order of their keys would pass those of all other contacts.
  const after = db.prepare<[number, number, number], Row>(
    `SELECT ${columns} WHERE c.contact = ? AND +c.claim > ? ORDER BY +c.claim LIMIT ?`,
  );
  const count = db.prepare<[number], number>('SELECT count(*) FROM claim WHERE contact = ?').pluck();
  return {
    find: (account: number, claimID: string): ClaimRow | undefined => {
      const row = byID.get(account, claimID);
      return row && toClaim(row);
    },
    get: (claim: number): ClaimRow | undefined => {
      const row = byNumber.get(claim);
      return row && toClaim(row);
    },
    /**
     * Returns the claims of a contact in their order, at most `limits.openClaimsPerContact`: those that decide first
     * (identity/contact-view.ts).
     */
    ofContact: (contact: number): (ClaimRow & { readonly newestLink: number })[] =>
      ofContact
        .all({ contact })
        .map((row) => ({ ...toClaim(row), newestLink: row.newestLink }))
        .sort((a, b) => a.claim - b.claim),
    /** Returns up to `most` claims with a greater number, ascending. */
    after: (contact: number, claim: number, most: number): ClaimRow[] => after.all(contact, claim, most).map(toClaim),
    countOf: (contact: number): number => count.get(contact) as number,
  };
};

export interface GivenClaim {
  readonly account: number;
  readonly token: number;
  readonly user: number;
  readonly contact: number;
  /** Includes the e-mail address. */
  readonly values: Values;
  /** The handle to use if the claim is new. */
  readonly newHandle: string;
  readonly time: number;
}

export const createClaimWriter = (db: Connection) => {
  const reader = createClaimReader(db);
  const ofAddress = db.prepare<
    [number, number, string | undefined],
    { claim: number; claimID: string; said: string; token: number; open: number }
  >(`
    SELECT claim, claimID, said, token, (NOT accepted AND NOT voided) AS open FROM claim
    WHERE user = ? AND contact = ? AND said ->> '$.fields.contactEmailaddress' = ?`);
  const insert = db.prepare('INSERT INTO claim VALUES (NULL, ?, ?, ?, ?, ?, ?, 0, 0, ?, ?)');
  const update = db.prepare('UPDATE claim SET said = ?, updatedTime = ? WHERE claim = ?');
  const setAccepted = db.prepare('UPDATE claim SET accepted = 1, voided = 0, updatedTime = ? WHERE claim = ?');
  const setVoided = db.prepare('UPDATE claim SET voided = ?, updatedTime = ? WHERE claim = ?');

  return {
    ...reader,
    /**
     * Adds values to the open claim of this token, user, contact and address, or creates that claim. Accepted claims are not
     * changed. Each address has its own claim, because a handle must not reveal that two addresses belong to one contact.
     * `wasGiven`: this user has given the address for this contact before.
     */
    submit(given: GivenClaim): { claim: number; claimID: string; wasGiven: boolean } {
      const { account, token, user, contact, values, newHandle, time } = given;
      const earlier = ofAddress.all(user, contact, values.fields.contactEmailaddress);
      const wasGiven = earlier.length > 0;
      const before = earlier.find((claim) => claim.token === token && claim.open === 1);
      if (!before) {
        const { lastInsertRowid } = insert.run(
          newHandle,
          account,
          token,
          user,
          contact,
          JSON.stringify(toStoredValues(values)),
          time,
          time,
        );
        return { claim: Number(lastInsertRowid), claimID: newHandle, wasGiven };
      }
      update.run(
        JSON.stringify(toStoredValues(bounded(mergeClaim(toValues(JSON.parse(before.said)), values)))),
        time,
        before.claim,
      );
      return { ...before, wasGiven };
    },
    accept: (claim: number, time: number) => setAccepted.run(time, claim),
    setVoided: (claim: number, voided: boolean, time: number) => setVoided.run(Number(voided), time, claim),
  };
};
export type ClaimWriter = ReturnType<typeof createClaimWriter>;
