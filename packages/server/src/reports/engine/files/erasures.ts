/** Events that must be in no report and no file: erased ones, and those before the account's first sequence. */
import type { DuckDBConnection } from '@duckdb/node-api';
import type { FedErasure } from '../../../store/report-feed.ts';
import { doubles, integers, name, or, type SQL, sql } from '../sql.ts';
import { run } from '../statements.ts';

interface Pending {
  readonly erasure: FedErasure;
  /** The round in which it was named last. */
  readonly round: number;
}

const keyOf = (erasure: FedErasure): string =>
  'user' in erasure ? `user ${erasure.user} ${erasure.after} ${erasure.through}` : `contact ${erasure.contact}`;

/**
 * The tables of an account: `erased_users_<account>` and `erased_contacts_<account>`. Events before `first` are gone already; none of them
 * happened after `until`.
 */
export const createErasures = (account: number, first: number, until: number) => {
  const pending = new Map<string, Pending>();
  const users = name(`erased_users_${account}`);
  const contacts = name(`erased_contacts_${account}`);
  let firstSequence = first;
  let cutUntil = until;
  let round = 0;
  let generation = 0;

  const writeTables = async (connection: DuckDBConnection): Promise<void> => {
    const all = [...pending.values()].map(({ erasure }) => erasure);
    const stretches = all.filter((erasure) => 'user' in erasure);
    const whole = all.filter((erasure) => 'contact' in erasure);
    await run(
      connection,
      sql`CREATE OR REPLACE TABLE ${users} AS SELECT
        unnest(${integers(stretches.map(({ user }) => user))}) AS "user",
        unnest(${integers(stretches.map(({ after }) => after))}) AS after,
        unnest(${doubles(stretches.map(({ through }) => through))}) AS through`,
    );
    const gone = integers(whole.map(({ contact }) => contact));
    await run(connection, sql`CREATE OR REPLACE TABLE ${contacts} AS SELECT unnest(${gone}) AS contact`);
  };

  return {
    get firstSequence() {
      return firstSequence;
    },
    /** Grows with what is erased: a file that was written or examined at this number holds nothing of it. */
    get generation() {
      return generation;
    },
    get cutUntil() {
      return cutUntil;
    },
    /** Notes that the account's events begin at a sequence now. `rows` selects those before it: `sequence`, `eventTime`. */
    async beginAt(connection: DuckDBConnection, sequence: number, rows: SQL): Promise<void> {
      if (sequence <= firstSequence) return;
      const [cut] = await run(
        connection,
        sql`SELECT coalesce(max("eventTime"), 0) AS "until" FROM ${rows} WHERE sequence < ${sequence}`,
      );
      cutUntil = Math.max(cutUntil, Number(cut?.until));
      firstSequence = sequence;
    },
    /** Notes erasures that the feed named. Returns those that are new. */
    async note(connection: DuckDBConnection, erased: readonly FedErasure[]): Promise<FedErasure[]> {
      const fresh = erased.filter((erasure) => !pending.has(keyOf(erasure)));
      for (const erasure of erased) pending.set(keyOf(erasure), { erasure, round });
      if (fresh.length === 0) return [];
      generation += 1;
      await writeTables(connection);
      return fresh;
    },
    /** Whether the events that were logged with the contact are erased. */
    isContactErased: (contact: number): boolean => pending.has(keyOf({ contact })),
    /**
     * Begins a round: the feed has named all that is erased now. What it named before all present events were read, and not since, it no
     * longer holds: no such event can come any more, and it is forgotten if `isGone`, when no present event is of it.
     */
    async endRound(connection: DuckDBConnection, isGone: () => Promise<boolean>): Promise<void> {
      const over = [...pending].filter(([, { round: named }]) => named < round);
      round += 1;
      if (over.length === 0 || !(await isGone())) return;
      for (const [key] of over) pending.delete(key);
      await writeTables(connection);
    },
    /** A condition on the rows of events `e` that must not be seen; null: there are none. */
    get condition(): SQL | null {
      const parts: SQL[] = [];
      if (firstSequence > 0) parts.push(sql`e.sequence < ${firstSequence}`);
      if (pending.size > 0) {
        parts.push(sql`e.contact IN (SELECT contact FROM ${contacts})`);
        parts.push(sql`e.contact = 0 AND EXISTS (SELECT 1 FROM ${users} x
          WHERE x."user" = e."user" AND x.after < e.sequence AND e.sequence <= x.through)`);
      }
      return parts.length > 0 ? or(parts) : null;
    },
    async drop(connection: DuckDBConnection): Promise<void> {
      await run(connection, sql`DROP TABLE IF EXISTS ${users}`);
      await run(connection, sql`DROP TABLE IF EXISTS ${contacts}`);
    },
  };
};
