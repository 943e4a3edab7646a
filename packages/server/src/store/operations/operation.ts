/**
 * Operations of the store that are written once, for both databases. An operation is a generator that yields queries and gets their results. SQLite
 * runs each query synchronously, in its group commit; PostgreSQL sends each query and awaits the result, in a transaction. Everything that an operation throws
 * rolls it back.
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

/** Builds queries, and runs none. */
export const db = new Kysely<Schema>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (kysely) => new SqliteIntrospector(kysely),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
});

/** SQL of one database with its values. The other does nothing, and returns no rows. */
interface NativeQuery {
  readonly sqlite?: string;
  readonly postgres?: string;
  readonly values?: readonly unknown[];
}

type Compilable<Row> = CompilableQuery<Row> & OperationNodeSource;

type Query = Compilable<unknown> | NativeQuery;

export interface Result {
  readonly rows: readonly unknown[];
  /** How many rows were changed. */
  readonly changes: number;
}

/** Use `yield*` with `run`, `all`, `first` and `native`, which return typed results. */
export type Operation<Value> = Generator<Query, Value, Result>;

/** Returns the rows of a query. */
export function* all<Row>(query: Compilable<Row>): Operation<Row[]> {
  return (yield query).rows as Row[];
}

/** Returns the first row of a query. */
export function* first<Row>(query: Compilable<Row>): Operation<Row | undefined> {
  return (yield* all(query))[0];
}

/** Runs a query, and returns how many rows it changed. */
export function* run(query: Compilable<unknown>): Operation<number> {
  return (yield query).changes;
}

/** Runs SQL of one database; returns its rows. */
export function* native<Row>(query: NativeQuery): Operation<Row[]> {
  return (yield query).rows as Row[];
}

/** Others that change the same account's views, members or the like wait until this one ends. SQLite has one writer. */
export function* lockAccount(account: number): Operation<void> {
  yield { postgres: 'SELECT 1 FROM account_position WHERE account = $1 FOR NO KEY UPDATE', values: [account] };
}

/** Leaves out locks of rows: SQLite has none, and needs none with one writer. */
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

/** Return the SQL of a query in a database; undefined when it has none there. */
export const toSqlite = createCompiler('sqlite', new SqliteCompiler());
export const toPostgres = createCompiler('postgres', new PostgresQueryCompiler());
