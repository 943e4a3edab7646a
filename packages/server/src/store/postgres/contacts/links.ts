/** Links and unlinks users, voids links, and accepts and voids claims. */
import { limits } from '@firsthand/contract/limits';
import { decideUnlink, findExcessLinks } from '../../../identity/statements.ts';
import { Refusal } from '../../../shared/refusal.ts';
import { claimName } from '../../rules/erased-names.ts';
import { decideNewLink, type NewLink, type StatementRow, sequenceOf } from '../../rules/links.ts';
import type { RequestOf } from '../../store.ts';
import { drawSequences } from '../transactions/sequencer.ts';
import type { Transaction } from '../transactions/transaction.ts';
import { findClaim, markClaim } from './claims.ts';
import type { ContactFinder } from './contact-finder.ts';
import { readAnswering } from './contact-rows.ts';
import type { ContactWriter } from './contacts.ts';
import { lockUsers, preventErasure } from './row-locks.ts';
import { statementsOf } from './statements.ts';
import { dropLinks, dropSurplusLinks } from './surplus-claims.ts';
import { findUser, type User, type Users } from './users.ts';

interface NewStatement extends Omit<NewLink, 'contact'> {
  /** Null for an unlink. */
  readonly contact: number | null;
}

/** Inserts a statement. The caller must have locked the user's row before it drew the sequence. */
export const insertStatement = async (db: Transaction, statement: NewStatement, sequence: number): Promise<void> => {
  const { user, contact, verified, claim, token, time } = statement;
  const { account } = db;
  await Promise.all([
    db.run(
      `INSERT INTO statement (account, "user", sequence, contact, verified, voided, claim, token, erased, time, "seenDay")
       SELECT account, "user", $3, $4, $5, 0, $6, $7, false, $8, "lastDay" FROM "user" WHERE account = $1 AND "user" = $2`,
      [account, user, sequence, contact, verified, claim, token, time],
    ),
    db.run('INSERT INTO statement_place (account, sequence, "user") VALUES ($1, $2, $3)', [account, sequence, user]),
    contact !== null &&
      db.run('INSERT INTO contact_user (account, contact, "user") VALUES ($1, $2, $3) ON CONFLICT DO NOTHING', [
        account,
        contact,
        user,
      ]),
  ]);
};

const append = async (db: Transaction, statement: NewStatement): Promise<number> => {
  const [sequence] = (await drawSequences(db, 1)) as [number];
  await insertStatement(db, statement, sequence);
  return sequence;
};

/** Locks a user's row, so that no other transaction adds statements, and returns the user's statements. */
const lockStatements = async (db: Transaction, user: number): Promise<StatementRow[]> => {
  // PostgreSQL runs these in order: the statements are read after the row is locked.
  const [, statements] = await Promise.all([lockUsers(db, [user]), statementsOf(db, [user])]);
  return statements.get(user) as StatementRow[];
};

/**
 * Links a user to a contact, unless it is already linked. Deletes the oldest claimed links beyond the limits of user
 * and contact. The caller must have locked the user's row and the contact.
 */
export const link = async (db: Transaction, newLink: NewLink): Promise<{ exists: boolean; sequence: number }> => {
  const { user, contact, verified } = newLink;
  const before = (await statementsOf(db, [user])).get(user) as StatementRow[];
  const { exists, ...decision } = decideNewLink(before, newLink);
  if (decision.do === 'append') {
    const sequence = await append(db, newLink);
    if (!verified) {
      await dropLinks(db, user, findExcessLinks(before, limits.claimedLinksPerUser - 1));
      await dropSurplusLinks(db, contact, newLink.claim);
    }
    return { exists, sequence };
  }
  const { sequence } = decision.statement;
  if (decision.do === 'verify') {
    await db.run('UPDATE statement SET verified = true WHERE account = $1 AND "user" = $2 AND sequence = $3', [
      db.account,
      user,
      sequence,
    ]);
  }
  return { exists, sequence };
};

/**
 * Voids or restores links that a token claimed in a time range, except verified or accepted ones. Returns how many
 * changed.
 */
