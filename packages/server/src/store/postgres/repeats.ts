/**
 * What was sent before: an eventUUID or requestUUID is known for 7 days from the first, and kept until something has been
 * sent on 8 later ones. Only keyed hashes of them are kept: nothing of them has to be erased with anybody.
 *
 * One that is sent to two servers at once is kept once: on one day by the unique key, where the second waits for the first
 * to commit or not; and no two transactions keep events on different days at once (beginDay), so that what was kept on a
 * day before is committed, and seen.
 */
import { requestKeyName } from '../erased-names.ts';
import { createSentKeys } from '../sent-keys.ts';
import type { Transaction } from './transaction.ts';

/** Minus the contact, for an event without a user; else the user. */
export type Holder = number;

export interface SentEvent {
  readonly holder: Holder;
  /** Of the holder and the eventUUID: no two have the same. */
  readonly key: string;
}

/** What a requestUUID is known by: another token, or another user, may use the same. */
export interface SentRequest {
  readonly requestUUID: string;
  readonly token: number;
  readonly user: number;
}

export interface RequestRow {
  readonly contact: number;
  readonly claim: number | null;
  readonly existed: boolean;
}

/**
 * `secret` is the database's. `withErased`: it was copied from one that knows of some only that they were sent, and no
 * longer by whom; they are of the holder 0.
 */
export const createRepeats = (secret: Buffer, withErased = false) => {
  const { eventKey, requestKey } = createSentKeys(secret);

  return {
    /** Whether some of today are known only when they are asked for. */
    withErased,

    requestKey,

    sent: (holder: Holder, eventUUID: string): SentEvent => ({ holder, key: eventKey(holder, eventUUID) }),

    /** Those that were kept, whose holders have no event before `since`; answers whether one is among them. */
    async find(db: Transaction, asked: readonly (SentEvent & { readonly since: number })[]) {
      if (asked.length === 0) return () => false;
      const rows = await db.all<{ key: string }>(
        `SELECT kept.key
         FROM unnest($1::bigint[], $2::uuid[], $3::integer[]) AS asked (holder, key, since)
         JOIN event_repeat kept ON kept.holder = ${withErased ? 'ANY (ARRAY[asked.holder, 0])' : 'asked.holder'}
           AND kept.key = asked.key AND kept.day >= asked.since`,
        [asked.map(({ holder }) => holder), asked.map(({ key }) => key), asked.map(({ since }) => since)],
      );
      const found = new Set(rows.map(({ key }) => key));
      return (sent: SentEvent) => found.has(sent.key);
    },

    /** Keeps them for a day; answers whether one was new: whoever kept it meanwhile, somewhere else. */
    async remember(db: Transaction, sent: readonly SentEvent[], day: number) {
      // In one order, so that no two transactions wait for each other.
      const ordered = [...sent].sort((a, b) => a.holder - b.holder || (a.key < b.key ? -1 : 1));
      const rows = await db.all<{ key: string }>(
        `INSERT INTO event_repeat (holder, key, day)
         SELECT holder, key, $3 FROM unnest($1::bigint[], $2::uuid[]) WITH ORDINALITY AS sent (holder, key, nth) ORDER BY nth
         ON CONFLICT DO NOTHING RETURNING key`,
        [ordered.map(({ holder }) => holder), ordered.map(({ key }) => key), day],
      );
      const fresh = new Set(rows.map(({ key }) => key));
      return (event: SentEvent) => fresh.has(event.key);
    },

    /** By which name a request is known once its contact is erased. */
    requestName: (request: SentRequest): string => requestKeyName(request.user, requestKey(request)),

    /** As `requestName`, of all requests of these users that created one of these contacts; they are forgotten. */
    async eraseRequests(db: Transaction, users: readonly number[], contacts: readonly number[]): Promise<string[]> {
      const rows = await db.all<{ user: number; key: string }>(
        `DELETE FROM request_repeat WHERE "user" = ANY ($1::bigint[]) AND contact = ANY ($2::bigint[])
         RETURNING "user", key`,
        [users, contacts],
      );
      return rows.map(({ user, key }) => requestKeyName(user, key));
    },

    /** What came of a request that was sent before. */
    findRequest: (db: Transaction, request: SentRequest): Promise<RequestRow | undefined> =>
      db.get<RequestRow>('SELECT contact, claim, existed FROM request_repeat WHERE "user" = $1 AND key = $2', [
        request.user,
        requestKey(request),
      ]),

    rememberRequest: (db: Transaction, request: SentRequest, { contact, claim, existed }: RequestRow, day: number) =>
      db.run('INSERT INTO request_repeat ("user", key, day, contact, claim, existed) VALUES ($1, $2, $3, $4, $5, $6)', [
        request.user,
        requestKey(request),
        day,
        contact,
        claim,
        existed,
      ]),
  };
};
export type Repeats = ReturnType<typeof createRepeats>;
