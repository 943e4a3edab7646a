/** Runs operations that are written once for both databases (store/operations/), within the present transaction. */
import type { Statement } from 'better-sqlite3';
import { type Operation, type Result, toSqlite } from '../../operations/operation.ts';
import type { Connection } from '../database/connection.ts';

const nothing: Result = { rows: [], changes: 0 };

export const createOperationRunner = (db: Connection) => {
  /** By their texts, which are as many as the operations have. */
  const statements = new Map<string, Statement<unknown[]>>();

  const prepared = (sql: string): Statement<unknown[]> => {
    const known = statements.get(sql);
    if (known) return known;
    const statement = db.prepare<unknown[]>(sql);
    statements.set(sql, statement);
    return statement;
  };

  const query = (sql: string, values: readonly unknown[]): Result => {
    const statement = prepared(sql);
    const bound = values.map((value) => (typeof value === 'boolean' ? Number(value) : value));
    if (!statement.reader) return { rows: [], changes: statement.run(...bound).changes };
    const rows = statement.all(...bound);
    return { rows, changes: rows.length };
  };

  return <Value>(operation: Operation<Value>): Value => {
    let step = operation.next(nothing);
    while (!step.done) {
      const compiled = toSqlite(step.value);
      step = operation.next(compiled ? query(compiled.sql, compiled.values) : nothing);
    }
    return step.value;
  };
};
export type OperationRunner = ReturnType<typeof createOperationRunner>;