const voidClaimed = (
  db: Transaction,
  { token, from, to, restore }: { token: number; from: number; to: number; restore: boolean },
): Promise<number> => {
  // `voided` is 2 for these links, so that restoring them does not restore links that were voided individually.
  const [before, after] = restore ? [2, 0] : [0, 2];
  return db.run(
    `UPDATE statement SET voided = $6 FROM (
       SELECT "user", sequence FROM statement s
       WHERE account = $1 AND token = $2 AND time >= $3 AND time < $4 AND voided = $5 AND claim IS NOT NULL AND NOT verified
         AND NOT erased AND NOT EXISTS (
           SELECT FROM claim c
           WHERE c.account = $1 AND c.contact = s.contact AND c.claim = s.claim AND c.accepted AND NOT c.voided
         )
       ORDER BY "user", sequence FOR NO KEY UPDATE
     ) AS changed
     WHERE statement.account = $1 AND statement."user" = changed."user" AND statement.sequence = changed.sequence`,
    [db.account, token, from, to, before, after],
  );
};

export const createLinkWriter = (users: Users, contacts: ContactFinder, writer: ContactWriter) => {
  const voidOne = async (db: Transaction, linkID: string, voided: number) => {
    const sequence = sequenceOf(linkID);
    const place = await db.get<{ user: number }>(
      'SELECT "user" FROM statement_place WHERE account = $1 AND sequence = $2',
      [db.account, sequence],
    );
    const row =
      place &&
      (await db.get<{ erased: boolean }>(
        'SELECT erased FROM statement WHERE account = $1 AND "user" = $2 AND sequence = $3 FOR NO KEY UPDATE',
        [db.account, place.user, sequence],
      ));
    if (!row) throw new Refusal('unknown_link', { field: 'linkID' });
    if (row.erased) throw new Refusal('erased_contact', { field: 'linkID' });
    return db.run(
      `UPDATE statement SET voided = $4
       WHERE account = $1 AND "user" = $2 AND sequence = $3 AND (voided <> 0) <> ($4 <> 0)`,
      [db.account, place?.user, sequence, voided],
    );
  };

  const mark = async (
    db: Transaction,
    { claimID, time, by }: RequestOf<'acceptClaim'>,
    marks: { accepted?: boolean; voided: boolean },
  ) => {
    const claim = await findClaim(db, claimID);
    if (!claim) {
      const erased = (await contacts.findErasure(db, claimName(claimID))) !== undefined;
      throw new Refusal(erased ? 'erased_contact' : 'unknown_claim', { field: 'claimID' });
    }
    const { contactExternalID: externalID } = claim.values.fields;
    if (externalID !== undefined) {
      if (marks.voided) await writer.withdrawExternalID(db, claim);
      else if (marks.accepted || claim.accepted) await writer.acceptExternalID(db, claim, { externalID, time, by });
    }
    await markClaim(db, claim, { ...marks, time });
    return { contactUUID: (await readAnswering(db, claim.contact)).contactUUID };
  };

  return {
    async linkUser(db: Transaction, { token, userUUID, time, ...named }: RequestOf<'linkUser'>) {
      const { contact, contactUUID, account } = await contacts.byName(db, named);
      const [{ user }] = (await users.ensure(db, [{ account, userUUID }], { time, withEvent: false })) as [User];
      await Promise.all([lockUsers(db, [user]), preventErasure([[db, [contact]]])]);
      const { exists, sequence } = await link(db, { user, contact, verified: true, claim: null, token, time });
      return { exists, linkID: String(sequence), contactUUID };
    },

    async unlinkUser(db: Transaction, { token, userUUID, time }: RequestOf<'unlinkUser'>) {
      const user = await findUser(db, userUUID);
      if (user === undefined) throw new Refusal('unknown_user', { field: 'userUUID' });
      if (!decideUnlink(await lockStatements(db, user))) return { exists: true, linkID: '' };
      const sequence = await append(db, { user, contact: null, verified: true, claim: null, token, time });
      return { exists: false, linkID: String(sequence) };
    },

    async voidLinks(db: Transaction, { account, restore, links }: RequestOf<'voidLinks'>): Promise<number> {
      if ('linkID' in links) return voidOne(db, links.linkID, Number(!restore));
      const row = await db.get<{ token: number }>('SELECT token FROM token WHERE account = $1 AND "tokenID" = $2', [
        account,
        links.tokenID,
      ]);
      if (!row) throw new Refusal('unknown_token', { field: 'tokenID' });
      const { from = 0, to = Number.MAX_SAFE_INTEGER } = links;
      return voidClaimed(db, { token: row.token, from, to, restore });
    },

    acceptClaim: (db: Transaction, request: RequestOf<'acceptClaim'>) =>
      mark(db, request, { accepted: true, voided: false }),

    voidClaim: (db: Transaction, request: RequestOf<'voidClaim'>) => mark(db, request, { voided: !request.restore }),
  };
};
