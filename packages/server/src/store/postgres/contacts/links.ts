/** Implements LinkStore for a transaction's account. */
import type { LinkStore, NewStatement } from '../../operations/contact-store.ts';
import { drawSequences } from '../transactions/sequencer.ts';
import type { Transaction } from '../transactions/transaction.ts';
import { findClaim } from './claims.ts';
import { groupOf } from './merges.ts';
import { lockFreeUsers, lockUsers, preventErasure } from './row-locks.ts';
import { statementsOf } from './statements.ts';
import type { User, Users } from './users.ts';

/** Inserts a statement. The caller must lock the user's row before allocating the sequence number. */
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

export const createLinkStore = (db: Transaction, users: Users): LinkStore => ({
  findUser: async (account, userUUID) => (await users.find(db, [{ account, userUUID }]))[0]?.user,
  async ensureUser(account, userUUID, time) {
    const [{ user }] = (await users.ensure(db, [{ account, userUUID }], { time, withEvent: false })) as [User];
    return user;
  },
  holdUsers: (some) => lockUsers(db, some),
  holdFreeUsers: (some) => lockFreeUsers(db, some),
  holdContact: (contact) => preventErasure([[db, [contact]]]),
  readStatements: async (user) => (await statementsOf(db, [user])).get(user) ?? [],
  async append(statement) {
    const [sequence] = (await drawSequences(db, 1)) as [number];
    await insertStatement(db, statement, sequence);
    return sequence;
  },
  findClaim: (_, claimID) => findClaim(db, claimID),
  readGroupNumbers: (contact) => groupOf(db, contact),
});
