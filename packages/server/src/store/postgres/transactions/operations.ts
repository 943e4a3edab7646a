/** Runs operations that both databases share (store/operations/), in the transaction of a connection. */
import { isConcurrent, type Operation, type Result, toPostgres } from '../../operations/operation.ts';
import type { Connection } from '../database/connection.ts';

const nothing: Result = { rows: [], changes: 0 };

export const runOperation = async <Value>(
  db: Pick<Connection, 'query'>,
  operation: Operation<Value>,
): Promise<Value> => {
  let step = operation.next(nothing);
  while (!step.done) {
    if (isConcurrent(step.value)) {
      const rows = await Promise.all(step.value.map((each) => runOperation(db, each)));
      step = operation.next({ rows, changes: 0 });
      continue;
    }
    const compiled = toPostgres(step.value);
    step = operation.next(compiled ? await db.query(compiled.sql, compiled.values) : nothing);
  }
  return step.value;
};
