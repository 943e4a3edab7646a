/** Connections to a PostgreSQL database, with the settings that durable commits and bounded waiting need. */
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { Refusal } from '../../../shared/refusal.ts';
import { StoreUnusable } from '../../unusable.ts';

/** Runs SQL. Statements are pipelined: they are sent at once, and PostgreSQL executes them in the order of the calls. */
export interface Connection {
  all<Row>(sql: string, values?: readonly unknown[]): Promise<Row[]>;
  get<Row>(sql: string, values?: readonly unknown[]): Promise<Row | undefined>;
  /** As `get`, for SQL that always returns a row: a count, or RETURNING. */
  one<Row>(sql: string, values?: readonly unknown[]): Promise<Row>;
  /** Returns how many rows the SQL has read or written. */
  run(sql: string, values?: readonly unknown[]): Promise<number>;
  /** Returns the rows, and how many were read or written. */
  query(sql: string, values?: readonly unknown[]): Promise<{ rows: unknown[]; changes: number }>;
}

/** A connection of one account. Its statements have the account's number as first value, except those about sent rows (row-statements.ts). */
export interface AccountConnection extends Connection {
  /** 0: the service itself, which has an audit log and nothing else. */
  readonly account: number;
}

export interface ScriptedConnection extends Connection {
  /**
   * Runs several statements in one message and returns the rows of each. Each statement sees what was committed before it.
   * `unhurried` lifts the client's time limit; PostgreSQL's own limits remain.
   */
  script(sql: string, pace?: 'unhurried'): Promise<Record<string, unknown>[][]>;
}

/**
 * A connection of a pool, for exclusive use until it is released. After a release or rollback it rejects further SQL: when one of
 * several parallel calls has failed, the others may still send statements.
 */
export interface TakenConnection extends ScriptedConnection {
  /** A number that no other open connection of any server has. */
  readonly slot: number;
  /** Whether the tables are distributed over a Citus cluster. */
  readonly isSpread: boolean;
  /** Throws when PostgreSQL rolls back instead, because a statement had failed. */
  commit(): Promise<void>;
  rollBack(): Promise<void>;
  /**
   * Returns the error that failed first. PostgreSQL rejects the statements after it only because the transaction has failed, and
   * the caller may have caught one of those errors.
   */
  causeOf(error: unknown): unknown;
  /** Returns the connection to the pool; a `broken` one is closed instead. */
  release(broken: boolean): void;
}

export interface ConnectionPool {
  take(): Promise<TakenConnection>;
  /** Closes all connections; none may be in use. */
  close(): Promise<void>;
}

/** Time limits in milliseconds: for waiting for a lock, for a statement, for a transaction that sends nothing, for connecting. */
const patience = {
  lock_timeout: 5_000,
  statement_timeout: 30_000,
  idle_in_transaction_session_timeout: 10_000,
  connectionTimeoutMillis: 5_000,
  query_timeout: 35_000,
};

/** A listening connection without a response for this long is lost. */
const maxSilentMilliseconds = 2_000;

/** Keys of advisory locks, 64 bits wide. They are near or above 2^61, so that other programs are unlikely to use the same. */
export const lockKeys = {
  migration: '2305843009213693951',
  /** Held shared by every write, and exclusively by migrations and copies. */
  structure: '2305843009213693952',
  /** Plus an account: held shared by every write of the account, and exclusively by one that runs alone: a merge, a new day, the end of an account. */
  accounts: '3746994889972252672',
  /** Held by one server at a time, to make or forget a day. */
  days: '2305843009213693954',
  /** Plus one of `contactLocks`: held shared to add to a contact, and exclusively to erase it. */
  contacts: '2594073385365405696',
  /** Plus an account: held shared to add to its refused requests, and exclusively to erase a person from them. */
  refused: '2882303761517117440',
  /** Plus an account: held by one server at a time, for work that is not urgent. */
  maintenance: '3170534137668829184',
  /** Plus a slot: held by the connection with that slot. */
  slots: '3458764513820540928',
  /** Plus a sequence, the floor of a transaction: see sequencer.ts. */
  floors: '4611686018427387904',
} as const;

