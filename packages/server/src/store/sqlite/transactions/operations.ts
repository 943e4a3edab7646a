/** Runs shared operations (store/operations/) within the current transaction. */
import type { Statement } from 'better-sqlite3';
import { type Operation, type Result, toSqlite } from '../../operations/operation.ts';
import type { Connection } from '../database/connection.ts';

const emptyResult: Result = { rows: [], changes: 0 };

export const createOperationRunner = (db: Connection) => {
  /** By SQL text. Bounded by the number of operations. */
  const statements = new Map<string, Statement<unknown[]>>();

  const prepareCached = (sql: string): Statement<unknown[]> => {
    const cached = statements.get(sql);
    if (cached) return cached;
    const statement = db.prepare<unknown[]>(sql);
    statements.set(sql, statement);
    return statement;
  };

  const query = (sql: string, values: readonly unknown[]): Result => {
    const statement = prepareCached(sql);
    const bound = values.map((value) => (typeof value === 'boolean' ? Number(value) : value));
    if (!statement.reader) return { rows: [], changes: statement.run(...bound).changes };
    const rows = statement.all(...bound);
    return { rows, changes: rows.length };
  };

  return <Value>(operation: Operation<Value>): Value => {
    let step = operation.next(emptyResult);
    while (!step.done) {
      const compiled = toSqlite(step.value);
      step = operation.next(compiled ? query(compiled.sql, compiled.values) : emptyResult);
    }
    return step.value;
  };
};
export type OperationRunner = ReturnType<typeof createOperationRunner>;
