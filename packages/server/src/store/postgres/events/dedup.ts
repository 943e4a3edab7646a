/**
 * Recognizes repeated eventUUIDs for at least 7 days (partitions.ts). Only keyed hashes are stored, which don't have to
 * be erased with a contact.
 *
 * An event that two servers receive concurrently is stored once. On one day, the unique key makes the second server
 * wait for the first. Transactions on different days never overlap (beginDay), so earlier days are committed and
 * visible.
 */
import { createIdempotencyKeys, keyBytes } from '../../rules/idempotency-keys.ts';
import { bigints, integers, uuids } from '../database/arrays.ts';
import {
  createBatchStatement,
  createInsert,
  insertRowsSQL,
  type RowStatement,
  readRows,
} from '../database/row-statements.ts';
import type { Transaction } from '../transactions/transaction.ts';

export interface EventKey {
  readonly account: number;
  /** The user; for an event without a user, the negated contact. */
  readonly holder: number;
  /** The hash of holder, eventUUID and token kind; unique. */
  readonly key: string;
  /** The hash without the token kind; undefined if the database has no such keys. */
  readonly keyWithoutKind: string | undefined;
}

export interface EventLookup extends EventKey {
  /** The holder has no event before this day. */
  readonly since: number;
}

const findKeys = createBatchStatement(
  [
    ['holder', 'bigint'],
    ['key', 'uuid'],
    ['since', 'integer'],
  ],
  ({ batch, ofAccount }) => `
  SELECT encode(uuid_send(existing.key), 'hex') AS key
  FROM ${batch} JOIN event_repeat existing ON ${ofAccount('existing')} AND existing.holder = batch.holder
    AND existing.key = batch.key AND existing.day >= batch.since`,
);
const repeatColumns = [
  ['holder', 'bigint'],
  ['key', 'uuid'],
  ['day', 'integer'],
] as const;
// Returns the keys that already existed. Usually there are none: the statement then only counts, and returns no row.
const insertKeys = createBatchStatement(repeatColumns, (parts) => {
  const insert = insertRowsSQL(parts, 'event_repeat', repeatColumns, { end: 'ON CONFLICT DO NOTHING RETURNING key' });
  return `
  WITH inserted AS (${insert})
  SELECT encode(string_agg(uuid_send(batch.key), ''), 'hex') AS repeated FROM ${parts.batch}
  WHERE (SELECT count(*) FROM inserted) < cardinality($2::bigint[]) AND batch.key NOT IN (SELECT key FROM inserted)
  HAVING count(*) > 0`;
});

// Returns the new keys. Used on a Citus cluster, which would replan `insertKeys` on every execution.
const insertKeysOnCluster = createInsert('event_repeat', repeatColumns, {
  end: `ON CONFLICT DO NOTHING RETURNING encode(uuid_send(key), 'hex') AS key`,
});

const accountsOf = (eventKeys: readonly EventKey[]) => eventKeys.map(({ account }) => account);
const columnsOf = (eventKeys: readonly Pick<EventKey, 'holder' | 'key'>[]) => [
  bigints(eventKeys, ({ holder }) => holder),
  uuids(eventKeys, ({ key }) => key),
];
/** Sorted, so that all transactions insert in the same order, which prevents deadlocks. */
const inOrder = (eventKeys: readonly EventKey[]) =>
  [...eventKeys].sort((a, b) => a.holder - b.holder || (a.key < b.key ? -1 : 1));
const toKey = (hexadecimal: string) => Buffer.from(hexadecimal, 'hex').toString('latin1');

/** The kinds of repeats that a database may contain. */
export interface StoredRepeats {
  /** The database's HMAC key. */
  readonly secret: Buffer;
  /** Keys without a holder (erased_repeat), which come from a copied database. */
  readonly withErased: boolean;
  /** Keys stored before token kinds were distinguished. */
  readonly withEither: boolean;
}

export const createDedup = ({ secret, withErased, withEither }: StoredRepeats) => {
  const { eventKey } = createIdempotencyKeys(secret);

  return {
    /** Whether today's keys must be looked up with `find` too, because `store` does not recognize all repeats. */
    mustLookUpToday: withErased || withEither,

    createKey: (account: number, holder: number, eventUUID: string, server: 0 | 1): EventKey => ({
      account,
      holder,
      key: eventKey(holder, eventUUID, server),
      keyWithoutKind: withEither ? eventKey(holder, eventUUID, null) : undefined,
    }),

    /** Looks up events; returns a function that reports whether an event was stored before. */
    async find(db: Transaction, lookups: readonly EventLookup[]) {
      if (lookups.length === 0) return () => false;
      const keys = lookups.flatMap((lookup) =>
        lookup.keyWithoutKind === undefined ? [lookup] : [lookup, { ...lookup, key: lookup.keyWithoutKind }],
      );
      const [rows, erased] = await Promise.all([
        readRows<{ key: string }>(db, {
          statement: findKeys,
          accounts: accountsOf(keys),
          columns: [...columnsOf(keys), integers(keys, ({ since }) => since)],
        }),
        withErased
          ? db.all<{ key: string }>(
              "SELECT encode(uuid_send(key), 'hex') AS key FROM erased_repeat WHERE key = ANY ($1::uuid[])",
              [uuids(keys, ({ key }) => key)],
            )
          : [],
      ]);
      const repeats = new Set([...rows, ...erased].map(({ key }) => toKey(key)));
      return ({ key, keyWithoutKind }: EventKey) =>
        repeats.has(key) || (keyWithoutKind !== undefined && repeats.has(keyWithoutKind));
    },

    /** Deletes the keys of events that server tokens have sent. */
    async dropKeys(db: Transaction, events: readonly { readonly holder: number; readonly eventUUID: string }[]) {
      const keys = events.map(({ holder, eventUUID }) => ({ holder, key: eventKey(holder, eventUUID, 1) }));
      await db.run(
        `DELETE FROM event_repeat r USING unnest($2::bigint[], $3::uuid[]) AS gone (holder, key)
         WHERE r.account = $1 AND r.holder = gone.holder AND r.key = gone.key`,
        [db.account, ...columnsOf(keys)],
      );
    },

    /** Stores keys under their accounts' current days. Returns a function that reports whether an event is new. */
    async store(db: Transaction, eventKeys: readonly EventKey[]) {
      const ordered = inOrder(eventKeys);
      const rowsOf = <Row>(statement: RowStatement) =>
        readRows<Row>(db, {
          statement,
          accounts: accountsOf(ordered),
          columns: [...columnsOf(ordered), integers(ordered, ({ account }) => db.forAccount(account).currentDay.day)],
        });
      if (db.isDistributed) {
        const stored = new Set((await rowsOf<{ key: string }>(insertKeysOnCluster)).map(({ key }) => toKey(key)));
        return (event: EventKey) => stored.has(event.key);
      }
      const rows = await rowsOf<{ repeated: string }>(insertKeys);
      const digits = 2 * keyBytes;
      const keys = new Set<string>();
      for (const { repeated } of rows)
        for (let at = 0; at < repeated.length; at += digits) keys.add(toKey(repeated.slice(at, at + digits)));
      return (event: EventKey) => !keys.has(event.key);
    },
  };
};
export type Dedup = ReturnType<typeof createDedup>;
