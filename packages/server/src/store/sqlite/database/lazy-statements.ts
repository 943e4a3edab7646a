/**
 * Prepares each statement when it is first used. An engine has 700, which take 25 ms, and a command or a test uses few. The threads of a
 * server prepare all of them as they start, so that none serves a database that lacks a table.
 */
import type BetterSqlite3 from 'better-sqlite3';

type Statement = BetterSqlite3.Statement<unknown[]>;

/** The part of a Statement that is used here. */
class LazyStatement implements Pick<Statement, 'get' | 'all' | 'run' | 'iterate' | 'pluck' | 'raw' | 'reader'> {
  #prepare: () => Statement;

  constructor(prepare: () => Statement) {
    this.#prepare = prepare;
  }

  /** Puts the methods of the prepared statement in the place of those below, so that later calls cost nothing more. */
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

/** Makes a connection prepare its statements when they are first used. A mistake in their SQL is thrown then. */
export const prepareLazily = (db: BetterSqlite3.Database): void => {
  const prepare = db.prepare.bind(db);
  db.prepare = ((sql: string) => new LazyStatement(() => prepare(sql) as Statement)) as never;
};