const int8 = 20;
const types: pg.CustomTypesConfig = {
  // All int8 values are sequences, times and counts, far below 2^53.
  getTypeParser: ((oid: number, format: 'text' | 'binary') =>
    oid === int8 ? Number : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
};

/** The names of prepared statements. Each connection prepares each SQL text once. */
const names = new Map<string, string>();
const nameOf = (sql: string): string => {
  const known = names.get(sql);
  if (known) return known;
  const name = `firsthand_${names.size}`;
  names.set(sql, name);
  return name;
};

type Ask = (sql: string, values?: readonly unknown[]) => Promise<pg.QueryResult>;

const askOf =
  (client: pg.ClientBase): Ask =>
  (sql, values = []) =>
    client.query({ name: nameOf(sql), text: sql, values: values as unknown[] });

const toConnection = (ask: Ask): Connection => ({
  all: async <Row>(sql: string, values?: readonly unknown[]) => (await ask(sql, values)).rows as Row[],
  get: async <Row>(sql: string, values?: readonly unknown[]) => (await ask(sql, values)).rows[0] as Row | undefined,
  one: async <Row>(sql: string, values?: readonly unknown[]) => (await ask(sql, values)).rows[0] as Row,
  run: async (sql, values) => (await ask(sql, values)).rowCount as number,
  query: async (sql, values) => {
    const { rows, rowCount } = await ask(sql, values);
    return { rows, changes: rowCount as number };
  },
});

/** The longest delay of a timer. */
const longestMilliseconds = 2 ** 31 - 1;

const runScript = async (client: pg.ClientBase, sql: string, pace?: 'unhurried') => {
  const script = pace ? { text: sql, query_timeout: longestMilliseconds } : sql;
  const results = (await client.query(script)) as unknown as pg.QueryResult | pg.QueryResult[];
  return (Array.isArray(results) ? results : [results]).map(({ rows }) => rows);
};

/** Wraps a plain connection in the interface of the others. */
export const toScripted = (client: pg.ClientBase): ScriptedConnection => ({
  ...toConnection(askOf(client)),
  script: (sql, pace) => runScript(client, sql, pace),
});

const optionsOf = (databaseURL: string): pg.ClientConfig => ({
  connectionString: databaseURL,
  application_name: 'firsthand',
  keepAlive: true,
  pipeline: true,
  types,
  ...patience,
});

/** Ignores the loss of a connection: pending and later statements on it fail. */
const ignore = () => {};

/** Turns synchronous commits on. Throws StoreUnusable when a crash could undo an acknowledged commit. */
const assertDurable = async (client: pg.ClientBase): Promise<void> => {
  const settings = `
    SELECT current_setting('synchronous_commit') AS commit, current_setting('fsync') AS fsync, current_database() AS name`;
  const { commit, fsync, name } = (await client.query(settings)).rows[0];
  const which = `the PostgreSQL that has the database ${name}`;
  if (fsync !== 'on') throw new StoreUnusable(`${which} runs with fsync = off: turn it on`);
  if (commit !== 'off') return;
  await client.query('SET synchronous_commit = on');
  const after = (await client.query(settings)).rows[0];
  if (after.commit !== 'on') throw new StoreUnusable(`${which} cannot commit synchronously`);
};

/** The locks of slots. Each server, and each command that uses the database, has at least one connection with a slot. */
const slotsHeld = `pg_locks
  WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND objsubid = 1 AND classid::bigint = ${BigInt(lockKeys.slots) >> 32n}`;

/** Returns PostgreSQL's processes for the connections of servers and of other commands. */
export const listServing = async (db: Connection): Promise<number[]> =>
  (await db.all<{ pid: number }>(`SELECT DISTINCT pid FROM ${slotsHeld} AND pid <> pg_backend_pid() ORDER BY pid`)).map(
    ({ pid }) => pid,
  );

/** Whether a server or another command uses the database. */
export const isServed = async (db: Connection): Promise<boolean> => (await listServing(db)).length > 0;

/** A closed connection may hold its locks for some milliseconds longer. */
const freeingMilliseconds = 2_000;
const freeingPause = 20;

/** Calls `isFree` until it returns true, for up to two seconds. Returns whether it has. */
export const insistOnFree = async (isFree: () => Promise<boolean>): Promise<boolean> => {
  const began = performance.now();
  while (!(await isFree())) {
    if (performance.now() - began >= freeingMilliseconds) return false;
    await wait(freeingPause);
  }
  return true;
};

/** Returns the age, in milliseconds, of the oldest connection of a server or of another command; 0: there is none. */
export const servedMilliseconds = async (db: Connection): Promise<number> =>
  (
    await db.one<{ age: number }>(`
      SELECT coalesce(extract(epoch FROM clock_timestamp() - min(backend_start)) * 1000, 0)::bigint AS age FROM pg_stat_activity
      WHERE pid <> pg_backend_pid() AND pid IN (SELECT pid FROM ${slotsHeld})`)
  ).age;

/**
 * Skips numbers if the coordinator may have lost those that it drew last (cluster-functions.ts). Each connection of a pool asks for that when it opens, and
 * each copy from a cluster, because no connection outlives a crash of the coordinator.
 */
export const skipLostNumbers = async (client: pg.ClientBase): Promise<void> => {
  // Missing until the cluster is migrated.
  const { rows } = await client.query("SELECT to_regproc('skip_numbers') IS NOT NULL AS exists");
  // The commit waits for no standby, so that reads go on while none responds. A standby that missed the skip skips more when it is promoted.
  const sql = "SELECT set_config('synchronous_commit', 'local', true), skip_numbers()";
  if (rows[0].exists) await client.query(sql);
};

/** Whether the tables are distributed over a Citus cluster. */
export const isSpreadOver = async (db: Connection): Promise<boolean> => {
  const { exists } = await db.one<{ exists: boolean }>("SELECT to_regclass('pg_dist_partition') IS NOT NULL AS exists");
  if (!exists) return false;
  const sql = "SELECT 1 FROM pg_dist_partition WHERE logicalrelid = to_regclass('account_position')";
  return (await db.get(sql)) !== undefined;
};

/** SQL. In the list of a SELECT: in FROM, PostgreSQL makes the whole series first, which takes 200 ms and 13 MiB on the disk. */
export const takeSlot = `
  SELECT n FROM (SELECT generate_series(1, 1000000) AS n) AS slot WHERE pg_try_advisory_lock(${lockKeys.slots} + n) LIMIT 1`;

/**
 * Settings for reading pages: without them, PostgreSQL collects and sorts all rows when it expects few, rather than read them in
 * order from an index. Pages of events need more settings (event-order.ts).
 */
export const inOrder = '-c enable_bitmapscan=off';
/** The same for a transaction on a cluster, whose other machines do not get the options of a connection. */
export const inOrderLocally = ['SET LOCAL enable_bitmapscan = off'];

/**
 * Settings for storing events, whose statements find rows by their keys: without them, a plan that PostgreSQL makes while a table is small,
 * and keeps, reads all rows of it, until the table is analyzed. On a cluster they do not reach the other machines.
 */
export const byKey = '-c enable_hashjoin=off -c enable_mergejoin=off -c enable_seqscan=off';

/**
 * Runs statements that change settings for a transaction, and those that begin it. On a cluster the settings hold on all its machines:
 * Citus sends them the text of a whole message, so each statement is a message of its own.
 */
export const setLocally = async (
  db: Pick<TakenConnection, 'isSpread' | 'script'>,
  statements: readonly string[],
): Promise<void> => {
  await Promise.all((db.isSpread ? statements : [statements.join('; ')]).map((sql) => db.script(sql)));
};

/**
 * Settings of a session on a Citus cluster. SET LOCAL reaches the other machines. A statement about all shards, also a SELECT, uses one connection to each
 * machine. By default Citus opens up to 16, which costs more than the work: making the empty tables of a new day took 1.5 s instead of 0.1, with 32
 * shards on two cores.
 */
const clusterSettings = "SET citus.propagate_set_commands = 'local'; SET citus.multi_shard_modify_mode = 'sequential'";
/** Citus' default again, for a transaction that may change large tables or wait for a lock of each shard: the shards of a machine in parallel. */
export const inParallelLocally = ["SET LOCAL citus.multi_shard_modify_mode = 'parallel'"];

/** Opens a pool of up to `most` connections. `settings` are the start options of each. */
export const openPool = (databaseURL: string, most: number, settings?: string): ConnectionPool => {
  const opened = new WeakMap<object, Pick<TakenConnection, 'slot' | 'isSpread'>>();
  const pool = new pg.Pool({
    ...optionsOf(databaseURL),
    max: most,
    ...(settings && { options: settings }),
    idleTimeoutMillis: 0,
    async onConnect(client) {
      await assertDurable(client);
      // A plan without sequential scans counts as very dear in PostgreSQL up to 17, and what is dear is compiled: in each commit of events,
      // 4 ms of processor for a statement that takes 0.1.
      await client.query('SET jit = off');
      // The slot is taken before that is read, because `migrate --citus` looks for slots after it has distributed the tables.
      const slot: number = (await client.query(takeSlot)).rows[0].n;
      const isSpread = await isSpreadOver(toConnection(askOf(client)));
      if (isSpread) {
        await client.query(clusterSettings);
        await skipLostNumbers(client);
      }
      opened.set(client, { slot, isSpread });
    },
  });
  // Errors of idle connections.
  pool.on('error', ignore);
  return {
    async take() {
      const client = await pool.connect();
      client.on('error', ignore);
      let isOver = false;
      let failure: unknown;
      /** Rejects SQL after the end of the transaction; remembers the first failure. */
      const guarded = async <Answer>(ask: () => Promise<Answer>): Promise<Answer> => {
        if (isOver) throw new Error('a connection is asked whose transaction is over');
        try {
          return await ask();
        } catch (error) {
          if (!isOfFailed(error)) failure ??= error;
          throw error;
        }
      };
      const ask = askOf(client);
      return {
        ...toConnection((sql, values) => guarded(() => ask(sql, values))),
        ...(opened.get(client) as Pick<TakenConnection, 'slot' | 'isSpread'>),
        script: (sql, pace) => guarded(() => runScript(client, sql, pace)),
        causeOf: (error) => (isOfFailed(error) ? (failure ?? error) : error),
        async commit() {
          // When a statement has failed, PostgreSQL executes COMMIT as ROLLBACK.
          const { command } = await client.query('COMMIT');
          if (command !== 'COMMIT') throw new Error(`a commit was answered by ${command}`);
        },
        async rollBack() {
          isOver = true;
          await client.query('ROLLBACK');
        },
        release(broken) {
          isOver = true;
          client.off('error', ignore);
          client.release(broken);
        },
      };
    },
    close: () => pool.end(),
  };
};

/** Runs work on a connection of its own, which is closed afterwards. */
export const onOneConnection = async <Value>(
  databaseURL: string,
  work: (db: TakenConnection) => Promise<Value>,
): Promise<Value> => {
  const pool = openPool(databaseURL, 1);
  try {
    const db = await pool.take();
    return await work(db).finally(() => db.release(true));
  } finally {
    await pool.close();
  }
};

/** Opens a separate connection that listens for notifications. Calls `lost` when it breaks. */
export const openListener = async (
  databaseURL: string,
  { channel, heard, lost }: { channel: string; heard: () => void; lost: () => void },
): Promise<Pick<TakenConnection, 'script'> & { close(): Promise<void> }> => {
  const client = new pg.Client({ ...optionsOf(databaseURL), query_timeout: maxSilentMilliseconds });
  client.on('notification', heard);
  client.on('error', lost);
  client.on('end', lost);
  try {
    await client.connect();
    await client.query(`LISTEN ${channel}`);
  } catch (error) {
    await client.end();
    throw error;
  }
  return { script: (sql, pace) => runScript(client, sql, pace), close: () => client.end() };
};

/** Opens a separate connection for COPY, without pipelining and without time limits. */
export const openPlain = async (databaseURL: string): Promise<pg.Client> => {
  const client = new pg.Client({ connectionString: databaseURL, types });
  client.on('error', ignore);
  try {
    await client.connect();
    await client.query('SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0');
    await assertDurable(client);
  } catch (error) {
    await client.end();
    throw error;
  }
  return client;
};

/**
 * Whether the current schema has a table with this name. Reads the rows of pg_class, because PostgreSQL caches lookups of names.
 */
export const hasTable = async (db: Connection, name: string): Promise<boolean> =>
  (await db.get('SELECT 1 FROM pg_class WHERE relname = $1 AND relnamespace = current_schema()::regnamespace', [
    name,
  ])) !== undefined;

/** Returns the SQLSTATE of PostgreSQL's error, or the code of a system error; '' for other errors. */
export const codeOf = (error: unknown): string => String((error as { code?: unknown } | null)?.code ?? '');

/** Returns the function of PostgreSQL that reported the error. */
const routineOf = (error: unknown): unknown => (error as { routine?: unknown } | null)?.routine;

/** Whether the error only says that an earlier statement of the same transaction has failed (in_failed_sql_transaction). */
const isOfFailed = (error: unknown): boolean => codeOf(error) === '25P02';

/** Another transaction changed rows that this one had read, before it could lock them. This one runs again and sees the change. */
export class Overtaken extends Error {
  /** serialization_failure, the SQLSTATE with which PostgreSQL itself reports such conflicts. */
  readonly code = '40001';
}

/** Whether a transaction failed because of a conflict with another (serialization failure or deadlock). It can be tried again. */
export const isConflict = (error: unknown): boolean => /^40(001|P01)$/.test(codeOf(error));

/** Whether a transaction was refused because it waited too long for a lock (lock_not_available). */
export const isLate = (error: unknown): boolean => error instanceof Refusal && codeOf(error.cause) === '55P03';

/** Messages of a Citus coordinator that has lost a worker. */
const ofLostWorker =
  /could not commit transaction for shard|connection to the remote node|failure on connection|server closed the connection|terminating connection|SSL connection has been closed|SSL SYSCALL error|could not (receive|send) data|no connection to the server/i;

/**
 * Whether the statement is fine but the database cannot execute it now: it is unreachable, starting or stopping, accepts no
 * connections, is full, has become a standby, takes too long, has no partition of the day yet, or is a machine of a cluster that could lose what it
 * commits (FH003). Classes of codes:
 * https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
export const isNotNow = (error: unknown): boolean =>
  isConflict(error) ||
  /^(08|53|57|58|25006|25P0[34]|55P03|FH003|E[A-Z]+$)/.test(codeOf(error)) ||
  // 55000 alone says that an object is not in the required state, which can also be a bug of this program.
  (codeOf(error) === '55000' &&
    /not currently accepting connections|is a metadata node, but is out of sync|does not have a replica identity/.test(
      String(error),
    )) ||
  // check_violation. A worker may commit the second phase of creating partitions later than the others.
  // PostgreSQL translates the message but not the name of its function; through a Citus coordinator the name may be missing.
  (codeOf(error) === '23514' &&
    (routineOf(error) === 'ExecFindPartition' || /no partition of relation/.test(String(error)))) ||
  // internal_error
  (codeOf(error) === 'XX000' && ofLostWorker.test(String(error))) ||
  (codeOf(error) === '' &&
    /connection (terminated|timeout|error)|timeout exceeded|read timeout|not queryable/i.test(String(error)));
