/** Events to exclude from reports and files: erased events, and events before the account's first sequence number. */
import type { DuckDBConnection } from '@duckdb/node-api';
import type { FeedErasure } from '../../../store/report-feed.ts';
import { doubles, integers, name, or, type SQL, sql } from '../sql.ts';
import { run } from '../statements.ts';

interface Pending {
  readonly erasure: FeedErasure;
  /** The last round in which the feed listed the erasure. */
  readonly round: number;
}

const toKey = (erasure: FeedErasure): string => {
  if ('contact' in erasure) return `contact ${erasure.contact}`;
  return `${'user' in erasure ? `user ${erasure.user}` : 'all'} ${erasure.after} ${erasure.through}`;
};

type UndoneStretch = Exclude<FeedErasure, { readonly user: number } | { readonly contact: number }>;

/** Returns the sequence ranges of undone imports. */
export const listUndone = (erased: readonly FeedErasure[]): UndoneStretch[] =>
  erased.flatMap((erasure) => ('user' in erasure || 'contact' in erasure ? [] : [erasure]));

/**
 * Uses the tables `erased_users_<account>`, `erased_contacts_<account>` and `undone_<account>`. Events before the
 * sequence `first` have already been removed; none of them happened after `until`.
 */
export const createErasures = (account: number, first: number, until: number) => {
  const pending = new Map<string, Pending>();
  const users = name(`erased_users_${account}`);
  const contacts = name(`erased_contacts_${account}`);
  const undone = name(`undone_${account}`);
  /** Whether an event `e` is from an undone import. */
  const isUndone = sql`EXISTS (SELECT 1 FROM ${undone} x WHERE x.after < e.sequence AND e.sequence <= x.through)`;
  let undoneStretches: UndoneStretch[] = [];
  let firstSequence = first;
  let cutUntil = until;
  let round = 0;
  let generation = 0;

  const writeTables = async (connection: DuckDBConnection): Promise<void> => {
    const all = [...pending.values()].map(({ erasure }) => erasure);
    const stretches = all.filter((erasure) => 'user' in erasure);
    await run(
      connection,
      sql`CREATE OR REPLACE TABLE ${users} AS SELECT
        unnest(${integers(stretches.map(({ user }) => user))}) AS "user",
        unnest(${integers(stretches.map(({ after }) => after))}) AS after,
        unnest(${doubles(stretches.map(({ through }) => through))}) AS through`,
    );
    undoneStretches = listUndone(all);
    await run(
      connection,
      sql`CREATE OR REPLACE TABLE ${undone} AS SELECT
        unnest(${integers(undoneStretches.map(({ after }) => after))}) AS after,
        unnest(${doubles(undoneStretches.map(({ through }) => through))}) AS through`,
    );
    const whole = integers(all.flatMap((erasure) => ('contact' in erasure ? [erasure.contact] : [])));
    await run(connection, sql`CREATE OR REPLACE TABLE ${contacts} AS SELECT unnest(${whole}) AS contact`);
  };

  return {
    get firstSequence() {
      return firstSequence;
    },
    /**
     * The generation, which increases with each new erasure. A file that was written or checked at the current
     * generation contains no erased events.
     */
    get generation() {
      return generation;
    },
    /** The state to store in the manifest. */
    get stored() {
      return { firstSequence, cutUntil };
    },
    /** Excludes events before `sequence`. `rows` selects every event's `sequence` and `eventTime`. */
    async beginAt(connection: DuckDBConnection, sequence: number, rows: SQL): Promise<void> {
      if (sequence <= firstSequence) return;
      const [cut] = await run(
        connection,
        sql`SELECT coalesce(max("eventTime"), 0) AS "until" FROM ${rows} WHERE sequence < ${sequence}`,
      );
      cutUntil = Math.max(cutUntil, Number(cut?.until));
      firstSequence = sequence;
    },
    /** Adds erasures from the feed. Returns the new erasures. */
    async note(connection: DuckDBConnection, erased: readonly FeedErasure[]): Promise<FeedErasure[]> {
      const fresh = erased.filter((erasure) => !pending.has(toKey(erasure)));
      for (const erasure of erased) pending.set(toKey(erasure), { erasure, round });
      if (fresh.length === 0) return [];
      generation += 1;
      await writeTables(connection);
      return fresh;
    },
    /** Whether events logged with the contact are erased. */
    isContactErased: (contact: number): boolean => pending.has(toKey({ contact })),
    isUndone,
    /** Whether the event with this sequence number is from an undone import. */
    isUndoneAt: (sequence: number): boolean =>
      undoneStretches.some(({ after, through }) => after < sequence && sequence <= through),
    /**
     * Ends a round, in which the feed has listed all current erasures. An erasure that the feed no longer lists can't
     * affect new events. It is dropped if `isGone` resolves to true, which means that it doesn't affect stored events
     * either.
     */
    async endRound(connection: DuckDBConnection, isGone: () => Promise<boolean>): Promise<void> {
      const expired = [...pending].filter(([, { round: lastRound }]) => lastRound < round);
      round += 1;
      if (expired.length === 0 || !(await isGone())) return;
      for (const [key] of expired) pending.delete(key);
      await writeTables(connection);
    },
    /** A condition that matches the events (alias `e`) to exclude; null if there are none. */
    get condition(): SQL | null {
      const parts: SQL[] = [];
      if (firstSequence > 0) parts.push(sql`e.sequence < ${firstSequence}`);
      if (pending.size > 0) {
        parts.push(sql`e.contact IN (SELECT contact FROM ${contacts})`);
        parts.push(sql`e.contact = 0 AND EXISTS (SELECT 1 FROM ${users} x
          WHERE x."user" = e."user" AND x.after < e.sequence AND e.sequence <= x.through)`);
        parts.push(isUndone);
      }
      return parts.length > 0 ? or(parts) : null;
    },
    async drop(connection: DuckDBConnection): Promise<void> {
      await run(connection, sql`DROP TABLE IF EXISTS ${users}`);
      await run(connection, sql`DROP TABLE IF EXISTS ${contacts}`);
      await run(connection, sql`DROP TABLE IF EXISTS ${undone}`);
    },
  };
};
export type Erasures = ReturnType<typeof createErasures>;
