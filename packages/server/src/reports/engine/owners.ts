/** Whose the events of a user are: stretches of sequences, with merges followed. Kept in the tables `owners_<account>`, `merged_<account>`. */
import type { DuckDBConnection } from '@duckdb/node-api';
import type { FedOwners } from '../../store/report-feed.ts';
import { appendIntegers, runSQL, runWith } from './values.ts';

/** Stands for the open end of a stretch. */
const openEnd = 2 ** 53;

const columns = '"user" BIGINT, after BIGINT, through BIGINT, contact BIGINT';

/** Of a user's stretches: whether all its events up to the sequence belong to one contact. */
export const isWhole = (through: number): string => `count(*) = 1 AND max(after) = 0 AND min(through) >= ${through}`;

export const createOwners = (account: number) => {
  const owners = `owners_${account}`;
  const merged = `merged_${account}`;
  let stretches = 0;
  let merges = 0;

  const count = async (connection: DuckDBConnection): Promise<void> => {
    const [row] = await runSQL(
      connection,
      `SELECT (SELECT count(*) FROM ${owners}) AS stretches, (SELECT count(*) FROM ${merged}) AS merges`,
    );
    stretches = Number(row?.stretches);
    merges = Number(row?.merges);
  };
  const withPersons = `SELECT o."user", o.after, o.through, o.contact, coalesce(m.owner, o.contact) AS person`;

  const appendStretches = async (connection: DuckDBConnection, users: FedOwners['users']): Promise<void> => {
    await connection.run(`CREATE OR REPLACE TEMP TABLE fresh (${columns})`);
    const rows = users.flatMap(({ user, stretches: list }) =>
      list.map(({ after, through, contact }) => [user, after, Math.min(through, openEnd), contact]),
    );
    appendIntegers(
      await connection.createAppender('fresh', 'main', 'temp'),
      [0, 1, 2, 3].map((column) => rows.map((row) => row[column] as number)),
    );
    await runWith(
      connection,
      (values) =>
        `DELETE FROM ${owners} WHERE "user" IN (SELECT unnest(${values.integers(users.map(({ user }) => user))}))`,
    );
    await connection.run(
      `INSERT INTO ${owners} ${withPersons} FROM fresh o LEFT JOIN ${merged} m ON m.contact = o.contact`,
    );
    await connection.run('DROP TABLE fresh');
  };
  const replaceMerged = async (connection: DuckDBConnection, list: NonNullable<FedOwners['merged']>): Promise<void> => {
    await runWith(
      connection,
      (values) => `CREATE OR REPLACE TABLE ${merged} AS SELECT
        unnest(${values.integers(list.map(({ contact }) => contact))}) AS contact,
        unnest(${values.integers(list.map(({ owner }) => owner))}) AS owner`,
    );
    await connection.run(
      `CREATE OR REPLACE TABLE ${owners} AS ${withPersons} FROM ${owners} o LEFT JOIN ${merged} m ON m.contact = o.contact`,
    );
  };

  return {
    /** Makes the tables, from files if there are some. */
    async load(connection: DuckDBConnection, files: { readonly owners: string; readonly merged: string } | null) {
      const mergedRows = files ? `read_parquet('${files.merged}')` : '(SELECT 0 AS contact, 0 AS owner LIMIT 0)';
      const ownerRows = files
        ? `read_parquet('${files.owners}')`
        : '(SELECT 0 AS "user", 0 AS after, 0 AS through, 0 AS contact LIMIT 0)';
      await connection.run(`CREATE OR REPLACE TABLE ${merged} (contact BIGINT, owner BIGINT)`);
      await connection.run(`INSERT INTO ${merged} SELECT contact, owner FROM ${mergedRows}`);
      await connection.run(`CREATE OR REPLACE TABLE ${owners} (${columns}, person BIGINT)`);
      await connection.run(
        `INSERT INTO ${owners} ${withPersons} FROM ${ownerRows} o LEFT JOIN ${merged} m ON m.contact = o.contact`,
      );
      await count(connection);
    },
    async apply(connection: DuckDBConnection, { users, merged: list }: FedOwners): Promise<void> {
      if (users.length === 0 && list === null) return;
      await connection.run('BEGIN');
      if (users.length > 0) await appendStretches(connection, users);
      if (list !== null) await replaceMerged(connection, list);
      await connection.run('COMMIT');
      await count(connection);
    },
    /** What `load` reads. */
    rows: {
      owners: `SELECT "user", after, through, contact FROM ${owners} ORDER BY ALL`,
      merged: `SELECT * FROM ${merged}`,
    },
    /** The greatest number of a contact that owns something. */
    async greatest(connection: DuckDBConnection): Promise<number> {
      const [row] = await runSQL(
        connection,
        `SELECT greatest((SELECT coalesce(max(person), 0) FROM ${owners}), (SELECT coalesce(max(owner), 0) FROM ${merged})) AS contact`,
      );
      return Number(row?.contact);
    },
    /**
     * How to find the person of an event `e`, as a number: of a contact above zero, of a user without one below. `areLogged`: whether events
     * may be logged with contacts.
     */
    personOf(areLogged: boolean) {
      const joins: string[] = [];
      if (stretches > 0)
        joins.push(`LEFT JOIN ${owners} o ON o."user" = e."user" AND o.after < e.sequence AND e.sequence <= o.through`);
      if (areLogged && merges > 0) joins.push(`LEFT JOIN ${merged} m ON m.contact = e.contact`);
      const logged = merges > 0 ? 'coalesce(m.owner, e.contact)' : 'e.contact';
      const linked = stretches > 0 ? 'coalesce(o.person, -e."user")' : '-e."user"';
      return {
        joins: joins.join(' '),
        owners,
        merged,
        sql: areLogged ? `CASE WHEN e.contact > 0 THEN ${logged} ELSE ${linked} END` : linked,
      };
    },
    async drop(connection: DuckDBConnection): Promise<void> {
      await connection.run(`DROP TABLE IF EXISTS ${owners}`);
      await connection.run(`DROP TABLE IF EXISTS ${merged}`);
    },
  };
};
export type Owners = ReturnType<typeof createOwners>;
