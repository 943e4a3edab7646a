/**
 * Background work in small steps: compacts and indexes new events, indexes contacts, removes erased data from the
 * files, and deletes the keys of old repeats.
 */
import { Refusal } from '../../../shared/refusal.ts';
import type { ContactIndex } from '../contacts/contact-index.ts';
import type { Transactions } from '../transactions/transaction.ts';
import type { UnusedSpace } from './unused-space.ts';
import type { WriteAheadLog } from './write-ahead-log.ts';

/**
 * The bounds on the number of old keys that a step deletes. Within them, a step deletes as many as events were stored
 * since the last such step, so that the number of old keys does not grow.
 */
const minRepeats = 1_000;
const maxRepeats = 4_000;

/** The pause before retrying a step that failed because the disk was full or another process held a lock. */
export const pauseMilliseconds = 1_000;

/**
 * The number of stored bytes of text per step while the backlog of unindexed events is too large. The number of steps
 * also grows with the backlog.
 */
const bytesPerCatchUp = 16 * 1024;

/** Compacts and indexes the newest events. */
interface Indexing {
  isDue(): boolean;
  /** The number of segments over the limit; 0 while readers can index all waiting events in memory. */
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
  readonly indexing: Indexing;
  readonly contactIndex: Pick<ContactIndex, 'pause' | 'step'>;
  readonly forgetRepeats: (limit: number) => boolean;
  /** The last day on which an event was stored. When it changes, old repeats are deleted. */
  readonly day: () => number;
}

export const createMaintenance = ({
  transactions,
  writeAheadLog,
  unusedSpace,
  erasures,
  indexing,
  contactIndex,
  forgetRepeats,
  day,
}: MaintenanceParts) => {
  /** The number of stored events when old repeats were last deleted, or when none were left. */
  let storedAtLastDeletion = indexing.written();
  const deleteSomeRepeats = (): boolean => {
    const stored = indexing.written() - storedAtLastDeletion;
    storedAtLastDeletion += stored;
    return forgetRepeats(Math.min(Math.max(stored, minRepeats), maxRepeats));
  };
  const deleteSome = () => erasures.continueErasures() || deleteSomeRepeats();
  let erasing = false;
  /** Whether rows may still name an erased contact. */
  let detaching = false;
  let deleting = false;
  /** The last day for which all old repeats were deleted. */
  let clearedDay: number | undefined;
  /** The stored bytes at the last call to `catchUp`. */
  let caughtUpAt = indexing.writtenBytes();

  const clearFiles = () => {
    erasing = true;
    writeAheadLog.holdsErased();
    unusedSpace.begin();
  };
  /** Schedules the removal of an erasure's data from the files. */
  const noteErasure = () => {
    detaching = true;
    clearFiles();
  };
  if (erasures.isErasing()) noteErasure();

  /** Returns the result of the work; null if it can't be done now. */
  const inTransaction = <Value>(work: () => Value): Value | null => {
    try {
      return transactions.runAlone(work);
    } catch (error) {
      if (error instanceof Refusal && error.code === 'unavailable') return null;
      throw error;
    }
  };

  /** Runs a step that removes erased and old data. Returns the same as `step`. */
  const clear = (): number | null => {
    if (detaching) {
      const detached = inTransaction(erasures.detachSome);
      if (detached === null) return pauseMilliseconds;
      if (detached) return 0;
      detaching = false;
      clearFiles();
    }
    const logPause = writeAheadLog.maintain();
    // Until the log is truncated, the file's pages may be out of date and still contain erased data.
    const clearPause = writeAheadLog.mayHoldErased() ? logPause : unusedSpace.step();
    if (clearPause === 0) return 0;
    const today = day();
    const isDue = erasing || deleting || today !== clearedDay;
    if (!deleting) storedAtLastDeletion = indexing.written();
    const more = isDue && inTransaction(deleteSome);
    if (more === null) return pauseMilliseconds;
    if (!more) clearedDay = today;
    const ended = deleting && !more;
    deleting = more;
    // Clears files again, because the log and repacked pages now contain the data that has just been deleted.
    if (ended) clearFiles();
    if (more || ended) return 0;
    if (erasing && clearPause === null) {
      if (inTransaction(erasures.completeErasures) === null) return pauseMilliseconds;
      erasing = false;
    }
    return clearPause ?? logPause;
  };

  /** Indexes contacts if that is due. Returns the same as `step`. */
  const index = (): number | null => {
    if (contactIndex.pause() !== 0) return contactIndex.pause();
    return inTransaction(contactIndex.step) === null ? pauseMilliseconds : contactIndex.pause();
  };

  return {
    noteErasure,
    /**
     * Compacts and indexes while the backlog is too large. The number of steps grows with the text stored since the
     * last call. Returns whether to call it again immediately.
     */
    catchUp(): boolean {
      const stored = indexing.writtenBytes() - caughtUpAt;
      caughtUpAt += stored;
      let more = true;
      for (let left = stored * (1 + indexing.behind()); more && left >= 0; left -= bytesPerCatchUp) {
        more = indexing.behind() > 0 && inTransaction(indexing.step) === true;
      }
      return more;
    },
    /**
     * Runs one step. Returns the milliseconds to wait before the next; null if nothing is left to do. Throws errors
     * that need an operator, such as a failing disk.
     */
    step(): number | null {
      const more = indexing.isDue() && inTransaction(indexing.step);
      const pauses = [index(), clear(), ...(more === null ? [pauseMilliseconds] : [])].filter(
        (pause) => pause !== null,
      );
      if (more) return 0;
      return pauses.length === 0 ? null : Math.min(...pauses);
    },
  };
};
