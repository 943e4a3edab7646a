import type { Problem } from '@firsthand/contract/response';
import type { ImportOutcome, ImportStep } from '../../store/store.ts';

/** A record in a request: what to store, or why it is refused. */
export type SentRecord = ImportStep | Problem;

export const isStep = (record: SentRecord): record is ImportStep => !('code' in record);

type Accepted = Exclude<ImportOutcome, { readonly refused: unknown }>;

/**
 * Returns an outcome for each record in a request, given the steps' outcomes: only the steps were sent to the store.
 */
export const splitOutcomes = (
  sent: readonly SentRecord[],
  outcomes: readonly ImportOutcome[],
): { readonly accepted: Accepted[]; readonly refusal: { readonly index: number; readonly error: Problem }[] } => {
  const accepted: Accepted[] = [];
  const refusal: { readonly index: number; readonly error: Problem }[] = [];
  const refuse = (index: number, { code, message, field }: Problem) =>
    refusal.push({ index, error: { code, message, ...(field && { field }) } });
  let next = 0;
  for (const [index, record] of sent.entries()) {
    if (!isStep(record)) {
      refuse(index, record);
      continue;
    }
    const outcome = outcomes[next++] as ImportOutcome;
    if ('refused' in outcome) refuse(index, { ...outcome, code: outcome.refused });
    else accepted.push(outcome);
  }
  return { accepted, refusal };
};
