/**
 * Operations that are written once for both databases, as generators that yield queries and receive results. SQLite
 * runs each query synchronously in its group commit; PostgreSQL awaits it in a transaction. A thrown error rolls the
 * operation back.
 */
import {
  type Compilable as CompilableQuery,
  createQueryId,
  DummyDriver,
  Kysely,
  type OperationNodeSource,
  PostgresQueryCompiler,
  type QueryCompiler,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import type { Schema } from './schema.ts';

/** Builds queries; never runs them. */
export const db = new Kysely<Schema>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (kysely) => new SqliteIntrospector(kysely),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
});

/**
 * SQL with values from `$1` on. For a database without SQL, the query is skipped and returns no rows. SQLite receives
 * arrays as JSON.
 */
interface NativeQuery<Row> {
  readonly sqlite?: string;
  readonly postgres?: string;
  readonly values?: readonly unknown[];
  /** Never set. */
  readonly row?: Row;
}

type Compilable<Row> = CompilableQuery<Row> & OperationNodeSource;

type Query<Row> = Compilable<Row> | NativeQuery<Row>;

/** Lets other reads run at this point. SQLite then continues the read on a new snapshot; PostgreSQL ignores pauses. */
export const pause = 'pause';

/**
 * What an operation yields: a query; operations, which PostgreSQL runs concurrently; or a function of the driver, which
 * may return a promise on PostgreSQL.
 */
export type Step = Query<unknown> | readonly Operation<unknown>[] | (() => unknown) | typeof pause;

export interface Result {
  readonly rows: readonly unknown[];
  /** The number of changed rows. */
  readonly changes: number;
}

/**
 * A shared operation. It yields steps with `yield*` and `run`, `all`, `first`, `together` or `call`, which return typed
 * results.
 */
export type Operation<Value> = Generator<Step, Value, unknown>;

/** Returns a query's rows. */
export function* all<Row>(query: Query<Row>): Operation<Row[]> {
  return ((yield query) as Result).rows as Row[];
}

/** Returns a query's first row. */
export function* first<Row>(query: Query<Row>): Operation<Row | undefined> {
  return (yield* all(query))[0];
}

/** Runs a query and returns the number of rows that it changed. */
export function* run(query: Query<unknown>): Operation<number> {
  return ((yield query) as Result).changes;
}

/** Runs operations that do not depend on each other, and returns their values. */
export function* together<Values extends readonly unknown[]>(
  ...operations: { readonly [Nth in keyof Values]: Operation<Values[Nth]> }
): Operation<Values> {
  return (yield operations) as Values;
}

/** Runs a function of the driver and returns its value. */
export function* call<Value>(work: () => Value): Operation<Awaited<Value>> {
  return (yield work) as Awaited<Value>;
}

/** The SQL that differs between the databases. */
export interface Dialect {
  readonly name: 'sqlite' | 'postgres';
  /** Returns a condition that checks whether a column has one of the values in an array. */
  readonly among: (parameter: string, type: 'integer' | 'bigint' | 'text') => string;
}

/**
 * Returns a function that creates a query from values, for SQL that both databases run. Used for statements that run
 * often, because compiling a query takes 30 µs, and for statements that Kysely cannot express.
 */
export const createQuery = <Row>(
  toSQL: (dialect: Dialect) => string,
): ((...values: readonly unknown[]) => NativeQuery<Row>) => {
  const sqlite = toSQL({ name: 'sqlite', among: (parameter) => `IN (SELECT value FROM json_each(${parameter}))` });
  const postgres = toSQL({ name: 'postgres', among: (parameter, type) => `= ANY (${parameter}::${type}[])` });
  return (...values) => ({ sqlite, postgres, values });
};

/**
 * Returns a condition, followed by AND, that only PostgreSQL needs to find rows. On SQLite, claim and statement numbers
 * are unique.
 */
export const within = ({ name }: Pick<Dialect, 'name'>, condition: string): string =>
  name === 'postgres' ? `${condition} AND` : '';
export const ofAccount = 'account = $1';
export const ofContact = `${ofAccount} AND contact = $2`;
export const ofUser = `${ofAccount} AND "user" = $2`;

/**
 * Serializes changes to an account's views, members and similar lists. SQLite has a single writer, so it needs no lock.
 */
export function* lockAccount(account: number): Operation<void> {
  yield { postgres: 'SELECT 1 FROM account_position WHERE account = $1 FOR NO KEY UPDATE', values: [account] };
}

/** Omits row locks, which SQLite does not have, and numbers the parameters. */
class SqliteCompiler extends SqliteQueryCompiler {
  protected override visitSelectModifier(): void {}
  protected override getCurrentParameterPlaceholder(): string {
    return `$${this.numParameters}`;
  }
}

interface CompiledSQL {
  readonly sql: string;
  readonly values: readonly unknown[];
}

const compile = (compiler: QueryCompiler, query: Compilable<unknown>): CompiledSQL => {
  const { sql, parameters } = compiler.compileQuery(query.toOperationNode() as never, createQueryId());
  return { sql, values: parameters };
};

export const isQuery = (step: Step): step is Query<unknown> => typeof step === 'object' && !Array.isArray(step);

const isNative = (query: Query<unknown>): query is NativeQuery<unknown> => !('compile' in query);

const createCompiler = (name: Dialect['name'], compiler: QueryCompiler) => (query: Query<unknown>) => {
  if (!isNative(query)) return compile(compiler, query);
  const { [name]: sql, values = [] } = query;
  return sql === undefined ? undefined : { sql, values };
};

/** Returns a query's SQL, with values from `$1` on; undefined if the query has no SQL for that database. */
export const toSqlite = createCompiler('sqlite', new SqliteCompiler());
export const toPostgres = createCompiler('postgres', new PostgresQueryCompiler());
