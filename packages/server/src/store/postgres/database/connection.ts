/** Connections to a PostgreSQL database, set up for durable commits and bounded waits. */
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { Refusal } from '../../../shared/refusal.ts';
import { StoreUnusable } from '../../unusable.ts';

/** Runs SQL. Statements are pipelined: sent without waiting for results, and executed in the order of the calls. */
export interface Connection {
  all<Row>(sql: string, values?: readonly unknown[]): Promise<Row[]>;
  get<Row>(sql: string, values?: readonly unknown[]): Promise<Row | undefined>;
  /** Like `get`, for SQL that always returns a row, such as a count or RETURNING. */
  one<Row>(sql: string, values?: readonly unknown[]): Promise<Row>;
  /** Returns how many rows the SQL read or wrote. */
  run(sql: string, values?: readonly unknown[]): Promise<number>;
  /** Returns the rows, and how many were read or written. */
  query(sql: string, values?: readonly unknown[]): Promise<{ rows: unknown[]; changes: number }>;
}

/**
 * A connection for one account, whose number is the first value of its statements, except those of row-statements.ts.
 */
export interface AccountConnection extends Connection {
  /** 0: the service itself, which has only an audit log. */
  readonly account: number;
}

export interface ScriptedConnection extends Connection {
  /**
   * Runs several statements in one message and returns the rows of each. Each statement sees what was committed before
   * it started. `unhurried` lifts the client's time limit; PostgreSQL's own limits remain.
   */
  script(sql: string, pace?: 'unhurried'): Promise<Record<string, unknown>[][]>;
}

/**
 * A pool connection, for exclusive use until it is released. After a release or rollback it rejects further SQL,
 * because other parallel calls may still send statements after one of them has failed.
 */
export interface HeldConnection extends ScriptedConnection {
  /** A number that no other open connection of any server has. */
  readonly slot: number;
  /** Whether the tables are distributed over a Citus cluster. */
  readonly isDistributed: boolean;
  /** Throws if PostgreSQL rolls back instead because a statement failed. */
  commit(): Promise<void>;
  rollBack(): Promise<void>;
  /**
   * Returns the transaction's first error if the given error is only a consequence of it (in_failed_sql_transaction).
   */
  causeOf(error: unknown): unknown;
  /** Returns the connection to the pool, or closes it if it is `broken`. */
  release(broken: boolean): void;
}

export interface ConnectionPool {
  take(): Promise<HeldConnection>;
  /** Closes all connections; none may be in use. */
  close(): Promise<void>;
}

/** The timeouts, in milliseconds. */
const timeouts = {
  lock_timeout: 5_000,
  statement_timeout: 30_000,
  idle_in_transaction_session_timeout: 10_000,
  connectionTimeoutMillis: 5_000,
  query_timeout: 35_000,
};

/** How long a listening connection may get no response before it is considered lost. */
const maxSilentMilliseconds = 2_000;

/** Keys of 64-bit advisory locks, near or above 2^61, so that other programs are unlikely to use the same keys. */
export const lockKeys = {
  migration: '2305843009213693951',
  /** Held in shared mode by every write, and exclusively by migrations and copies. */
  structure: '2305843009213693952',
  /**
   * Plus an account: held in shared mode by its writes, and exclusively by merges, new days and the end of a deletion.
   */
  accounts: '3746994889972252672',
  /** Held by one server at a time, to prepare or drop a day. */
  days: '2305843009213693954',
  /** Plus a number below `contactLocks`: held in shared mode to add rows to a contact, and exclusively to erase it. */
  contacts: '2594073385365405696',
  /** Plus an account: held in shared mode to store refused requests, and exclusively to erase a person from them. */
  refused: '2882303761517117440',
  /** Plus an account: held by one server at a time, for maintenance. */
  maintenance: '3170534137668829184',
  /** Plus a slot: held by the connection with that slot. */
  slots: '3458764513820540928',
  /** Plus a sequence, the floor of a transaction (sequencer.ts). */
  floors: '4611686018427387904',
} as const;

