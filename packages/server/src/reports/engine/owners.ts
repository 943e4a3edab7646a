/**
 * Stores the owners of users' events, as ranges of sequence numbers (stretches), with merges applied. The stretches and
 * merges are in the tables `owners_<account>` and `merged_<account>`.
 */
import type { DuckDBConnection } from '@duckdb/node-api';
import type { OwnerFeedPage } from '../../store/report-feed.ts';
import type { Manifest } from './files/files.ts';
import type { ParquetFiles } from './files/parquet-files.ts';
import { clause, integers, list, name, type SQL, sql } from './sql.ts';
import { appendIntegers, run } from './statements.ts';

/** Stands for the end of a stretch that is still growing. */
const openEnd = 2 ** 53;

const columns = clause`"user" BIGINT, after BIGINT, through BIGINT, contact BIGINT`;

type StoredOwners = Pick<Manifest, 'owners' | 'merged' | 'position'>;

/**
 * Returns a HAVING condition on a user's stretches: whether all of the user's events up to the sequence number belong
 * to one contact.
 */
export const hasSingleOwner = (through: number): SQL =>
  sql`count(*) = 1 AND max(after) = 0 AND min(through) >= ${through}`;

interface Tables {
  readonly owners: SQL;
  readonly merged: SQL;
}

/** Builds a query that returns the stretches, each with its person. */
const withPersons = (rows: SQL, { merged }: Tables): SQL =>
  clause`SELECT o."user", o.after, o.through, o.contact, coalesce(m.owner, o.contact) AS person
    FROM ${rows} o LEFT JOIN ${merged} m ON m.contact = o.contact`;

/** Replaces users' stretches. */
const replaceStretches = async (
  connection: DuckDBConnection,
  tables: Tables,
  users: OwnerFeedPage['users'],
): Promise<void> => {
  await run(connection, sql`CREATE OR REPLACE TEMP TABLE fresh (${columns})`);
  const rows = users.flatMap(({ user, stretches }) =>
    stretches.map(({ after, through, contact }) => [user, after, Math.min(through, openEnd), contact]),
  );
  appendIntegers(
    await connection.createAppender('fresh', 'main', 'temp'),
    [0, 1, 2, 3].map((column) => rows.map((row) => row[column] as number)),
  );
  const numbers = integers(users.map(({ user }) => user));
  await run(connection, sql`DELETE FROM ${tables.owners} WHERE "user" IN (SELECT unnest(${numbers}))`);
  await run(connection, sql`INSERT INTO ${tables.owners} ${withPersons(clause`fresh`, tables)}`);
  await run(connection, sql`DROP TABLE fresh`);
};

const replaceMerged = async (
  connection: DuckDBConnection,
  tables: Tables,
  all: NonNullable<OwnerFeedPage['merged']>,
): Promise<void> => {
  await run(
    connection,
    sql`CREATE OR REPLACE TABLE ${tables.merged} AS SELECT
      unnest(${integers(all.map(({ contact }) => contact))}) AS contact,
      unnest(${integers(all.map(({ owner }) => owner))}) AS owner`,
  );
  await run(connection, sql`CREATE OR REPLACE TABLE ${tables.owners} AS ${withPersons(tables.owners, tables)}`);
};

export const createOwners = (account: number, manifest: StoredOwners | null) => {
  const owners = name(`owners_${account}`);
  const merged = name(`merged_${account}`);
  const tables = { owners, merged };
  let stored: StoredOwners | null = manifest && {
    owners: manifest.owners,
    merged: manifest.merged,
    position: manifest.position,
  };
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

  return {
    /** The files with the owners; null if no files were written. */
    get stored(): StoredOwners | null {
      return stored;
    },
    /** Creates the tables, from the stored files if there are any. */
    async load(connection: DuckDBConnection, read: ParquetFiles['read']): Promise<void> {
      await run(connection, sql`CREATE OR REPLACE TABLE ${merged} (contact BIGINT, owner BIGINT)`);
      await run(connection, sql`CREATE OR REPLACE TABLE ${owners} (${columns}, person BIGINT)`);
      if (stored === null) return;
      await run(connection, sql`INSERT INTO ${merged} SELECT contact, owner FROM ${read([stored.merged])}`);
      await run(connection, sql`INSERT INTO ${owners} ${withPersons(read([stored.owners]), tables)}`);
      await count(connection);
    },
    async apply(connection: DuckDBConnection, { users, merged: all }: OwnerFeedPage): Promise<void> {
      if (users.length === 0 && all === null) return;
      await connection.run('BEGIN');
      if (users.length > 0) await replaceStretches(connection, tables, users);
      if (all !== null) await replaceMerged(connection, tables, all);
      await connection.run('COMMIT');
      await count(connection);
    },
    /** Writes the owners as of a feed position. Returns the names of the replaced files. */
    async write({ write }: ParquetFiles, position: string): Promise<string[]> {
      if (stored?.position === position) return [];
      const replaced = stored ? [stored.owners.name, stored.merged.name] : [];
      stored = {
        owners: await write('owners', sql`SELECT "user", after, through, contact FROM ${owners} ORDER BY ALL`, 4),
        merged: await write('merged', sql`SELECT * FROM ${merged}`, 2),
        position,
      };
      return replaced;
    },
    /** Returns the highest number of any contact that owns events. */
    async highestContact(connection: DuckDBConnection): Promise<number> {
      const [row] = await run(
        connection,
        sql`SELECT greatest((SELECT coalesce(max(person), 0) FROM ${owners}), (SELECT coalesce(max(owner), 0) FROM ${merged})) AS contact`,
      );
      return Number(row?.contact);
    },
    /**
     * Returns how to find an event's person (alias `e`): a contact if positive, a user without a contact if negative.
     * `areLogged` is whether there can be events that were logged with a contact.
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
