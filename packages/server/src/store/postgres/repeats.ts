/**
 * What was sent before: an eventUUID or requestUUID is known for 7 days from the first, and kept until something has been
 * sent on 8 later ones. Only keyed hashes of them are kept: nothing of them has to be erased with anybody.
 *
 * One that is sent to two servers at once is kept once: on one day by the unique key, where the second waits for the first
 * to commit or not; and no two transactions keep events on different days at once (beginDay), so that what was kept on a
 * day before is committed, and seen.
 */
import { requestKeyName } from '../erased-names.ts';
import { createSentKeys, keyBytes } from '../sent-keys.ts';
import { bigints, integers, uuids } from './arrays.ts';
import type { Transaction } from './transaction.ts';

/** Minus the contact, for an event without a user; else the user. */
export type Holder = number;

export interface SentEvent {
  readonly holder: Holder;
  /** Of the holder, the eventUUID and the kind of token: no two have the same. */
  readonly key: string;
  /** The key without the kind of token, while events may have been kept by that. */
  readonly keyOfEither: string | undefined;
}

export interface AskedEvent extends SentEvent {
  /** The holder has no event before this day. */
  readonly since: number;
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

const columnsOf = (sent: readonly Pick<SentEvent, 'holder' | 'key'>[]) => [
  bigints(sent, ({ holder }) => holder),
  uuids(sent, ({ key }) => key),
];

/**
 * `secret` is the database's. `withErased`: it was copied from one that knows of some only that they were sent, and no
 * longer by whom; they are of the holder 0. `withEither`: some were kept before the kinds of tokens were told apart.
 */
export const createRepeats = (secret: Buffer, { withErased = false, withEither = false } = {}) => {
  const { eventKey, requestKey } = createSentKeys(secret);

  return {
    /** Whether some of today are known only when they are asked for. */
    mustAsk: withErased || withEither,

    requestKey,

    sent: (holder: Holder, eventUUID: string, server: 0 | 1): SentEvent => ({
      holder,
      key: eventKey(holder, eventUUID, server),
      keyOfEither: withEither ? eventKey(holder, eventUUID, null) : undefined,
    }),

    /** Answers whether one was kept before. */
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

    /** Keeps them for a day; answers whether one was new: whoever kept it meanwhile, somewhere else. */
    async remember(db: Transaction, sent: readonly SentEvent[], day: number) {
      // In one order, so that no two transactions wait for each other.
      const ordered = [...sent].sort((a, b) => a.holder - b.holder || (a.key < b.key ? -1 : 1));
      // Mostly all are new: which of them is only told when some are not.
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
      db.run(
        `INSERT INTO request_repeat ("user", key, day, contact, claim, existed) VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT ("user", key) DO UPDATE SET day = $3, contact = $4, claim = $5, existed = $6`,
        [request.user, requestKey(request), day, contact, claim, existed],
      ),
  };
};
export type Repeats = ReturnType<typeof createRepeats>;
