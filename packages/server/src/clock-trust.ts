/** Can the time of day be believed, before something is done that can't be undone? */
import type { Logger } from 'pino';

const hourMs = 3_600_000;
/** A clock that has jumped so far since it was last looked at is not believed … */
const jumpMs = hourMs;
/** … until it has gone on evenly for so long: somebody may put it right. */
const steadyMs = 24 * hourMs;

interface Clocks {
  readonly log: Logger;
  /** The time of day, in milliseconds since 1970. */
  readonly now: () => number;
  /** Milliseconds that nobody can set. */
  readonly monotonic?: () => number;
}

/** Answers whether the time of day has kept step, for a day, with a clock that nobody can set. At first it is believed. */
export const createClockTrust = ({ log, now, monotonic = () => performance.now() }: Clocks): (() => boolean) => {
  let offset = now() - monotonic();
  let steadyFrom = Number.NEGATIVE_INFINITY;
  return () => {
    const jumped = now() - monotonic() - offset;
    offset += jumped;
    if (Math.abs(jumped) > jumpMs) {
      steadyFrom = monotonic();
      log.warn({ hours: Math.round(jumped / hourMs) }, 'the clock has jumped: no old events are deleted for a day');
    }
    return monotonic() - steadyFrom >= steadyMs;
  };
};
