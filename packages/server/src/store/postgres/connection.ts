/** Connections to a PostgreSQL database, each with the settings that our promises rest on. */
import pg from 'pg';
import { StoreUnusable } from '../unusable.ts';

/** What SQL is asked of. What is asked at once goes out at once: answers come in the order of the questions. */
export interface Connection {
  all<Row>(sql: string, values?: readonly unknown[]): Promise<Row[]>;
  get<Row>(sql: string, values?: readonly unknown[]): Promise<Row | undefined>;
  /** As `get`, of SQL that always answers a row: a count, or what it has just written. */
  one<Row>(sql: string, values?: readonly unknown[]): Promise<Row>;
  /** Of SQL that reads or writes rows: answers how many. */
  run(sql: string, values?: readonly unknown[]): Promise<number>;
}

export interface ScriptedConnection extends Connection {
  /**
   * Several statements in one go; each sees what was committed before it. Answers the rows of each. What is `unhurried` may
   * take as long as PostgreSQL lets it.
   */
  script(sql: string, pace?: 'unhurried'): Promise<Record<string, unknown>[][]>;
}

/**
 * One of a pool's connections, which is its user's alone until it is released. From then on, and once it is rolled back, it
 * refuses what is asked: what goes on beside something that has failed may come to its next question only then.
 */
export interface TakenConnection extends ScriptedConnection {
  /** Tells this connection from all others that are open, of every server. */
  readonly slot: number;
  /** Throws when there is nothing to commit any more. */
  commit(): Promise<void>;
  rollBack(): Promise<void>;
  /**
   * What it was that failed first: of what was asked together PostgreSQL answers the others that the transaction has failed,
   * and any of these may be caught.
   */
  causeOf(error: unknown): unknown;
  /** Gives it back; one that is `broken` is closed instead. */
  release(broken: boolean): void;
}

export interface ConnectionPool {
  take(): Promise<TakenConnection>;
  /** Closes them; none may be taken. */
  close(): Promise<void>;
}

/** How long a statement waits for a lock, runs, or holds others up because its server has stopped. */
const patience = {
  lock_timeout: 5_000,
  statement_timeout: 30_000,
  idle_in_transaction_session_timeout: 10_000,
  connectionTimeoutMillis: 5_000,
  query_timeout: 35_000,
};

/** A connection that listens and hears no answer for so long is lost. */
const mostSilentMilliseconds = 2_000;

/** Keys of advisory locks are 64 bits wide: ours have one of the highest, so that they are nobody else's. */
export const lockKeys = {
  migration: '2305843009213693951',
  /** Held shared by whoever writes, and alone by whoever changes what all writers rest on. */
  structure: '2305843009213693952',
  /** Held by one server at a time, for what is not urgent. */
  tidying: '2305843009213693953',
  /** Plus a slot: held by the connection that has it. */
  slots: '3458764513820540928',
  /** Plus a sequence: see position.ts. */
  floors: '4611686018427387904',
} as const;

const int8 = 20;
const types: pg.CustomTypesConfig = {
  // Ours are sequences, times and counts: far below 2^53.
  getTypeParser: ((oid: number, format: 'text' | 'binary') =>
    oid === int8 ? Number : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
};

/** Each text is prepared once by each connection, under a name of its own. */
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
});

/** The longest that a timer can be set to. */
const longestMilliseconds = 2 ** 31 - 1;

const runScript = async (client: pg.ClientBase, sql: string, pace?: 'unhurried') => {
  const script = pace ? { text: sql, query_timeout: longestMilliseconds } : sql;
  const results = (await client.query(script)) as unknown as pg.QueryResult | pg.QueryResult[];
  return (Array.isArray(results) ? results : [results]).map(({ rows }) => rows);
};

/** How a plain connection is asked as all the others are. */
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

/** A connection is lost: the answers to what was asked, or is asked next, tell of it. */
const ignore = () => {};

/** Throws when a commit could be acknowledged that a crash takes back. */
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

