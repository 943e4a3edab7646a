/** Links and unlinks users, and accepts and voids links and claims. */
import { limits } from '@firsthand/contract/limits';
import { decideUnlink, findExcessLinks } from '../../../identity/statements.ts';
import { Refusal } from '../../../shared/refusal.ts';
import { decideNewLink, type NewLink, sequenceOf } from '../../rules/links.ts';
import type { RequestOf } from '../../store.ts';
import type { Connection } from '../database/connection.ts';
import type { Detaching } from '../erasure/detaching.ts';
import type { Sequencer } from '../transactions/sequencer.ts';
import type { ClaimWriter } from './claims.ts';
import type { ContactWriter } from './contacts.ts';
import { createStatementReader } from './statements.ts';
import type { SurplusClaims } from './surplus-claims.ts';
import type { Users } from './users.ts';

export const createLinkWriter = (
  db: Connection,
  parts: {
    sequencer: Sequencer;
    users: Users;
    contacts: ContactWriter;
    claims: ClaimWriter;
    surplus: SurplusClaims;
    detaching: Detaching;
  },
) => {
  const { sequencer, users, contacts, claims, surplus, detaching } = parts;
  const statements = createStatementReader(db);
  const insert = db.prepare(`
    INSERT INTO statement (sequence, user, contact, verified, voided, claim, token, erased, time, seenDay)
    VALUES (@sequence, @user, @contact, @verified, 0, @claim, @token, 0, @time, (SELECT lastDay FROM user WHERE user = @user))`);
  const verify = db.prepare('UPDATE statement SET verified = 1 WHERE sequence = ?');
  const setVoided = db.prepare('UPDATE statement SET voided = ? WHERE sequence = ? AND (voided <> 0) <> ?');
  const find = db.prepare<[number, number], { user: number; erased: number }>(
    `SELECT s.user, (s.erased OR e.contact IS NOT NULL) AS erased FROM statement s JOIN user u ON u.user = s.user
     LEFT JOIN erasing_contact e ON e.contact = s.contact WHERE s.sequence = ? AND u.account = ?`,
  );
  const isClaimed = `
    s.token = @token AND s.time >= @from AND s.time < @to AND s.voided = @before
    AND s.claim IS NOT NULL AND NOT s.verified AND NOT s.erased
    AND NOT EXISTS (SELECT 1 FROM erasing_contact e WHERE e.contact = s.contact)
    AND NOT EXISTS (SELECT 1 FROM claim c WHERE c.claim = s.claim AND c.accepted AND NOT c.voided)`;
  const voidClaimed = db.prepare(`UPDATE statement AS s SET voided = @after WHERE ${isClaimed}`);
  const claimedUsers = db
    .prepare<unknown[], number>(`SELECT DISTINCT s.user FROM statement s WHERE ${isClaimed}`)
    .pluck();
  const findToken = db
    .prepare<[number, string], number>('SELECT token FROM token WHERE account = ? AND tokenID = ?')
    .pluck();

  /** Appends a link; without a contact, an unlink. */
  const append = (statement: Omit<NewLink, 'contact'> & { contact: number | null }) => {
    const sequence = sequencer.nextSequence();
    insert.run({ ...statement, sequence, verified: Number(statement.verified) });
    return sequence;
  };

  /**
   * Links the user to the contact from now on, unless they are already linked. Deletes the oldest claimed links over
   * `limits.claimedLinksPerUser` and `limits.claimedLinksPerContact`.
   */
  const link = (given: NewLink): { exists: boolean; sequence: number } => {
    detaching.detachUser(given.user);
    const before = statements.ofUser(given.user);
    const { exists, ...decision } = decideNewLink(before, given);
    if (decision.do === 'append') {
      const sequence = append(given);
      if (!given.verified) {
        surplus.dropLinks(findExcessLinks(before, limits.claimedLinksPerUser - 1));
        surplus.dropSurplusLinks(given.contact, given.claim);
      }
      return { exists, sequence };
    }
    if (decision.do === 'verify') verify.run(decision.statement.sequence);
    return { exists, sequence: decision.statement.sequence };
  };

  const select = (account: number, linkID: string) => {
    const sequence = sequenceOf(linkID);
    const row = find.get(sequence, account);
    if (!row) throw new Refusal('unknown_link', { field: 'linkID' });
    if (row.erased) throw new Refusal('erased_contact', { field: 'linkID' });
    detaching.detachUser(row.user);
    return sequence;
  };

  const markClaim = (
    { account, claimID, time, by }: RequestOf<'acceptClaim'>,
    marks: { accepted?: boolean; voided: boolean },
  ) => {
    const row = claims.find(account, claimID);
    if (!row) {
      const code = contacts.isErasedClaim(account, claimID) ? 'erased_contact' : 'unknown_claim';
      throw new Refusal(code, { field: 'claimID' });
    }
    detaching.detachUser(row.user);
    const { claim, contact, accepted, values } = row;
    const { contactExternalID: externalID } = values.fields;
    if (externalID !== undefined) {
      if (marks.voided) contacts.withdrawExternalID(contact, claim);
      else if (marks.accepted || accepted) contacts.acceptExternalID(contact, { claim, externalID, time, by });
    }
    claims.mark(claim, { ...marks, time });
    return { contactUUID: contacts.followMerges(row.contact).contactUUID };
  };

  return {
    link,

    linkUser({ token, userUUID, time, ...names }: RequestOf<'linkUser'>) {
      const { contact, contactUUID, account } = contacts.byName(names);
      const { user } = users.ensure(account, userUUID, time);
      const { exists, sequence } = link({ user, contact, verified: true, claim: null, token, time });
      return { exists, linkID: String(sequence), contactUUID };
    },

    unlinkUser({ account, token, userUUID, time }: RequestOf<'unlinkUser'>) {
      const user = users.find(account, userUUID)?.user;
      if (user === undefined) throw new Refusal('unknown_user', { field: 'userUUID' });
      if (!decideUnlink(statements.ofUser(user))) return { exists: true, linkID: '' };
      const sequence = append({ user, contact: null, verified: true, claim: null, token, time });
      return { exists: false, linkID: String(sequence) };
    },

    voidLinks({ account, restore, links }: RequestOf<'voidLinks'>): number {
      const voided = Number(!restore);
      if ('linkID' in links) return setVoided.run(voided, select(account, links.linkID), voided).changes;
      const token = findToken.get(account, links.tokenID);
      if (token === undefined) throw new Refusal('unknown_token', { field: 'tokenID' });
      const { from = 0, to = Number.MAX_SAFE_INTEGER } = links;
      // Marked with 2, so that restoring them does not restore links that were voided individually.
      const [before, after] = restore ? [2, 0] : [0, 2];
      const claimed = { before, token, from, to };
      detaching.detachUsers(() => claimedUsers.all(claimed));
      return voidClaimed.run({ ...claimed, after }).changes;
    },

    acceptClaim: (request: RequestOf<'acceptClaim'>) => markClaim(request, { accepted: true, voided: false }),

    voidClaim: (request: RequestOf<'voidClaim'>) => markClaim(request, { voided: !request.restore }),
  };
};
export type LinkWriter = ReturnType<typeof createLinkWriter>;
