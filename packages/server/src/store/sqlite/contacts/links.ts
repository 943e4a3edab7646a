/** Implements LinkStore. */
import type { LinkStore } from '../../operations/contact-store.ts';
import { link } from '../../operations/links.ts';
import type { NewLink } from '../../rules/links.ts';
import type { Connection } from '../database/connection.ts';
import type { Detaching } from '../erasure/detaching.ts';
import { createOperationRunner } from '../transactions/operations.ts';
import type { Sequencer } from '../transactions/sequencer.ts';
import { createClaimReader } from './claims.ts';
import { createMergeReader } from './contact-rows.ts';
import { createStatementReader } from './statements.ts';
import type { Users } from './users.ts';

interface LinkParts {
  readonly sequencer: Sequencer;
  readonly users: Users;
  readonly detaching: Detaching;
}

export const createLinkWriter = (db: Connection, { sequencer, users, detaching }: LinkParts) => {
  const insert = db.prepare(`
    INSERT INTO statement (sequence, user, contact, verified, voided, claim, token, erased, time, seenDay)
    VALUES (@sequence, @user, @contact, @verified, 0, @claim, @token, 0, @time, (SELECT lastDay FROM user WHERE user = @user))`);
  const detachUsers = (some: readonly number[]) => some.forEach(detaching.detachUser);
  const runOperation = createOperationRunner(db);
  const store: LinkStore = {
    findUser: (account, userUUID) => users.find(account, userUUID)?.user,
    ensureUser: (account, userUUID, time) => users.ensure(account, userUUID, time).user,
    holdUsers: detachUsers,
    holdFreeUsers(some) {
      detachUsers(some);
      return new Set(some);
    },
    holdContact() {},
    readStatements: createStatementReader(db).ofUser,
    append(statement) {
      const sequence = sequencer.nextSequence();
      insert.run({ ...statement, sequence, verified: Number(statement.verified) });
      return sequence;
    },
    findClaim: createClaimReader(db).find,
    readGroupNumbers: createMergeReader(db).group,
  };
  return {
    store,
    /** Links a user to a contact from now on, unless the user is already linked to it. */
    link(account: number, newLink: NewLink): void {
      detaching.detachUser(newLink.user);
      runOperation(link(store, account, newLink));
    },
  };
};
export type LinkWriter = ReturnType<typeof createLinkWriter>;
