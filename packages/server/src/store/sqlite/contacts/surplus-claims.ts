/** Deletes claims and claimed links beyond the limits of a contact or a user: the oldest go, as if they had never been made. */
import { limits } from '@firsthand/contract/limits';
import { maxGivingWay, type StatementRow } from '../../rules/links.ts';
import type { Connection } from '../database/connection.ts';
import type { Detaching } from '../erasure/detaching.ts';
import { claimKey } from './claims.ts';

type Link = Pick<StatementRow, 'sequence' | 'user' | 'contact' | 'claim'>;

export const createSurplusClaims = (db: Connection, { detachUser }: Pick<Detaching, 'detachUser'>) => {
  // Of a contact only claims of one key are counted and deleted: otherwise a page could see which of its keys find one contact.
  const open = `
    FROM claim WHERE contact = @contact AND NOT accepted
      AND ${claimKey} = (SELECT ${claimKey} FROM claim WHERE claim = @made)`;
  const surplus = db
    .prepare<{ contact: number; made: number }, number>(`
      SELECT count(*) FROM (SELECT 1 ${open} LIMIT ${maxGivingWay} OFFSET ${limits.claimsPerContact})`)
    .pluck();
  // In the order in which they were made.
  const oldest = db.prepare<{ contact: number; made: number; most: number }, { claim: number; user: number }>(`
    SELECT claim, user ${open} AND claim <> @made
      AND NOT EXISTS (SELECT 1 FROM statement s WHERE s.claim = claim.claim AND s.verified)
    ORDER BY claim LIMIT @most`);
  const dropLinksOf = db.prepare('DELETE FROM statement WHERE claim = ?');
  const drop = db.prepare('DELETE FROM claim WHERE claim = ?');
  const claimedLinks = `FROM statement WHERE contact = @contact AND claim IN (SELECT claim ${open}) AND NOT verified`;
  const surplusLinks = db.prepare<{ contact: number; made: number | null }, Link>(`
    SELECT sequence, user, contact, claim ${claimedLinks} ORDER BY sequence LIMIT (
      SELECT count(*) FROM (SELECT 1 ${claimedLinks} LIMIT ${maxGivingWay} OFFSET ${limits.claimedLinksPerContact}))`);
  const dropLink = db.prepare('DELETE FROM statement WHERE sequence = ?');
  const keyOf = db.prepare<[number | null], string>(`SELECT ${claimKey} FROM claim WHERE claim = ?`).pluck();
  const ofKey = `SELECT claim FROM claim WHERE user = @user AND contact = @contact AND ${claimKey} = @key`;
  const dropUnlinked = db.prepare(`
    DELETE FROM claim WHERE claim IN (${ofKey}) AND NOT accepted
      AND NOT EXISTS (SELECT 1 FROM statement WHERE claim IN (${ofKey}))`);

  /** Deletes links. Where no claim of a user with the key of such a link has a link left, the unaccepted ones are deleted too. */
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
     * Makes room for a link that only the claim `made` made: beyond `limits.claimedLinksPerContact` the oldest such links by the
     * same key are deleted.
     */
    dropSurplusLinks: (contact: number, made: number | null): void => dropLinks(surplusLinks.all({ contact, made })),

    /**
     * Makes room for a claim that was just made: beyond `limits.claimsPerContact` the oldest with its key are deleted, with their
     * links. Claims that were accepted, or whose link was verified, stay.
     */
    dropSurplusClaims(contact: number, made: number): void {
      for (const { claim, user } of oldest.all({ contact, made, most: surplus.get({ contact, made }) as number })) {
        detachUser(user);
        dropLinksOf.run(claim);
        drop.run(claim);
      }
    },
  };
};
export type SurplusClaims = ReturnType<typeof createSurplusClaims>;
