/** Asks the engine for a report, and for a place for what a report needs before. */

import type { AskOptions, Question, Reported, Reports } from '../../../reports/questions.ts';
import { Refusal } from '../../../shared/refusal.ts';
import type { Caller } from '../../access/caller.ts';

/** The part of a caller that matters. */
export type Reader = Pick<Caller, 'signalOf' | 'isShared'>;

/** Without `reports` everything is refused. */
export const createAsk = (reports: Reports | undefined) => {
  const using = async <Value>(
    { signalOf, isShared }: Reader,
    work: (reports: Reports, options: AskOptions) => Promise<Value>,
  ): Promise<Value> => {
    if (reports === undefined) throw new Refusal('no_reports');
    const signal = signalOf?.();
    try {
      return await work(reports, { signal, isShared });
    } catch (error) {
      // A client that leaves is no fault to be logged. It does not get this response.
      if (signal?.aborted) throw new Refusal('no_reports', { message: 'the client has left' });
      throw error;
    }
  };
  return {
    ask: <One extends Question>(question: One, reader: Reader): Promise<Reported<One>> =>
      using(reader, (those, options) => those.ask(question, options)),
    prepare: <Value>(account: number, task: (signal: AbortSignal) => Promise<Value>, reader: Reader): Promise<Value> =>
      using(reader, (those, options) => those.prepare(account, task, options)),
  };
};
export type Ask = ReturnType<typeof createAsk>;
