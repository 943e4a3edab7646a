/**
 * Recognizes repeats of eventUUIDs for at least 7 days. Their keys are deleted after the ninth later day with events or requests has begun
 * (partitions.ts). Only keyed hashes are stored, so they need not be erased with a contact.
 *
 * An event that is sent to two servers at once is stored once. On the same day, the unique key makes the second wait until the
 * first commits or rolls back. Different days never overlap: no two transactions store events on different days at once
 * (beginDay), so the events of earlier days are committed and visible.
 */
import { createIdempotencyKeys, keyBytes } from '../../rules/idempotency-keys.ts';
import { bigints, integers, uuids } from '../database/arrays.ts';
import { aboutRows, inserting, insertRows, type RowStatement, readRows } from '../database/row-statements.ts';
import type { Transaction } from '../transactions/transaction.ts';

export interface SentEvent {
  readonly account: number;
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

const finding = aboutRows(
  [
    ['holder', 'bigint'],
    ['key', 'uuid'],
    ['since', 'integer'],
  ],
  ({ given, ofAccount }) => `
  SELECT encode(uuid_send(kept.key), 'hex') AS key
  FROM ${given} JOIN event_repeat kept ON ${ofAccount('kept')} AND kept.holder = given.holder
    AND kept.key = given.key AND kept.day >= given.since`,
);
const repeatColumns = [
  ['holder', 'bigint'],
  ['key', 'uuid'],
  ['day', 'integer'],
] as const;
// Returns the keys that were there already. Usually there are none: then the keys are only counted, and no row is returned.
const storing = aboutRows(repeatColumns, (parts) => {
  const insert = insertRows(parts, 'event_repeat', repeatColumns, { end: 'ON CONFLICT DO NOTHING RETURNING key' });
  return `
  WITH kept AS (${insert})
  SELECT encode(string_agg(uuid_send(given.key), ''), 'hex') AS repeated FROM ${parts.given}
  WHERE (SELECT count(*) FROM kept) < cardinality($2::bigint[]) AND given.key NOT IN (SELECT key FROM kept)
  HAVING count(*) > 0`;
});

// On a cluster, which would plan the above each time: returns the keys that were not there.
const storingOnCluster = inserting('event_repeat', repeatColumns, {
  end: `ON CONFLICT DO NOTHING RETURNING encode(uuid_send(key), 'hex') AS key`,
});

const accountsOf = (sent: readonly SentEvent[]) => sent.map(({ account }) => account);
const columnsOf = (sent: readonly Pick<SentEvent, 'holder' | 'key'>[]) => [
  bigints(sent, ({ holder }) => holder),
  uuids(sent, ({ key }) => key),
];
/** All transactions insert in the same order, so that no two wait for each other. */
const inOrder = (sent: readonly SentEvent[]) =>
  [...sent].sort((a, b) => a.holder - b.holder || (a.key < b.key ? -1 : 1));
const toKey = (hexadecimal: string) => Buffer.from(hexadecimal, 'hex').toString('latin1');

/** The repeats that a database may hold. */
export interface StoredRepeats {
  /** The key of the database's hashes. */
  readonly secret: Buffer;
  /** Keys without a holder (erased_repeat): the database was copied from one that has such keys. */
  readonly withErased: boolean;
  /** Keys that were stored before kinds of tokens were distinguished. */
  readonly withEither: boolean;
}

export const createDedup = ({ secret, withErased, withEither }: StoredRepeats) => {
  const { eventKey } = createIdempotencyKeys(secret);

  return {
    /** Whether today's keys must be looked up with `find`, because `store` does not recognize all repeats. */
    mustAsk: withErased || withEither,

    sent: (account: number, holder: number, eventUUID: string, server: 0 | 1): SentEvent => ({
      account,
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
      const [rows, erased] = await Promise.all([
        readRows<{ key: string }>(db, {
          statement: finding,
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
      const found = new Set([...rows, ...erased].map(({ key }) => toKey(key)));
      return ({ key, keyOfEither }: SentEvent) =>
        found.has(key) || (keyOfEither !== undefined && found.has(keyOfEither));
    },

    /** Stores the keys under their accounts' current days. Returns a function that reports whether an event was new: no other server stored it first. */
    async store(db: Transaction, sent: readonly SentEvent[]) {
      const ordered = inOrder(sent);
      const rowsOf = <Row>(statement: RowStatement) =>
        readRows<Row>(db, {
          statement,
          accounts: accountsOf(ordered),
          columns: [...columnsOf(ordered), integers(ordered, ({ account }) => db.of(account).currentDay.day)],
        });
      if (db.isSpread) {
        const stored = new Set((await rowsOf<{ key: string }>(storingOnCluster)).map(({ key }) => toKey(key)));
        return (event: SentEvent) => stored.has(event.key);
      }
      const rows = await rowsOf<{ repeated: string }>(storing);
      const digits = 2 * keyBytes;
      const keys = new Set<string>();
      for (const { repeated } of rows)
        for (let at = 0; at < repeated.length; at += digits) keys.add(toKey(repeated.slice(at, at + digits)));
      return (event: SentEvent) => !keys.has(event.key);
    },
  };
};
export type Dedup = ReturnType<typeof createDedup>;
