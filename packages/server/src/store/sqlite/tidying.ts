/** What may take its time, a step at a time: getting what was erased out of the files, forgetting old repeats. */
import { Refusal } from '../../refusal.ts';
import type { Transactions } from './transaction.ts';
import type { WriteAheadLog } from './write-ahead-log.ts';

/** Rows that a step deletes. */
const rowsPerStep = 500;

/** Until a step is tried again for which there was no room, or which another process held up. */
const pauseMilliseconds = 1_000;

export interface TidyingParts {
  readonly transactions: Transactions;
  readonly log: WriteAheadLog;
  readonly continueErasures: (most: number) => boolean;
  readonly forgetRepeats: (most: number) => boolean;
}

export const createTidying = ({ transactions, log, continueErasures, forgetRepeats }: TidyingParts) => {
  const deleteSome = () => continueErasures(rowsPerStep) || forgetRepeats(rowsPerStep);
  let deleting = false;

  /** Answers whether there is more to delete, or null when it can't be done now. */
  const deletingStep = (): boolean | null => {
    const [outcome] = transactions.run([deleteSome]);
    if (outcome && 'value' in outcome) return outcome.value === true;
    const error = outcome?.error;
    if (error instanceof Refusal && error.code === 'not_kept') return null;
    throw error;
  };

  /**
   * One step. Answers how many milliseconds to rest before the next, or null when there is nothing more to do. Throws
   * what only a person can mend, such as a disk that fails.
   */
  return (): number | null => {
    const logPause = log.tidy();
    const more = deletingStep();
    if (more === null) return pauseMilliseconds;
    const ended = deleting && !more;
    deleting = more;
    // Now the log holds what has just been deleted.
    if (ended) log.holdsErased();
    return more || ended ? 0 : logPause;
  };
};
