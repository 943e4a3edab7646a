/** Asks the engine for a report. */
import { Refusal } from '../../../refusal.ts';
import type { Question, Reported, Reports } from '../../../reports/questions.ts';

/** Without `reports` each question is refused. */
export const createAsk =
  (reports: Reports | undefined) =>
  async <One extends Question>(question: One, signal: AbortSignal | undefined): Promise<Reported<One>> => {
    if (reports === undefined) throw new Refusal('no_reports');
    try {
      return await reports.ask(question, signal);
    } catch (error) {
      // A client that leaves is no fault to be logged. It does not get this response.
      if (signal?.aborted) throw new Refusal('no_reports', { message: 'the client has left' });
      throw error;
    }
  };
