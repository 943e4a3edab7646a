/** Runs shared operations (store/operations/) within the current transaction. */
import type { Statement } from 'better-sqlite3';
import { isQuery, type Operation, pause, type Result, type Step, toSqlite } from '../../operations/operation.ts';
import type { Connection } from '../database/connection.ts';
import type { ChunkedRead } from './chunked-reads.ts';

const emptyResult: Result = { rows: [], changes: 0 };

const toSqliteValue = (value: unknown): unknown => {
  if (typeof value === 'boolean') return Number(value);
  return Array.isArray(value) ? JSON.stringify(value) : (value ?? null);
};

/** Returns the values by parameter, because better-sqlite3 treats `$1` as a named parameter. */
const toParameters = (values: readonly unknown[]): Record<number, unknown> => {
  const parameters: Record<number, unknown> = {};
  for (let nth = 0; nth < values.length; nth += 1) parameters[nth + 1] = toSqliteValue(values[nth]);
  return parameters;
};

/** Runs operations, and prepares each of their statements once. */
const createRunner = (db: Connection) => {
  /** The prepared statements by SQL text. Their number is bounded by the number of operations. */
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

  const runStep = (step: Step): unknown => {
    if (typeof step === 'function') return step();
    if (isQuery(step)) {
      const compiled = toSqlite(step);
      return compiled ? query(compiled.sql, compiled.values) : emptyResult;
    }
    return step === pause ? undefined : step.map(runOperation);
  };

  /** Runs an operation up to its end or next pause. */
  const advance = <Value>(operation: Operation<Value>) => {
    let step = operation.next();
    while (!step.done && step.value !== pause) step = operation.next(runStep(step.value));
    return step;
  };

  const runOperation = <Value>(operation: Operation<Value>): Value => {
    let step = advance(operation);
    while (!step.done) step = advance(operation);
    return step.value;
  };

  /** Runs a read as steps that end where it pauses. */
  function* runInSteps<Value>(operation: Operation<Value>): ChunkedRead<Value> {
    for (let step = advance(operation); ; step = advance(operation)) {
      if (step.done) return step.value;
      yield;
    }
  }

  return { runOperation, runInSteps };
};

export const createOperationRunner = (db: Connection) => createRunner(db).runOperation;
export type OperationRunner = ReturnType<typeof createOperationRunner>;

export const createChunkedRunner = (db: Connection) => createRunner(db).runInSteps;