const int8 = 20;
const types: pg.CustomTypesConfig = {
  // Parses int8 values as numbers: they are sequences, times and counts, all far below 2^53.
  getTypeParser: ((oid: number, format: 'text' | 'binary') =>
    oid === int8 ? Number : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
};

/** The names of prepared statements. Each connection prepares each SQL text once. */
const names = new Map<string, string>();
const nameOf = (sql: string): string => {
  const existing = names.get(sql);
  if (existing) return existing;
  const name = `firsthand_${names.size}`;
  names.set(sql, name);
  return name;
};

type Send = (sql: string, values?: readonly unknown[]) => Promise<pg.QueryResult>;

const createSend =
  (client: pg.ClientBase): Send =>
  (sql, values = []) =>
    client.query({ name: nameOf(sql), text: sql, values: values as unknown[] });

const toConnection = (send: Send): Connection => ({
  all: async <Row>(sql: string, values?: readonly unknown[]) => (await send(sql, values)).rows as Row[],
  get: async <Row>(sql: string, values?: readonly unknown[]) => (await send(sql, values)).rows[0] as Row | undefined,
  one: async <Row>(sql: string, values?: readonly unknown[]) => (await send(sql, values)).rows[0] as Row,
  run: async (sql, values) => (await send(sql, values)).rowCount as number,
  query: async (sql, values) => {
    const { rows, rowCount } = await send(sql, values);
    return { rows, changes: rowCount as number };
  },
});

/** The maximum delay of a timer. */
const maxTimerMilliseconds = 2 ** 31 - 1;

const runScript = async (client: pg.ClientBase, sql: string, pace?: 'unhurried') => {
  const script = pace ? { text: sql, query_timeout: maxTimerMilliseconds } : sql;
  const results = (await client.query(script)) as unknown as pg.QueryResult | pg.QueryResult[];
  return (Array.isArray(results) ? results : [results]).map(({ rows }) => rows);
};

/** Wraps a plain connection in the pool connection interface. */
export const toScriptedConnection = (client: pg.ClientBase): ScriptedConnection => ({
  ...toConnection(createSend(client)),
  script: (sql, pace) => runScript(client, sql, pace),
});

const optionsOf = (databaseURL: string): pg.ClientConfig => ({
  connectionString: databaseURL,
  application_name: 'firsthand',
  keepAlive: true,
  pipeline: true,
  types,
  ...timeouts,
});

/** Ignores a lost connection: its pending and later statements fail. */
const ignore = () => {};

/** Turns synchronous commits on. Throws StoreUnusable when a crash could undo an acknowledged commit. */
const assertDurable = async (client: pg.ClientBase): Promise<void> => {
  const settings = `
    SELECT current_setting('synchronous_commit') AS commit, current_setting('fsync') AS fsync, current_database() AS name`;
  const { commit, fsync, name } = (await client.query(settings)).rows[0];
  const server = `the PostgreSQL server of the database ${name}`;
  if (fsync !== 'on') throw new StoreUnusable(`${server} runs with fsync = off: turn it on`);
  if (commit !== 'off') return;
  await client.query('SET synchronous_commit = on');
  const after = (await client.query(settings)).rows[0];
  if (after.commit !== 'on') throw new StoreUnusable(`${server} cannot commit synchronously`);
};

/** SQL for slot locks. Each server or command that uses the database has at least one connection with a slot. */
const slotLocks = `pg_locks
  WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND objsubid = 1 AND classid::bigint = ${BigInt(lockKeys.slots) >> 32n}`;

/** Returns the PIDs of the backends that serve servers and other commands. */
export const listClientProcesses = async (db: Connection): Promise<number[]> =>
  (await db.all<{ pid: number }>(`SELECT DISTINCT pid FROM ${slotLocks} AND pid <> pg_backend_pid() ORDER BY pid`)).map(
    ({ pid }) => pid,
  );

/** Whether a server or another command is connected. */
export const hasClients = async (db: Connection): Promise<boolean> => (await listClientProcesses(db)).length > 0;

/** How long to wait for a closed connection to release its locks, which can take some milliseconds. */
const freeTimeoutMilliseconds = 2_000;
const freePollMilliseconds = 20;

/** Polls `isFree` for up to two seconds. Returns whether it has returned true. */
export const waitUntilFree = async (isFree: () => Promise<boolean>): Promise<boolean> => {
  const began = performance.now();
  while (!(await isFree())) {
    if (performance.now() - began >= freeTimeoutMilliseconds) return false;
    await wait(freePollMilliseconds);
  }
  return true;
};

/** Returns the age, in milliseconds, of the oldest connection from a server or another command; 0 if there is none. */
export const oldestClientMilliseconds = async (db: Connection): Promise<number> =>
  (
    await db.one<{ age: number }>(`
      SELECT coalesce(extract(epoch FROM clock_timestamp() - min(backend_start)) * 1000, 0)::bigint AS age FROM pg_stat_activity
      WHERE pid <> pg_backend_pid() AND pid IN (SELECT pid FROM ${slotLocks})`)
  ).age;

/**
 * Skips numbers if the coordinator may have lost its last draws (cluster-functions.ts). Called for each new connection
 * and each copy from a cluster, because no connection outlives a crash of the coordinator.
 */
export const skipLostNumbers = async (client: pg.ClientBase): Promise<void> => {
  // The function is missing until the cluster is migrated.
  const { rows } = await client.query("SELECT to_regproc('skip_numbers') IS NOT NULL AS exists");
  // Does not wait for a standby, so that reads work while no standby responds. If a promoted standby missed the skip,
  // it skips more numbers itself.
  const sql = "SELECT set_config('synchronous_commit', 'local', true), skip_numbers()";
  if (rows[0].exists) await client.query(sql);
};

/** Whether the tables are distributed over a Citus cluster. */
export const hasDistributedTables = async (db: Connection): Promise<boolean> => {
  const { exists } = await db.one<{ exists: boolean }>("SELECT to_regclass('pg_dist_partition') IS NOT NULL AS exists");
  if (!exists) return false;
  const sql = "SELECT 1 FROM pg_dist_partition WHERE logicalrelid = to_regclass('account_position')";
  return (await db.get(sql)) !== undefined;
};

/**
 * SQL that takes a free slot. The series is in the SELECT list, because in FROM it is materialized first, which takes
 * 200 ms and 13 MiB of temporary files.
 */
export const takeSlot = `
  SELECT n FROM (SELECT generate_series(1, 1000000) AS n) AS slot WHERE pg_try_advisory_lock(${lockKeys.slots} + n) LIMIT 1`;

/**
 * Options for reading pages in index order. Without them, PostgreSQL collects and sorts all rows when it expects few
 * rows. Event pages need more settings (event-order.ts).
 */
export const orderedScanOptions = '-c enable_bitmapscan=off';
/** `orderedScanOptions` as settings of a transaction on a cluster, whose workers do not get a connection's options. */
export const orderedScanSettings = ['SET LOCAL enable_bitmapscan = off'];

/**
 * Options for storing events, whose statements find rows by key. Without them, a plan that was cached while a table was
 * small scans the table until the next ANALYZE. On a cluster, the options do not reach the workers.
 */
export const keyLookupOptions = '-c enable_hashjoin=off -c enable_mergejoin=off -c enable_seqscan=off';

/**
 * Runs statements that begin a transaction and change its settings. Sends them one by one on a cluster, because Citus
 * forwards the text of a whole message to the workers.
 */
export const setLocally = async (
  db: Pick<HeldConnection, 'isDistributed' | 'script'>,
  statements: readonly string[],
): Promise<void> => {
  await Promise.all((db.isDistributed ? statements : [statements.join('; ')]).map((sql) => db.script(sql)));
};

/**
 * Session settings on a Citus cluster: SET LOCAL reaches the workers, and statements on all shards use one connection
 * per worker. With Citus' default of up to 16 connections, creating a day's tables took 1.5 s instead of 0.1 s (32
 * shards, two cores).
 */
const clusterSettings = "SET citus.propagate_set_commands = 'local'; SET citus.multi_shard_modify_mode = 'sequential'";
/**
 * Restores Citus' default, which is to run on a worker's shards in parallel, for transactions on large tables or with
 * locks on all shards.
 */
export const parallelShardSettings = ["SET LOCAL citus.multi_shard_modify_mode = 'parallel'"];

/** Opens a pool of up to `max` connections. `settings` are the start options of each. */
export const openPool = (databaseURL: string, max: number, settings?: string): ConnectionPool => {
  const opened = new WeakMap<object, Pick<HeldConnection, 'slot' | 'isDistributed'>>();
  const pool = new pg.Pool({
    ...optionsOf(databaseURL),
    max,
    ...(settings && { options: settings }),
    idleTimeoutMillis: 0,
    async onConnect(client) {
      await assertDurable(client);
      // With sequential scans off, PostgreSQL up to 17 assigns plans a huge cost, which triggers JIT compilation: 4 ms
      // of CPU in each commit of events, for a statement that takes 0.1 ms.
      await client.query('SET jit = off');
      // Takes the slot before it reads `isDistributed`, because `migrate --citus` checks the slots after it has
      // distributed the tables.
      const slot: number = (await client.query(takeSlot)).rows[0].n;
      const isDistributed = await hasDistributedTables(toConnection(createSend(client)));
      if (isDistributed) {
        await client.query(clusterSettings);
        await skipLostNumbers(client);
      }
      opened.set(client, { slot, isDistributed });
    },
  });
  // Without this listener, an error on an idle connection would crash the process.
  pool.on('error', ignore);
  return {
    async take() {
      const client = await pool.connect();
      client.on('error', ignore);
      let isOver = false;
      let failure: unknown;
      /** Rejects SQL after the end of the transaction, and records the first failure. */
      const guarded = async <Result>(run: () => Promise<Result>): Promise<Result> => {
        if (isOver) throw new Error('a statement was sent after the end of its transaction');
        try {
          return await run();
        } catch (error) {
          if (!isAfterFailure(error)) failure ??= error;
          throw error;
        }
      };
      const send = createSend(client);
      return {
        ...toConnection((sql, values) => guarded(() => send(sql, values))),
        ...(opened.get(client) as Pick<HeldConnection, 'slot' | 'isDistributed'>),
        script: (sql, pace) => guarded(() => runScript(client, sql, pace)),
        causeOf: (error) => (isAfterFailure(error) ? (failure ?? error) : error),
        async commit() {
          // When a statement has failed, PostgreSQL executes COMMIT as ROLLBACK.
          const { command } = await client.query('COMMIT');
          if (command !== 'COMMIT') throw new Error(`PostgreSQL responded to COMMIT with ${command}`);
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

/** Runs work on a separate connection, and closes it afterwards. */
export const runOnConnection = async <Value>(
  databaseURL: string,
  work: (db: HeldConnection) => Promise<Value>,
): Promise<Value> => {
  const pool = openPool(databaseURL, 1);
  try {
    const db = await pool.take();
    return await work(db).finally(() => db.release(true));
  } finally {
    await pool.close();
  }
};

/** Opens a separate connection that listens for notifications. Calls `onLost` when it breaks. */
export const openListener = async (
  databaseURL: string,
  { channel, onNotification, onLost }: { channel: string; onNotification: () => void; onLost: () => void },
): Promise<Pick<HeldConnection, 'script'> & { close(): Promise<void> }> => {
  const client = new pg.Client({ ...optionsOf(databaseURL), query_timeout: maxSilentMilliseconds });
  client.on('notification', onNotification);
  client.on('error', onLost);
  client.on('end', onLost);
  try {
    await client.connect();
    await client.query(`LISTEN ${channel}`);
  } catch (error) {
    await client.end();
    throw error;
  }
  return { script: (sql, pace) => runScript(client, sql, pace), close: () => client.end() };
};

/** Opens a separate connection for COPY, without pipelining or timeouts. */
export const openCopyConnection = async (databaseURL: string): Promise<pg.Client> => {
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

/** Whether the current schema has a table with this name. Reads pg_class, because PostgreSQL caches name lookups. */
export const hasTable = async (db: Connection, name: string): Promise<boolean> =>
  (await db.get('SELECT 1 FROM pg_class WHERE relname = $1 AND relnamespace = current_schema()::regnamespace', [
    name,
  ])) !== undefined;

/** Returns the SQLSTATE of PostgreSQL's error, or the code of a system error; '' for other errors. */
export const codeOf = (error: unknown): string => String((error as { code?: unknown } | null)?.code ?? '');

/** Returns the PostgreSQL function that reported the error. */
const routineOf = (error: unknown): unknown => (error as { routine?: unknown } | null)?.routine;

/** Whether the error is only a consequence of an earlier one in the same transaction (in_failed_sql_transaction). */
const isAfterFailure = (error: unknown): boolean => codeOf(error) === '25P02';

/**
 * Another transaction changed rows between this transaction's read and lock. This transaction runs again and sees the
 * change.
 */
export class ConcurrentChange extends Error {
  /** serialization_failure, the SQLSTATE with which PostgreSQL itself reports such conflicts. */
  readonly code = '40001';
}

/** Whether a transaction failed because of a serialization failure or deadlock, and can be retried. */
export const isConflict = (error: unknown): boolean => /^40(001|P01)$/.test(codeOf(error));

/** Whether a transaction was refused because of a lock timeout (lock_not_available). */
export const isLockTimeout = (error: unknown): boolean => error instanceof Refusal && codeOf(error.cause) === '55P03';

/** Messages of a Citus coordinator that has lost a worker. */
const ofLostWorker =
  /could not commit transaction for shard|connection to the remote node|failure on connection|server closed the connection|terminating connection|SSL connection has been closed|SSL SYSCALL error|could not (receive|send) data|no connection to the server/i;

/**
 * Whether the database cannot execute a valid statement now, because it is unreachable, starting, stopping, full, a
 * standby or too slow, lacks the day's partition, or could lose commits (FH003). Codes:
 * https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
export const isTransient = (error: unknown): boolean =>
  isConflict(error) ||
  /^(08|53|57|58|25006|25P0[34]|55P03|FH003|E[A-Z]+$)/.test(codeOf(error)) ||
  // 55000 (object_not_in_prerequisite_state) alone can also be a bug in this program.
  (codeOf(error) === '55000' &&
    /not currently accepting connections|is a metadata node, but is out of sync|does not have a replica identity/.test(
      String(error),
    )) ||
  // check_violation: the partition is still missing on one worker, which can commit the second phase of its creation
  // later than the others. The message may be localized, and a Citus coordinator may omit the function's name.
  (codeOf(error) === '23514' &&
    (routineOf(error) === 'ExecFindPartition' || /no partition of relation/.test(String(error)))) ||
  // internal_error
  (codeOf(error) === 'XX000' && ofLostWorker.test(String(error))) ||
  (codeOf(error) === '' &&
    /connection (terminated|timeout|error)|timeout exceeded|read timeout|not queryable/i.test(String(error)));
