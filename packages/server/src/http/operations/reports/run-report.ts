/** Runs reports in the engine, and the lookups that precede them in the engine's queue. */

import type { ReportQuery, ReportResult, Reports, RunReportOptions } from '../../../reports/queries.ts';
import { Refusal } from '../../../shared/refusal.ts';
import type { Caller } from '../../access/caller.ts';

/** The client that waits for a report. */
export type Reader = Pick<Caller, 'signalOf' | 'isShared'>;
/** The client, and what its token may read. */
export type AuthorizedReader = Reader & { readonly access: Pick<Caller['access'], 'kind'> };

/** Without `reports`, every call is refused. */
export const createReportRunner = (reports: Reports | undefined) => {
  const withReports = async <Value>(
    { signalOf, isShared }: Reader,
    work: (reports: Reports, options: RunReportOptions) => Promise<Value>,
  ): Promise<Value> => {
    if (reports === undefined) throw new Refusal('no_reports');
    const signal = signalOf?.();
    try {
      return await work(reports, { signal, isShared });
    } catch (error) {
      // A client disconnecting is not a fault to log. The client never receives this response.
      if (signal?.aborted) throw new Refusal('no_reports', { message: 'the client disconnected' });
      throw error;
    }
  };
  return {
    run: <One extends ReportQuery>(query: One, reader: Reader): Promise<ReportResult<One>> =>
      withReports(reader, (engine, options) => engine.run(query, options)),
    prepare: <Value>(account: number, task: (signal: AbortSignal) => Promise<Value>, reader: Reader): Promise<Value> =>
      withReports(reader, (engine, options) => engine.prepare(account, task, options)),
  };
};
export type ReportRunner = ReturnType<typeof createReportRunner>;
