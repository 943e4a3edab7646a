/** Runs operations that both databases share (store/operations/), in a connection's transaction. */
import { isQuery, type Operation, pause, type Result, type Step, toPostgres } from '../../operations/operation.ts';
import type { Connection } from '../database/connection.ts';

const nothing: Result = { rows: [], changes: 0 };

type Database = Pick<Connection, 'query'>;

const runStep = (db: Database, step: Step): unknown => {
  if (typeof step === 'function') return step();
  if (isQuery(step)) {
    const compiled = toPostgres(step);
    return compiled ? db.query(compiled.sql, compiled.values) : nothing;
  }
  return step === pause ? undefined : Promise.all(step.map((each) => runOperation(db, each)));
};

export const runOperation = async <Value>(db: Database, operation: Operation<Value>): Promise<Value> => {
  let step = operation.next();
  while (!step.done) step = operation.next(await runStep(db, step.value));
  return step.value;
};
