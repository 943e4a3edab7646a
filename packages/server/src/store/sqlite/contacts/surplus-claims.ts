/** Deletes the oldest claims and claimed links over the limits of a contact or user, as if they had never existed. */
import { limits } from '@firsthand/contract/limits';
import { maxDroppedPerStep, type StatementRow } from '../../rules/links.ts';
import type { Connection } from '../database/connection.ts';
import type { Detaching } from '../erasure/detaching.ts';
import { claimKey } from './claims.ts';

type Link = Pick<StatementRow, 'sequence' | 'user' | 'contact' | 'claim'>;

export const createSurplusClaims = (db: Connection, { detachUser }: Pick<Detaching, 'detachUser'>) => {
  // Counts and deletes only claims with one key: otherwise a page could see which of its keys find the same contact.
  const open = `
    FROM claim WHERE contact = @contact AND NOT accepted
      AND ${claimKey} = (SELECT ${claimKey} FROM claim WHERE claim = @newClaim)`;
  const surplus = db
    .prepare<{ contact: number; newClaim: number }, number>(`
      SELECT count(*) FROM (SELECT 1 ${open} LIMIT ${maxDroppedPerStep} OFFSET ${limits.claimsPerContact})`)
    .pluck();
  // In creation order.
  const oldest = db.prepare<{ contact: number; newClaim: number; most: number }, { claim: number; user: number }>(`
    SELECT claim, user ${open} AND claim <> @newClaim
      AND NOT EXISTS (SELECT 1 FROM statement s WHERE s.claim = claim.claim AND s.verified)
    ORDER BY claim LIMIT @most`);
  const dropLinksOf = db.prepare('DELETE FROM statement WHERE claim = ?');
  const drop = db.prepare('DELETE FROM claim WHERE claim = ?');
  const claimedLinks = `FROM statement WHERE contact = @contact AND claim IN (SELECT claim ${open}) AND NOT verified`;
  const surplusLinks = db.prepare<{ contact: number; newClaim: number | null }, Link>(`
    SELECT sequence, user, contact, claim ${claimedLinks} ORDER BY sequence LIMIT (
      SELECT count(*) FROM (SELECT 1 ${claimedLinks} LIMIT ${maxDroppedPerStep} OFFSET ${limits.claimedLinksPerContact}))`);
  const dropLink = db.prepare('DELETE FROM statement WHERE sequence = ?');
  const keyOf = db.prepare<[number | null], string>(`SELECT ${claimKey} FROM claim WHERE claim = ?`).pluck();
  const ofKey = `SELECT claim FROM claim WHERE user = @user AND contact = @contact AND ${claimKey} = @key`;
  const dropUnlinked = db.prepare(`
    DELETE FROM claim WHERE claim IN (${ofKey}) AND NOT accepted
      AND NOT EXISTS (SELECT 1 FROM statement WHERE claim IN (${ofKey}))`);

  /** Deletes links. If no claim of the user with a link's key has a link left, deletes its unaccepted claims too. */
  const dropLinks = (links: readonly Link[]): void => {
    for (const { sequence, user } of links) {
      detachUser(user);
      dropLink.run(sequence);
    }
    for (const { user, contact, claim } of links) {
      const key = keyOf.get(claim);
      if (key !== undefined) dropUnlinked.run({ user, contact, key });
    }
  };

  return {
    dropLinks,

    /**
     * Makes room for the link of an open claim: deletes the oldest such links with the same key over
     * `limits.claimedLinksPerContact`.
     */
    dropSurplusLinks: (contact: number, newClaim: number | null): void =>
      dropLinks(surplusLinks.all({ contact, newClaim })),

    /**
     * Makes room for a new claim: deletes the oldest claims with its key over `limits.claimsPerContact`, with their
     * links. Keeps claims that were accepted or whose link was verified.
     */
    dropSurplusClaims(contact: number, newClaim: number): void {
      for (const { claim, user } of oldest.all({
        contact,
        newClaim,
        most: surplus.get({ contact, newClaim }) as number,
      })) {
        detachUser(user);
        dropLinksOf.run(claim);
        drop.run(claim);
      }
    },
  };
};
export type SurplusClaims = ReturnType<typeof createSurplusClaims>;
