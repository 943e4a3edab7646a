/** Reads claims. */
import { limits } from '@firsthand/contract/limits';
import { type ClaimRow, toValues } from '../../rules/claims.ts';
import type { Connection } from '../database/connection.ts';

type Row = Omit<ClaimRow, 'values' | 'accepted' | 'voided'> & { said: string; accepted: number; voided: number };

const toClaim = <One extends Row>({ said, accepted, voided, ...row }: One) => ({
  ...row,
  values: toValues(JSON.parse(said)),
  accepted: accepted === 1,
  voided: voided === 1,
});

export const createClaimReader = (db: Connection) => {
  const byID = db.prepare<[number, string], Row>(`
    SELECT * FROM claim WHERE account = ? AND claimID = ?
      AND NOT EXISTS (SELECT 1 FROM erasing_contact e WHERE e.contact = claim.contact)`);
  // Joins the links once: a lookup per claim would examine all other claims' links each time.
  const ofContact = db.prepare<{ contact: number }, Row & { newestLink: number }>(`
    SELECT c.*, coalesce(l.newest, 0) AS newestLink FROM claim c LEFT JOIN (
      SELECT user, max(sequence) AS newest FROM statement WHERE contact = @contact AND NOT voided GROUP BY user
    ) l ON l.user = c.user
    WHERE c.contact = @contact ORDER BY c.voided, c.accepted DESC, newestLink DESC, c.claim LIMIT ${limits.openClaimsPerContact}`);
  // The unary plus makes SQLite sort: a scan in key order would visit all other contacts' claims.
  const after = db.prepare<
    [number, number, number],
    Row & { tokenID: string; userUUID: string; contactUUID: string; linkID: string }
  >(`
    SELECT c.*, t.tokenID, u.userUUID, k.contactUUID,
      coalesce((SELECT CAST(min(sequence) AS TEXT) FROM statement s WHERE s.claim = c.claim), '') AS linkID
    FROM (SELECT claim FROM claim WHERE contact = ? AND +claim > ? ORDER BY +claim LIMIT ?) some
    JOIN claim c ON c.claim = some.claim JOIN token t ON t.token = c.token JOIN user u ON u.user = c.user
    JOIN contact k ON k.contact = c.contact ORDER BY c.claim`);
  const count = db.prepare<[number], number>('SELECT count(*) FROM claim WHERE contact = ?').pluck();
  return {
    find: (account: number, claimID: string): ClaimRow | undefined => {
      const row = byID.get(account, claimID);
      return row && toClaim(row);
    },
    /**
     * Returns up to `limits.openClaimsPerContact` of a contact's claims, those with the highest precedence
     * (identity/contact-view.ts).
     */
    ofContact: (contact: number) => ofContact.all({ contact }).map(toClaim),
    /** Returns up to `limit` claims numbered above `claim`, ascending. */
    after: (contact: number, claim: number, limit: number) => after.all(contact, claim, limit).map(toClaim),
    countOf: (contact: number): number => count.get(contact) as number,
  };
};
export type ClaimReader = ReturnType<typeof createClaimReader>;
