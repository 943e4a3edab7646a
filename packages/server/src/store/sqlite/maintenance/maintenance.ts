/**
 * Work that is not urgent, done step by step: arranges new events in their final form, indexes contacts, removes erased data from the
 * files, and deletes old repeats.
 */
import { Refusal } from '../../../shared/refusal.ts';
import type { ContactIndex } from '../contacts/contact-index.ts';
import type { Transactions } from '../transactions/transaction.ts';
import type { UnusedSpace } from './unused-space.ts';
import type { WriteAheadLog } from './write-ahead-log.ts';

/**
 * Old keys that a step deletes: as many as events were stored since the last such step, within these bounds. With fewer their number
 * would grow.
 */
const fewestRepeats = 1_000;
const maxRepeats = 4_000;

/** The pause before a step is tried again for which the disk had no room, or which another process blocked. */
export const pauseMilliseconds = 1_000;

/**
 * While too many events wait to be arranged, one step runs for this many bytes of text that were stored. The number of steps grows
 * with the backlog.
 */
const bytesPerCatchUp = 16 * 1024;

/** Brings the newest events into their final form. */
interface Arranging {
  isDue(): boolean;
  /** How many segments too many wait to be arranged; 0 while readers may index all waiting events in memory. */
  behind(): number;
  /** Runs a step. Returns whether there is more to do. */
  step(): boolean;
  /** The number of events stored by this server, and the bytes of their text. */
  written(): number;
  writtenBytes(): number;
}

export interface MaintenanceParts {
  readonly transactions: Pick<Transactions, 'runAlone'>;
  readonly writeAheadLog: WriteAheadLog;
  readonly unusedSpace: UnusedSpace;
  readonly erasures: {
    isErasing(): boolean;
    detachSome(): boolean;
    continueErasures(): boolean;
    completeErasures(): void;
  };
  readonly arranging: Arranging;
  readonly contactIndex: Pick<ContactIndex, 'pause' | 'step'>;
  readonly forgetRepeats: (most: number) => boolean;
  /** The last day on which an event was stored. Old repeats are deleted when it changes. */
  readonly day: () => number;
}

export const createMaintenance = ({
  transactions,
  writeAheadLog,
  unusedSpace,
  erasures,
  arranging,
  contactIndex,
  forgetRepeats,
  day,
}: MaintenanceParts) => {
  /** The number of stored events when old repeats were last deleted, or when none were left to delete. */
  let forgottenAt = arranging.written();
  const forgetSome = (): boolean => {
    const kept = arranging.written() - forgottenAt;
    forgottenAt += kept;
    return forgetRepeats(Math.min(Math.max(kept, fewestRepeats), maxRepeats));
  };
  const deleteSome = () => erasures.continueErasures() || forgetSome();
  let erasing = false;
  /** Whether something may still name an erased contact. */
  let detaching = false;
  let deleting = false;
  /** The last day for which all old repeats were deleted. */
  let clearedDay: number | undefined;
  /** The bytes that were stored at the last call of `catchUp`. */
  let caughtUpAt = arranging.writtenBytes();

  const clearFiles = () => {
    erasing = true;
    writeAheadLog.holdsErased();
    unusedSpace.begin();
  };
  /** Notes an erasure: its data must be removed from the files. */
  const erases = () => {
    detaching = true;
    clearFiles();
  };
  if (erasures.isErasing()) erases();

  /** Returns the result of the work, or null when it can't be done now. */
  const inTransaction = <Value>(work: () => Value): Value | null => {
    try {
      return transactions.runAlone(work);
    } catch (error) {
      if (error instanceof Refusal && error.code === 'unavailable') return null;
      throw error;
    }
  };

  /** A step for erased and old data; returns what `step` returns. */
  const clear = (): number | null => {
    if (detaching) {
      const detached = inTransaction(erasures.detachSome);
      if (detached === null) return pauseMilliseconds;
      if (detached) return 0;
      detaching = false;
      clearFiles();
    }
    const logPause = writeAheadLog.maintain();
    // While the log may hold erased data, pages that are not in the database yet may hold it too.
    const clearPause = writeAheadLog.mayHoldErased() ? logPause : unusedSpace.step();
    if (clearPause === 0) return 0;
    const today = day();
    const isDue = erasing || deleting || today !== clearedDay;
    if (!deleting) forgottenAt = arranging.written();
    const more = isDue && inTransaction(deleteSome);
    if (more === null) return pauseMilliseconds;
    if (!more) clearedDay = today;
    const ended = deleting && !more;
    deleting = more;
    // The log and the repacked pages now hold what has just been deleted.
    if (ended) clearFiles();
    if (more || ended) return 0;
    if (erasing && clearPause === null) {
      if (inTransaction(erasures.completeErasures) === null) return pauseMilliseconds;
      erasing = false;
    }
    return clearPause ?? logPause;
  };

  /** Indexes contacts when that is due; returns what `step` returns. */
  const index = (): number | null => {
    if (contactIndex.pause() !== 0) return contactIndex.pause();
    return inTransaction(contactIndex.step) === null ? pauseMilliseconds : contactIndex.pause();
  };

  return {
    erases,
    /**
     * Runs steps of arranging while too many events wait; the more, the more text was stored since the last call. Returns whether
     * there is more to do at once.
     */
    catchUp(): boolean {
      const kept = arranging.writtenBytes() - caughtUpAt;
      caughtUpAt += kept;
      let more = true;
      for (let left = kept * (1 + arranging.behind()); more && left >= 0; left -= bytesPerCatchUp) {
        more = arranging.behind() > 0 && inTransaction(arranging.step) === true;
      }
      return more;
    },
    /**
     * Runs one step. Returns the milliseconds to wait before the next, or null when nothing is left to do. Throws errors that only a
     * person can fix, such as a failing disk.
     */
    step(): number | null {
      const more = arranging.isDue() && inTransaction(arranging.step);
      const pauses = [index(), clear(), ...(more === null ? [pauseMilliseconds] : [])].filter(
        (pause) => pause !== null,
      );
      if (more) return 0;
      return pauses.length === 0 ? null : Math.min(...pauses);
    },
  };
};
