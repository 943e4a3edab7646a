/**
 * Prepares each statement on first use. An engine has 700 statements, which take 25 ms to prepare, and a command or a
 * test uses few of them. Server threads prepare all statements at start, so that a missing table is an error
 * immediately.
 */
import type BetterSqlite3 from 'better-sqlite3';

type Statement = BetterSqlite3.Statement<unknown[]>;

/** Implements the part of Statement that the store uses. */
class LazyStatement implements Pick<Statement, 'get' | 'all' | 'run' | 'iterate' | 'pluck' | 'raw' | 'reader'> {
  #prepare: () => Statement;

  constructor(prepare: () => Statement) {
    this.#prepare = prepare;
  }

  /** Replaces the methods below with the prepared statement's, so that later calls have no overhead. */
  #prepared(): Statement {
    const statement = this.#prepare();
    this.#prepare = () => statement;
    this.get = statement.get.bind(statement);
    this.all = statement.all.bind(statement);
    this.run = statement.run.bind(statement);
    this.iterate = statement.iterate.bind(statement);
    return statement;
  }

  #set(mode: 'pluck' | 'raw'): this {
    const prepare = this.#prepare;
    this.#prepare = () => prepare()[mode]();
    return this;
  }

  get reader(): boolean {
    return this.#prepared().reader;
  }

  pluck = (): never => this.#set('pluck') as never;
  raw = (): never => this.#set('raw') as never;
  get = (...values: unknown[]): unknown => this.#prepared().get(...values);
  all = (...values: unknown[]): unknown[] => this.#prepared().all(...values);
  run = (...values: unknown[]): BetterSqlite3.RunResult => this.#prepared().run(...values);
  iterate = (...values: unknown[]): IterableIterator<unknown> => this.#prepared().iterate(...values);
}

/** Makes a connection prepare its statements on first use. SQL errors are then thrown on first use too. */
export const prepareLazily = (db: BetterSqlite3.Database): void => {
  const prepare = db.prepare.bind(db);
  db.prepare = ((sql: string) => new LazyStatement(() => prepare(sql) as Statement)) as never;
};