/** Whether a server is there, or a command: each has a connection with a slot at least. */
export const isServed = async (db: Connection): Promise<boolean> =>
  (
    await db.one<{ served: boolean }>(`
      SELECT EXISTS (
        SELECT FROM pg_locks
        WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
          AND objsubid = 1 AND classid::bigint = ${BigInt(lockKeys.slots) >> 32n}
      ) AS served`)
  ).served;

const takeSlot = `SELECT n FROM generate_series(1, 1000000) AS n WHERE pg_try_advisory_lock(${lockKeys.slots} + n) LIMIT 1`;

/**
 * For reading pages: where PostgreSQL expects few rows it would gather and sort them all, rather than walk along the index
 * that has them in order. Pages of events need more than that (event-order.ts).
 */
export const inOrder = '-c enable_bitmapscan=off';

/** `settings` are what PostgreSQL is started with for each connection. */
export const openPool = (databaseURL: string, most: number, settings?: string): ConnectionPool => {
  const slots = new WeakMap<object, number>();
  const pool = new pg.Pool({
    ...optionsOf(databaseURL),
    max: most,
    ...(settings && { options: settings }),
    idleTimeoutMillis: 0,
    async onConnect(client) {
      await assertDurable(client);
      slots.set(client, (await client.query(takeSlot)).rows[0].n);
    },
  });
  // Of connections that nobody uses.
  pool.on('error', ignore);
  return {
    async take() {
      const client = await pool.connect();
      client.on('error', ignore);
      let isOver = false;
      let failure: unknown;
      /** While it is not over; notes what fails. */
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
        slot: slots.get(client) as number,
        script: (sql, pace) => guarded(() => runScript(client, sql, pace)),
        causeOf: (error) => (isOfFailed(error) ? (failure ?? error) : error),
        async commit() {
          // Where a statement has failed, PostgreSQL answers COMMIT by rolling back.
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

/** A connection of its own, to hear what others notify. */
export const openListener = async (
  databaseURL: string,
  { channel, heard, lost }: { channel: string; heard: () => void; lost: () => void },
): Promise<Pick<TakenConnection, 'script'> & { close(): Promise<void> }> => {
  const client = new pg.Client({ ...optionsOf(databaseURL), query_timeout: mostSilentMilliseconds });
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

/** A connection of its own without a pipeline, for COPY: without our patience too, because it takes as long as it takes. */
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

/** Whether there is a table of a name where ours are. Asked of its rows: names that were looked up are remembered as they were. */
export const hasTable = async (db: Connection, name: string): Promise<boolean> =>
  (await db.get('SELECT 1 FROM pg_class WHERE relname = $1 AND relnamespace = current_schema()::regnamespace', [
    name,
  ])) !== undefined;

/** The SQLSTATE of what PostgreSQL has thrown, or the system's code; '' of anything else. */
export const codeOf = (error: unknown): string => String((error as { code?: unknown } | null)?.code ?? '');

/** Something else has failed before, in the same transaction. */
const isOfFailed = (error: unknown): boolean => codeOf(error) === '25P02';

/** Two transactions were in each other's way, and one had to give in: carried out again, it may well succeed. */
export const isConflict = (error: unknown): boolean => /^40(001|P01)$/.test(codeOf(error));

/**
 * Nothing is wrong with what was asked: the database is away, is starting or stopping, lets nobody in, has no room, follows another
 * now, or takes too long. Classes of codes: https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
export const isNotNow = (error: unknown): boolean =>
  isConflict(error) ||
  /^(08|53|57|58|25006|25P0[34]|55P03|E[A-Z]+$)/.test(codeOf(error)) ||
  // The code alone says that some object is not in the state that is needed, which may be a fault of ours.
  (codeOf(error) === '55000' && /not currently accepting connections/.test(String(error))) ||
  (codeOf(error) === '' &&
    /connection (terminated|timeout|error)|timeout exceeded|read timeout|not queryable/i.test(String(error)));
