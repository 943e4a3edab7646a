/**
 * What may take its time, a step at a time: bringing new events into their lasting form, getting what was erased out of the
 * files, forgetting old repeats.
 */
import { Refusal } from '../../refusal.ts';
import type { Transactions } from './transaction.ts';
import type { UnusedSpace } from './unused-space.ts';
import type { WriteAheadLog } from './write-ahead-log.ts';

/** Repeats that a step forgets: as many as were kept since the last one, or else their number would grow, within these bounds. */
const fewestRepeats = 1_000;
const mostRepeats = 4_000;

/** Until a step is tried again for which there was no room, or which another process held up. */
export const pauseMilliseconds = 1_000;

/** While too many events wait to be arranged, there is a step for so much text that is kept: more, the more of them wait. */
const bytesPerCatchUp = 16 * 1024;

/** Bringing the newest events into their lasting form. */
export interface Arranging {
  isDue(): boolean;
  /** How much too many of them wait for it, in segments; 0 when readers may know all by heart. */
  behind(): number;
  /** A step of it; answers whether there is more to do. */
  step(): boolean;
  /** How many events were kept by this server, and how much text they are. */
  written(): number;
  writtenBytes(): number;
}

export interface TidyingParts {
  readonly transactions: Transactions;
  readonly log: WriteAheadLog;
  readonly unusedSpace: UnusedSpace;
  /** Whether a server before this one has left an erasure incomplete. */
  readonly erasing: boolean;
  /** Takes away some of what still names an erased contact; answers whether there was any. */
  readonly detachSome: () => boolean;
  readonly continueErasures: () => boolean;
  /** What was erased is in no file any more. */
  readonly completeErasures: () => void;
  readonly arranging: Arranging;
  readonly forgetRepeats: (most: number) => boolean;
  /** The last day on which an event was kept: repeats are forgotten when it is another. */
  readonly day: () => number;
}

export interface Tidying {
  /** Something is about to be erased: it is to go out of the files. */
  erases(): void;
  /**
   * One step. Answers how many milliseconds to rest before the next, or null when there is nothing more to do. Throws
   * what only a person can mend, such as a disk that fails.
   */
  step(): number | null;
  /**
   * Arranges some events while too many wait for it, the more the more were kept since it was called last; answers whether
   * there is more to do at once.
   */
  catchUp(): boolean;
}

export const createTidying = (parts: TidyingParts): Tidying => {
  const {
    transactions,
    log,
    unusedSpace,
    arranging,
    continueErasures,
    detachSome,
    completeErasures,
    forgetRepeats,
    day,
  } = parts;
  /** How many events were kept when repeats were forgotten last, or there were none to forget. */
  let forgottenAt = arranging.written();
  const forgetSome = (): boolean => {
    const kept = arranging.written() - forgottenAt;
    forgottenAt += kept;
    return forgetRepeats(Math.min(Math.max(kept, fewestRepeats), mostRepeats));
  };
  const deleteSome = () => continueErasures() || forgetSome();
  let erasing = false;
  /** Whether something may still name an erased contact. */
  let detaching = false;
  let deleting = false;
  /** Of the day that was tidied last, nothing more is old. */
  let tidiedDay: number | undefined;
  /** How much was kept when it was asked last to catch up. */
  let caughtUpAt = arranging.writtenBytes();

  const clearFiles = () => {
    erasing = true;
    log.holdsErased();
    unusedSpace.begin();
  };
  const erases = () => {
    detaching = true;
    clearFiles();
  };
  if (parts.erasing) erases();

  /** What the work answers, or null when it can't be done now. */
  const inTransaction = <Value>(work: () => Value): Value | null => {
    const [outcome] = transactions.run([{ carryOut: work, mayThrowRefusal: false }]);
    if (outcome && 'value' in outcome) return outcome.value as Value;
    const error = outcome?.error;
    if (error instanceof Refusal && error.code === 'not_kept') return null;
    throw error;
  };

  /** As `step`, of what was erased and what is old. */
  const clear = (): number | null => {
    if (detaching) {
      const detached = inTransaction(detachSome);
      if (detached === null) return pauseMilliseconds;
      if (detached) return 0;
      detaching = false;
      clearFiles();
    }
    const logPause = log.tidy();
    // While the log holds what was erased, so do pages that are not in the database yet.
    const clearPause = log.mayHoldErased() ? logPause : unusedSpace.step();
    if (clearPause === 0) return 0;
    const today = day();
    const isDue = erasing || deleting || today !== tidiedDay;
    if (!deleting) forgottenAt = arranging.written();
    const more = isDue && inTransaction(deleteSome);
    if (more === null) return pauseMilliseconds;
    if (!more) tidiedDay = today;
    const ended = deleting && !more;
    deleting = more;
    // Now the log, and the pages that were packed anew, hold what has just been deleted.
    if (ended) clearFiles();
    if (more || ended) return 0;
    if (erasing && clearPause === null) {
      if (inTransaction(() => completeErasures()) === null) return pauseMilliseconds;
      erasing = false;
    }
    return clearPause ?? logPause;
  };

  return {
    erases,
    catchUp() {
      const kept = arranging.writtenBytes() - caughtUpAt;
      caughtUpAt += kept;
      let more = true;
      for (let left = kept * (1 + arranging.behind()); more && left >= 0; left -= bytesPerCatchUp) {
        more = arranging.behind() > 0 && inTransaction(arranging.step) === true;
      }
      return more;
    },
    step() {
      const more = arranging.isDue() && inTransaction(arranging.step);
      const rest = clear();
      if (more) return 0;
      return more === null ? Math.min(rest ?? pauseMilliseconds, pauseMilliseconds) : rest;
    },
  };
};
