/**
 * The owners of users' events: stretches of sequences, with merges applied. They are in the tables `owners_<account>`
 * and `merged_<account>`.
 */
import type { DuckDBConnection } from '@duckdb/node-api';
import type { OwnerFeedPage } from '../../store/report-feed.ts';
import { clause, integers, list, literal, name, type SQL, sql } from './sql.ts';
import { appendIntegers, run } from './statements.ts';

/** The end of a stretch that continues. */
const openEnd = 2 ** 53;

const columns = clause`"user" BIGINT, after BIGINT, through BIGINT, contact BIGINT`;

/** A HAVING condition on a user's stretches: whether all its events up to the sequence belong to one contact. */
export const isWhole = (through: number): SQL => sql`count(*) = 1 AND max(after) = 0 AND min(through) >= ${through}`;

export const createOwners = (account: number) => {
  const owners = name(`owners_${account}`);
  const merged = name(`merged_${account}`);
  let stretches = 0;
  let merges = 0;

  const count = async (connection: DuckDBConnection): Promise<void> => {
    const [row] = await run(
      connection,
      sql`SELECT (SELECT count(*) FROM ${owners}) AS stretches, (SELECT count(*) FROM ${merged}) AS merges`,
    );
    stretches = Number(row?.stretches);
    merges = Number(row?.merges);
  };
  const withPersons = clause`SELECT o."user", o.after, o.through, o.contact, coalesce(m.owner, o.contact) AS person`;

  const appendStretches = async (connection: DuckDBConnection, users: OwnerFeedPage['users']): Promise<void> => {
    await run(connection, sql`CREATE OR REPLACE TEMP TABLE fresh (${columns})`);
    const rows = users.flatMap(({ user, stretches: userStretches }) =>
      userStretches.map(({ after, through, contact }) => [user, after, Math.min(through, openEnd), contact]),
    );
    appendIntegers(
      await connection.createAppender('fresh', 'main', 'temp'),
      [0, 1, 2, 3].map((column) => rows.map((row) => row[column] as number)),
    );
    await run(
      connection,
      sql`DELETE FROM ${owners} WHERE "user" IN (SELECT unnest(${integers(users.map(({ user }) => user))}))`,
    );
    await run(
      connection,
      sql`INSERT INTO ${owners} ${withPersons} FROM fresh o LEFT JOIN ${merged} m ON m.contact = o.contact`,
    );
    await run(connection, sql`DROP TABLE fresh`);
  };
  const replaceMerged = async (
    connection: DuckDBConnection,
    all: NonNullable<OwnerFeedPage['merged']>,
  ): Promise<void> => {
    await run(
      connection,
      sql`CREATE OR REPLACE TABLE ${merged} AS SELECT
        unnest(${integers(all.map(({ contact }) => contact))}) AS contact,
        unnest(${integers(all.map(({ owner }) => owner))}) AS owner`,
    );
    await run(
      connection,
      sql`CREATE OR REPLACE TABLE ${owners} AS ${withPersons} FROM ${owners} o LEFT JOIN ${merged} m ON m.contact = o.contact`,
    );
  };

  return {
    /** Creates the tables, from files if there are any. */
    async load(connection: DuckDBConnection, files: { readonly owners: string; readonly merged: string } | null) {
      const mergedRows = files
        ? clause`read_parquet(${literal(files.merged)})`
        : sql`SELECT 0 AS contact, 0 AS owner LIMIT 0`;
      const ownerRows = files
        ? clause`read_parquet(${literal(files.owners)})`
        : sql`SELECT 0 AS "user", 0 AS after, 0 AS through, 0 AS contact LIMIT 0`;
      await run(connection, sql`CREATE OR REPLACE TABLE ${merged} (contact BIGINT, owner BIGINT)`);
      await run(connection, sql`INSERT INTO ${merged} SELECT contact, owner FROM ${mergedRows}`);
      await run(connection, sql`CREATE OR REPLACE TABLE ${owners} (${columns}, person BIGINT)`);
      await run(
        connection,
        sql`INSERT INTO ${owners} ${withPersons} FROM ${ownerRows} o LEFT JOIN ${merged} m ON m.contact = o.contact`,
      );
      await count(connection);
    },
    async apply(connection: DuckDBConnection, { users, merged: all }: OwnerFeedPage): Promise<void> {
      if (users.length === 0 && all === null) return;
      await connection.run('BEGIN');
      if (users.length > 0) await appendStretches(connection, users);
      if (all !== null) await replaceMerged(connection, all);
      await connection.run('COMMIT');
      await count(connection);
    },
    /** Queries of the rows that `load` reads. */
    rows: {
      owners: sql`SELECT "user", after, through, contact FROM ${owners} ORDER BY ALL`,
      merged: sql`SELECT * FROM ${merged}`,
    },
    /** The highest number of a contact that owns events. */
    async greatest(connection: DuckDBConnection): Promise<number> {
      const [row] = await run(
        connection,
        sql`SELECT greatest((SELECT coalesce(max(person), 0) FROM ${owners}), (SELECT coalesce(max(owner), 0) FROM ${merged})) AS contact`,
      );
      return Number(row?.contact);
    },
    /**
     * How to find the person of an event `e`: a contact if positive, a user without a contact if negative. `areLogged`:
     * whether events may be logged with contacts.
     */
    personOf(areLogged: boolean) {
      const joins: SQL[] = [];
      if (stretches > 0)
        joins.push(
          clause`LEFT JOIN ${owners} o ON o."user" = e."user" AND o.after < e.sequence AND e.sequence <= o.through`,
        );
      if (areLogged && merges > 0) joins.push(clause`LEFT JOIN ${merged} m ON m.contact = e.contact`);
      const logged = merges > 0 ? sql`coalesce(m.owner, e.contact)` : sql`e.contact`;
      const linked = stretches > 0 ? sql`coalesce(o.person, -e."user")` : sql`-e."user"`;
      return {
        joins: list(joins, ' '),
        owners,
        merged,
        person: areLogged ? sql`CASE WHEN e.contact > 0 THEN ${logged} ELSE ${linked} END` : linked,
      };
    },
    async drop(connection: DuckDBConnection): Promise<void> {
      await run(connection, sql`DROP TABLE IF EXISTS ${owners}`);
      await run(connection, sql`DROP TABLE IF EXISTS ${merged}`);
    },
  };
};
