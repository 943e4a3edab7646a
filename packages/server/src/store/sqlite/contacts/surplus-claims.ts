/** Deletes claims and claimed links beyond the limits of a contact or a user: the oldest go, as if they had never been made. */
import { limits } from '@firsthand/contract/limits';
import { mostGivingWay, type StatementRow } from '../../rules/links.ts';
import type { Connection } from '../database/connection.ts';
import type { Detaching } from '../erasure/detaching.ts';

type Link = Pick<StatementRow, 'sequence' | 'user' | 'contact'>;

export const createSurplusClaims = (db: Connection, { detachUser }: Pick<Detaching, 'detachUser'>) => {
  const surplus = db
    .prepare<[number], number>(`
      SELECT count(*) FROM (
        SELECT 1 FROM claim WHERE contact = ? AND NOT accepted LIMIT ${mostGivingWay} OFFSET ${limits.claimsPerContact})`)
    .pluck();
  // In the order in which they were made.
  const oldest = db.prepare<[number, number, number], { claim: number; user: number }>(`
    SELECT claim, user FROM claim AS c WHERE contact = ? AND NOT accepted AND claim <> ?
      AND NOT EXISTS (SELECT 1 FROM statement s WHERE s.claim = c.claim AND s.verified)
    ORDER BY claim LIMIT ?`);
  const dropLinksOf = db.prepare('DELETE FROM statement WHERE claim = ?');
  const drop = db.prepare('DELETE FROM claim WHERE claim = ?');
  const claimedLinks = `
    FROM statement WHERE contact = @contact AND claim IS NOT NULL AND NOT verified
      AND claim NOT IN (SELECT claim FROM claim WHERE contact = @contact AND voided IN (0, 1) AND accepted)`;
  const surplusLinks = db.prepare<{ contact: number }, Link>(`
    SELECT sequence, user, contact ${claimedLinks} ORDER BY sequence LIMIT (
      SELECT count(*) FROM (SELECT 1 ${claimedLinks} LIMIT ${mostGivingWay} OFFSET ${limits.claimedLinksPerContact}))`);
  const dropLink = db.prepare('DELETE FROM statement WHERE sequence = ?');
  const dropUnlinked = db.prepare(`
    DELETE FROM claim WHERE user = ? AND contact = ? AND NOT accepted
      AND NOT EXISTS (SELECT 1 FROM statement s WHERE s.user = claim.user AND s.contact = claim.contact)`);

  /** Deletes links. Where a user has no link to a contact left, the user's unaccepted claims for it are deleted too. */
  const dropLinks = (links: readonly Link[]): void => {
    for (const { sequence, user } of links) {
      detachUser(user);
      dropLink.run(sequence);
    }
    for (const { user, contact } of links) dropUnlinked.run(user, contact);
  };

  return {
    dropLinks,

    /** Makes room for a link that only a claim made: beyond `limits.claimedLinksPerContact` the oldest such links are deleted. */
    dropSurplusLinks: (contact: number): void => dropLinks(surplusLinks.all({ contact })),

    /**
     * Makes room for a claim that was just made: beyond `limits.claimsPerContact` the oldest are deleted, with their links. Claims
     * that were accepted, or whose link was verified, stay.
     */
    dropSurplusClaims(contact: number, made: number): void {
      for (const { claim, user } of oldest.all(contact, made, surplus.get(contact) as number)) {
        detachUser(user);
        dropLinksOf.run(claim);
        drop.run(claim);
      }
    },
  };
};
export type SurplusClaims = ReturnType<typeof createSurplusClaims>;
