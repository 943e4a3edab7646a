/** Claims and claimed links beyond what a contact or a user may have: the oldest give way, as if they had never been made. */
import { limits } from '@firsthand/contract/limits';
import type { Connection } from './connection.ts';
import type { Detaching } from './detaching.ts';
import type { StatementRow } from './statements.ts';

type Link = Pick<StatementRow, 'sequence' | 'user' | 'contact'>;

/** So many give way to one: more than come in, so that a contact that has too many gets back to what it may have. */
const mostGivingWay = 10;

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
  const surplusLinks = db.prepare<{ contact: number }, Link>(`
    SELECT sequence, user, contact FROM statement
    WHERE contact = @contact AND claim IS NOT NULL AND NOT verified
      AND claim NOT IN (SELECT claim FROM claim WHERE contact = @contact AND voided IN (0, 1) AND accepted)
    ORDER BY sequence DESC LIMIT ${mostGivingWay} OFFSET ${limits.claimedLinksPerContact}`);
  const dropLink = db.prepare('DELETE FROM statement WHERE sequence = ?');
  const dropUnlinked = db.prepare(`
    DELETE FROM claim WHERE user = ? AND contact = ? AND NOT accepted
      AND NOT EXISTS (SELECT 1 FROM statement s WHERE s.user = claim.user AND s.contact = claim.contact)`);

  /** Deletes links, and where a user has none left to a contact, this user's claims for it that nobody has accepted. */
  const dropLinks = (links: readonly Link[]): void => {
    for (const { sequence, user } of links) {
      detachUser(user);
      dropLink.run(sequence);
    }
    for (const { user, contact } of links) dropUnlinked.run(user, contact);
  };

  return {
    dropLinks,

    /** Makes room for a link that only a claim made: beyond `limits.claimedLinksPerContact` the oldest such links go. */
    dropSurplusLinks: (contact: number): void => dropLinks(surplusLinks.all({ contact })),

    /**
     * Makes room for a claim that was just made: beyond `limits.claimsPerContact` the oldest go, with their links. One that was
     * accepted, or whose link was verified, stays.
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
