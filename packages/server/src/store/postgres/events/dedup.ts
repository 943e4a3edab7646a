/**
 * Recognizes repeats of eventUUIDs and requestUUIDs for at least 7 days. Their keys are deleted when the ninth later day with
 * events or requests begins. Only keyed hashes are stored, so the keys of events need not be erased with a contact.
 *
 * An event that is sent to two servers at once is stored once. On the same day, the unique key makes the second wait until the
 * first commits or rolls back. Different days never overlap: no two transactions store events on different days at once
 * (beginDay), so the events of earlier days are committed and visible.
 */
import { requestKeyName } from '../../rules/erased-names.ts';
import { createIdempotencyKeys, keyBytes, type SentRequest } from '../../rules/idempotency-keys.ts';
import { bigints, integers, uuids } from '../database/arrays.ts';
import type { Transaction } from '../transactions/transaction.ts';

export interface SentEvent {
  /** The user; for an event without a user, minus the contact. */
  readonly holder: number;
  /** The hash of holder, eventUUID and kind of token; unique. */
  readonly key: string;
  /** The hash without the kind of token; undefined when no stored event has such a key. */
  readonly keyOfEither: string | undefined;
}

export interface AskedEvent extends SentEvent {
  /** The holder has no event before this day. */
  readonly since: number;
}

export interface RequestRow {
  readonly contact: number;
  readonly claim: number | null;
  readonly existed: boolean;
}

const columnsOf = (sent: readonly Pick<SentEvent, 'holder' | 'key'>[]) => [
  bigints(sent, ({ holder }) => holder),
  uuids(sent, ({ key }) => key),
];

/** The repeats that a database may hold. */
export interface StoredRepeats {
  /** The key of the database's hashes. */
  readonly secret: Buffer;
  /** Keys without a holder, stored with the holder 0: the database was copied from one that has such keys. */
  readonly withErased: boolean;
  /** Keys that were stored before kinds of tokens were distinguished. */
  readonly withEither: boolean;
}

export const createDedup = ({ secret, withErased, withEither }: StoredRepeats) => {
  const { eventKey, requestKey } = createIdempotencyKeys(secret);

  return {
    /** Whether today's keys must be looked up with `find`, because `remember` alone does not recognize all repeats. */
    mustAsk: withErased || withEither,

    requestKey,

    sent: (holder: number, eventUUID: string, server: 0 | 1): SentEvent => ({
      holder,
      key: eventKey(holder, eventUUID, server),
      keyOfEither: withEither ? eventKey(holder, eventUUID, null) : undefined,
    }),

    /** Looks up events; returns a function that reports whether an event was stored before. */
    async find(db: Transaction, asked: readonly AskedEvent[]) {
      if (asked.length === 0) return () => false;
      const keys = asked.flatMap((sent) =>
        sent.keyOfEither === undefined ? [sent] : [sent, { ...sent, key: sent.keyOfEither }],
      );
      const rows = await db.all<{ key: Buffer }>(
        `SELECT uuid_send(kept.key) AS key
         FROM unnest($1::bigint[], $2::uuid[], $3::integer[]) AS asked (holder, key, since)
         JOIN event_repeat kept ON kept.holder = ${withErased ? 'ANY (ARRAY[asked.holder, 0])' : 'asked.holder'}
           AND kept.key = asked.key AND kept.day >= asked.since`,
        [...columnsOf(keys), integers(keys, ({ since }) => since)],
      );
      const found = new Set(rows.map(({ key }) => key.toString('latin1')));
      return ({ key, keyOfEither }: SentEvent) =>
        found.has(key) || (keyOfEither !== undefined && found.has(keyOfEither));
    },

    /** Stores the keys under a day. Returns a function that reports whether an event was new: no other server stored it first. */
    async remember(db: Transaction, sent: readonly SentEvent[], day: number) {
      // All transactions insert in the same order, so that no two wait for each other.
      const ordered = [...sent].sort((a, b) => a.holder - b.holder || (a.key < b.key ? -1 : 1));
      // Usually all are new: PostgreSQL returns the new keys only when some are not.
      const { fresh } = await db.one<{ fresh: Buffer | null }>(
        `WITH kept AS (
           INSERT INTO event_repeat (holder, key, day) SELECT unnest($1::bigint[]), unnest($2::uuid[]), $3::integer
           ON CONFLICT DO NOTHING RETURNING key
         )
         SELECT CASE WHEN count(*) < $4 THEN coalesce(string_agg(uuid_send(key), ''), '') END AS fresh FROM kept`,
        [...columnsOf(ordered), day, ordered.length],
      );
      if (fresh === null) return () => true;
      const keys = new Set<string>();
      for (let at = 0; at < fresh.length; at += keyBytes) keys.add(fresh.toString('latin1', at, at + keyBytes));
      return (event: SentEvent) => keys.has(event.key);
    },

    /** Returns the name under which a request is stored, hashed, once its contact is erased. */
    requestName: (request: SentRequest): string => requestKeyName(request.user, requestKey(request)),

    /** Deletes all requests that created one of these contacts; returns their names as `requestName` does. */
    async eraseRequests(db: Transaction, contacts: readonly number[]): Promise<string[]> {
      const rows = await db.all<{ user: number; key: string }>(
        'DELETE FROM request_repeat WHERE contact = ANY ($1::bigint[]) RETURNING "user", key',
        [contacts],
      );
      return rows.map(({ user, key }) => requestKeyName(user, key));
    },

    /** Returns the result of a request that was sent before. */
    findRequest: (db: Transaction, request: SentRequest): Promise<RequestRow | undefined> =>
      db.get<RequestRow>('SELECT contact, claim, existed FROM request_repeat WHERE "user" = $1 AND key = $2', [
        request.user,
        requestKey(request),
      ]),

    rememberRequest: (db: Transaction, request: SentRequest, { contact, claim, existed }: RequestRow, day: number) =>
      db.run(
        `INSERT INTO request_repeat ("user", key, day, contact, claim, existed) VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT ("user", key) DO UPDATE SET day = $3, contact = $4, claim = $5, existed = $6`,
        [request.user, requestKey(request), day, contact, claim, existed],
      ),
  };
};
export type Dedup = ReturnType<typeof createDedup>;
