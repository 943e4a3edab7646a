/** Detects system clock jumps, so that a wrong time never triggers an irreversible deletion. */
import type { Logger } from 'pino';

const hourMs = 3_600_000;
/** A larger change since the last check counts as a jump. */
const jumpMs = hourMs;
/** How long a clock must run without a jump to be trusted again; gives an operator time to correct it. */
const steadyMs = 24 * hourMs;

/**
 * Returns a function that checks whether the time of day (`now`, milliseconds since 1970) has had no jump for a day.
 * Jumps are measured against the monotonic clock (`monotonic`, milliseconds). The clock starts out trusted.
 */
export const createClockTrust = (log: Logger, now: () => number, monotonic = () => performance.now()) => {
  let offset = now() - monotonic();
  let steadyFrom = Number.NEGATIVE_INFINITY;
  return (): boolean => {
    const jump = now() - monotonic() - offset;
    offset += jump;
    if (Math.abs(jump) > jumpMs) {
      steadyFrom = monotonic();
      log.warn({ hours: Math.round(jump / hourMs) }, 'the system clock jumped: old events are not deleted for a day');
    }
    return monotonic() - steadyFrom >= steadyMs;
  };
};
