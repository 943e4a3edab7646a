/**
 * Recognizes repeated createContact requests by requestUUID, for at least 7 days (partitions.ts). Only keyed hashes are
 * stored.
 */
import type { RequestResult, RequestStore } from '../../operations/contact-store.ts';
import { requestKeyName, requestName } from '../../rules/erased-names.ts';
import { createIdempotencyKeys } from '../../rules/idempotency-keys.ts';
import type { Transaction } from '../transactions/transaction.ts';
import type { ContactFinder } from './contact-finder.ts';

/** `secret` is the database's HMAC key. */
export const createRequestRepeats = (secret: Buffer, finder: ContactFinder) => {
  const { requestKey } = createIdempotencyKeys(secret);
  return {
    /** Deletes all requests that created one of these contacts; returns their names (requestKeyName). */
    async eraseOf(db: Transaction, contacts: readonly number[]): Promise<string[]> {
      const rows = await db.all<{ user: number; key: string }>(
        'DELETE FROM request_repeat WHERE account = $1 AND contact = ANY ($2::bigint[]) RETURNING "user", key',
        [db.account, contacts],
      );
      return rows.map(({ user, key }) => requestKeyName(user, key));
    },

    /** Returns the requests of a transaction's account. */
    forTransaction: (db: Transaction): RequestStore => ({
      dayOf: db.dayOf,
      async find({ userUUID }, request) {
        const { requestUUID, token, user } = request;
        const key = requestKey(request);
        const stored = await db.get<RequestResult>(
          'SELECT contact, claim, existed FROM request_repeat WHERE account = $1 AND "user" = $2 AND key = $3',
          [db.account, user, key],
        );
        if (stored) return stored;
        const names = [requestKeyName(user, key), requestName(token, userUUID, requestUUID)];
        return (await finder.findErasure(db, ...names)) === undefined ? undefined : 'erased';
      },
      store: (request, { contact, claim, existed }, day) =>
        db.run(
          `INSERT INTO request_repeat (account, "user", key, day, contact, claim, existed) VALUES ($1, $2, $3, $4, $5, $6, $7)
           ON CONFLICT (account, "user", key) DO UPDATE SET day = $4, contact = $5, claim = $6, existed = $7`,
          [db.account, request.user, requestKey(request), day, contact, claim, existed],
        ),
    }),
  };
};
export type RequestRepeats = ReturnType<typeof createRequestRepeats>;
