/** Runs shared operations (store/operations/) within the current transaction. */
import type { Statement } from 'better-sqlite3';
import { isConcurrent, type Operation, type Result, toSqlite } from '../../operations/operation.ts';
import type { Connection } from '../database/connection.ts';

const emptyResult: Result = { rows: [], changes: 0 };

const toSqliteValue = (value: unknown): unknown => {
  if (typeof value === 'boolean') return Number(value);
  return Array.isArray(value) ? JSON.stringify(value) : (value ?? null);
};

/** Returns the values by parameter: better-sqlite3 takes `$1` as a named one. */
const toParameters = (values: readonly unknown[]): Record<number, unknown> => {
  const parameters: Record<number, unknown> = {};
  for (const [index, value] of values.entries()) parameters[index + 1] = toSqliteValue(value);
  return parameters;
};

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
    const parameters = toParameters(values);
    if (!statement.reader) return { rows: [], changes: statement.run(parameters).changes };
    const rows = statement.all(parameters);
    return { rows, changes: rows.length };
  };

  const runOperation = <Value>(operation: Operation<Value>): Value => {
    let step = operation.next(emptyResult);
    while (!step.done) {
      if (isConcurrent(step.value)) {
        step = operation.next({ rows: step.value.map(runOperation), changes: 0 });
        continue;
      }
      const compiled = toSqlite(step.value);
      step = operation.next(compiled ? query(compiled.sql, compiled.values) : emptyResult);
    }
    return step.value;
  };
  return runOperation;
};
export type OperationRunner = ReturnType<typeof createOperationRunner>;
