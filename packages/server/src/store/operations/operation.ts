/**
 * Operations that are written once for both databases, as generators that yield queries and receive results. SQLite
 * runs each query synchronously in its group commit; PostgreSQL awaits it in a transaction. A thrown error rolls it
 * back.
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

/** SQL for one of the databases. The other database skips it and returns no rows. */
interface NativeQuery {
  readonly sqlite?: string;
  readonly postgres?: string;
  readonly values?: readonly unknown[];
}

type Compilable<Row> = CompilableQuery<Row> & OperationNodeSource;

type Query = Compilable<unknown> | NativeQuery;

export interface Result {
  readonly rows: readonly unknown[];
  /** The number of changed rows. */
  readonly changes: number;
}

/** Use it through `yield*` and `run`, `all`, `first` and `native`, which return typed results. */
export type Operation<Value> = Generator<Query, Value, Result>;

/** Returns the rows of a query. */
export function* all<Row>(query: Compilable<Row>): Operation<Row[]> {
  return (yield query).rows as Row[];
}

/** Returns the first row of a query. */
export function* first<Row>(query: Compilable<Row>): Operation<Row | undefined> {
  return (yield* all(query))[0];
}

/** Runs a query and returns the number of rows that it changed. */
export function* run(query: Compilable<unknown>): Operation<number> {
  return (yield query).changes;
}

/** Runs SQL for one database and returns its rows. */
export function* native<Row>(query: NativeQuery): Operation<Row[]> {
  return (yield query).rows as Row[];
}

/** Serializes changes of one account's views, members and so on. SQLite needs no lock: it has one writer. */
export function* lockAccount(account: number): Operation<void> {
  yield { postgres: 'SELECT 1 FROM account_position WHERE account = $1 FOR NO KEY UPDATE', values: [account] };
}

/** Omits row locks, which SQLite does not have. */
class SqliteCompiler extends SqliteQueryCompiler {
  protected override visitSelectModifier(): void {}
}

interface CompiledSQL {
  readonly sql: string;
  readonly values: readonly unknown[];
}

const compile = (compiler: QueryCompiler, query: Compilable<unknown>): CompiledSQL => {
  const { sql, parameters } = compiler.compileQuery(query.toOperationNode() as never, createQueryId());
  return { sql, values: parameters };
};

const isNative = (query: Query): query is NativeQuery => !('compile' in query);

const createCompiler = (name: 'sqlite' | 'postgres', compiler: QueryCompiler) => (query: Query) => {
  if (!isNative(query)) return compile(compiler, query);
  const { [name]: sql, values = [] } = query;
  return sql === undefined ? undefined : { sql, values };
};

/** Both return undefined if the query has no SQL for that database. */
export const toSqlite = createCompiler('sqlite', new SqliteCompiler());
export const toPostgres = createCompiler('postgres', new PostgresQueryCompiler());
