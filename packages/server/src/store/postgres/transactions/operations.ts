/** Runs operations that both databases share (store/operations/), in the transaction of a connection. */
import { type Operation, type Result, toPostgres } from '../../operations/operation.ts';
import type { Connection } from '../database/connection.ts';

const nothing: Result = { rows: [], changes: 0 };

export const runOperation = async <Value>(
  db: Pick<Connection, 'query'>,
  operation: Operation<Value>,
): Promise<Value> => {
  let step = operation.next(nothing);
  while (!step.done) {
    const compiled = toPostgres(step.value);
    step = operation.next(compiled ? await db.query(compiled.sql, compiled.values) : nothing);
  }
  return step.value;
};
