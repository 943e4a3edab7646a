/**
 * Recognizes repeats of the requestUUIDs of createContact for at least 7 days (partitions.ts). Only keyed hashes are
 * stored.
 */
import { requestKeyName } from '../../rules/erased-names.ts';
import { createIdempotencyKeys, type SentRequest } from '../../rules/idempotency-keys.ts';
import type { Transaction } from '../transactions/transaction.ts';

export interface RequestRow {
  readonly contact: number;
  readonly claim: number | null;
  readonly existed: boolean;
}

/** `secret` is the key of the database's hashes. */
export const createRequestRepeats = (secret: Buffer) => {
  const { requestKey } = createIdempotencyKeys(secret);
  return {
    /** Returns the name under which a request is stored, hashed, once its contact is erased. */
    nameOf: (request: SentRequest): string => requestKeyName(request.user, requestKey(request)),

    /** Deletes all requests that created one of these contacts; returns their names (`nameOf`). */
    async eraseOf(db: Transaction, contacts: readonly number[]): Promise<string[]> {
      const rows = await db.all<{ user: number; key: string }>(
        'DELETE FROM request_repeat WHERE account = $1 AND contact = ANY ($2::bigint[]) RETURNING "user", key',
        [db.account, contacts],
      );
      return rows.map(({ user, key }) => requestKeyName(user, key));
    },

    /** Returns the result of a request that was sent before. */
    find: (db: Transaction, request: SentRequest): Promise<RequestRow | undefined> =>
      db.get<RequestRow>(
        'SELECT contact, claim, existed FROM request_repeat WHERE account = $1 AND "user" = $2 AND key = $3',
        [db.account, request.user, requestKey(request)],
      ),

    store: (db: Transaction, request: SentRequest, { contact, claim, existed }: RequestRow, day: number) =>
      db.run(
        `INSERT INTO request_repeat (account, "user", key, day, contact, claim, existed) VALUES ($1, $2, $3, $4, $5, $6, $7)
         ON CONFLICT (account, "user", key) DO UPDATE SET day = $4, contact = $5, claim = $6, existed = $7`,
        [db.account, request.user, requestKey(request), day, contact, claim, existed],
      ),
  };
};
export type RequestRepeats = ReturnType<typeof createRequestRepeats>;
