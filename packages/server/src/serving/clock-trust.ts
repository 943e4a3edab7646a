/** Detects jumps of the system's clock, so that nothing irreversible is done at a wrong time. */
import type { Logger } from 'pino';

const hourMs = 3_600_000;
/** A clock that has jumped by more than this since the last look is not trusted … */
const jumpMs = hourMs;
/** … until it has not jumped for this long. Meanwhile somebody may correct it. */
const steadyMs = 24 * hourMs;

/**
 * Returns a function that says whether the time of day (`now`, in milliseconds since 1970) may be trusted: whether, for a day, it
 * has not jumped against a clock that nobody can set (`monotonic`, in milliseconds). At first it is trusted.
 */
export const createClockTrust = (log: Logger, now: () => number, monotonic = () => performance.now()) => {
  let offset = now() - monotonic();
  let steadyFrom = Number.NEGATIVE_INFINITY;
  return (): boolean => {
    const jumped = now() - monotonic() - offset;
    offset += jumped;
    if (Math.abs(jumped) > jumpMs) {
      steadyFrom = monotonic();
      log.warn({ hours: Math.round(jumped / hourMs) }, 'the clock has jumped: no old events are deleted for a day');
    }
    return monotonic() - steadyFrom >= steadyMs;
  };
};
