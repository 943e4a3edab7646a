/** Stores and reads claims. */
import { limits } from '@firsthand/contract/limits';
import { readEntryMerges } from '../../operations/catalogues.ts';
import { type ClaimRow, chooseClaimContact, toClaimJSON, toClaimKeyText, toValues } from '../../rules/claims.ts';
import type { NewContact } from '../../store.ts';
import type { Connection } from '../database/connection.ts';
import { createOperationRunner } from '../transactions/operations.ts';
import { createMergeReader } from './contact-rows.ts';

type Row = Omit<ClaimRow, 'values' | 'accepted' | 'voided'> & { said: string; accepted: number; voided: number };

/** SQL for the key of a claim (toClaimKeyText). An index uses the same expression. */
export const claimKey = `coalesce(
  'contactEmailaddress ' || (said ->> '$.fields.contactEmailaddress'),
  'contactExternalID ' || (said ->> '$.fields.contactExternalID'))`;

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
  // Joins the links once: a lookup per claim would examine the links of all other claims each time.
  const ofContact = db.prepare<{ contact: number }, Row & { newestLink: number }>(`
    SELECT c.*, coalesce(l.newest, 0) AS newestLink FROM claim c LEFT JOIN (
      SELECT user, max(sequence) AS newest FROM statement WHERE contact = @contact AND NOT voided GROUP BY user
    ) l ON l.user = c.user
    WHERE c.contact = @contact ORDER BY c.voided, c.accepted DESC, newestLink DESC, c.claim LIMIT ${limits.openClaimsPerContact}`);
  // The unary plus forces a sort: a scan in key order would pass the claims of all other contacts.
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
  const accepted = db
    .prepare<[number], number>('SELECT 1 FROM claim WHERE contact = ? AND voided = 0 AND accepted LIMIT 1')
    .pluck();
  return {
    find: (account: number, claimID: string): ClaimRow | undefined => {
      const row = byID.get(account, claimID);
      return row && toClaim(row);
    },
    /**
     * Returns a contact's claims with the highest precedence, up to `limits.openClaimsPerContact`
     * (identity/contact-view.ts).
     */
    ofContact: (contact: number) => ofContact.all({ contact }).map(toClaim),
    /** Returns up to `most` claims with a greater number, ascending. */
    after: (contact: number, claim: number, most: number) => after.all(contact, claim, most).map(toClaim),
    countOf: (contact: number): number => count.get(contact) as number,
    /** Whether the contact has an accepted claim that is not voided. */
    hasAccepted: (contact: number): boolean => accepted.get(contact) !== undefined,
  };
};

export const createClaimWriter = (db: Connection) => {
  const reader = createClaimReader(db);
  const merges = createMergeReader(db);
  const runOperation = createOperationRunner(db);
  const ofKey = db.prepare<
    { user: number; group: string; key: string },
    { claim: number; claimID: string; contact: number; said: string; token: number; open: number }
  >(`
    SELECT claim, claimID, contact, said, token, (NOT accepted AND NOT voided) AS open FROM claim
    WHERE user = @user AND contact IN (SELECT value FROM json_each(@group)) AND ${claimKey} = @key
    ORDER BY contact, claim`);
  const insert = db.prepare('INSERT INTO claim VALUES (NULL, ?, ?, ?, ?, ?, ?, 0, 0, ?, ?)');
  const update = db.prepare('UPDATE claim SET said = ?, updatedTime = ? WHERE claim = ?');
  const setMarks = db.prepare('UPDATE claim SET accepted = accepted OR ?, voided = ?, updatedTime = ? WHERE claim = ?');

  return {
    ...reader,
    /**
     * Adds values to the open claim of this token, user and key, or creates it. Never changes accepted claims. Each key
     * has its own claim (rules/claims.ts).
     *
     * `found`: the contact with the key. Returns the claim, its contact (chooseClaimContact), and the user's earlier
     * claims with this key.
     */
    submit(
      request: NewContact,
      user: number,
      found: number,
    ): { claim: number; claimID: string; contact: number; earlierClaims: number[] } {
      const { account, token, newHandle, time } = request;
      const entryMerges = runOperation(readEntryMerges(account));
      const earlier = ofKey.all({ user, group: JSON.stringify(merges.group(found)), key: toClaimKeyText(request) });
      const earlierClaims = earlier.map(({ claim }) => claim);
      const before = earlier.find((claim) => claim.token === token && claim.open === 1);
      if (before) {
        update.run(toClaimJSON(request, entryMerges, JSON.parse(before.said)), time, before.claim);
        return { ...before, earlierClaims };
      }
      const contact = chooseClaimContact(earlier, found);
      const { lastInsertRowid } = insert.run(
        newHandle,
        account,
        token,
        user,
        contact,
        toClaimJSON(request, entryMerges),
        time,
        time,
      );
      return { claim: Number(lastInsertRowid), claimID: newHandle, contact, earlierClaims };
    },
    /** Accepts, voids or restores a claim. An accepted claim stays accepted. */
    mark(
      claim: number,
      { accepted = false, voided, time }: { accepted?: boolean; voided: boolean; time: number },
    ): void {
      setMarks.run(Number(accepted), Number(voided), time, claim);
    },
  };
};
export type ClaimWriter = ReturnType<typeof createClaimWriter>;
