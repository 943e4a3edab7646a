/**
 * Numbers the sessions of visitors while events are appended, so that no report has to find them again. A number is right for any range of
 * time: the events of a session that are in the range follow each other without a pause.
 *
 * That holds for a visitor whose events arrive in the order of their times. Others are irregular: their sessions are found for each report
 * (sessions.ts).
 */
import { sessionPauseMilliseconds } from '../questions.ts';

/** So many visitors are remembered, and so many irregular ones listed. */
export const mostVisitors = 500_000;

/** What is known of earlier events: for a visitor its last event and the session of that. */
export interface Remembered {
  readonly visitors: readonly { readonly visitor: number; readonly last: number; readonly session: number }[];
  /** Visitors beyond these were forgotten, and had their last event at or before this time. */
  readonly forgottenUntil: number;
  readonly lastSession: number;
}

export const createVisits = (
  { visitors: remembered, forgottenUntil, lastSession: numbered }: Remembered,
  irregularBefore: Iterable<number>,
  most = mostVisitors,
) => {
  const visitors = new Map(remembered.map(({ visitor, last, session }) => [visitor, { last, session }]));
  const irregular = new Set(irregularBefore);
  let lastSession = numbered;
  let horizon = forgottenUntil;

  const forgetOldest = (): void => {
    const times = Float64Array.from(visitors.values(), ({ last }) => last).sort();
    const middle = times[times.length >> 1] as number;
    for (const [visitor, { last }] of visitors) if (last <= middle) visitors.delete(visitor);
    horizon = Math.max(horizon, middle);
  };

  return {
    irregular,
    /** Whether there are so many irregular visitors that no session is numbered any more. */
    get isGivenUp(): boolean {
      return irregular.size > most;
    },
    /** The number of an event's session; 0 if the visitor is irregular. Events are given in the order of their sequences. */
    sessionOf(visitor: number, time: number): number {
      if (irregular.has(visitor)) return 0;
      const known = visitors.get(visitor);
      if (known ? time < known.last : time - horizon < sessionPauseMilliseconds) {
        visitors.delete(visitor);
        irregular.add(visitor);
        return 0;
      }
      if (known && time - known.last < sessionPauseMilliseconds) {
        known.last = time;
        return known.session;
      }
      lastSession += 1;
      if (known) {
        known.last = time;
        known.session = lastSession;
      } else {
        if (visitors.size >= most) forgetOldest();
        visitors.set(visitor, { last: time, session: lastSession });
      }
      return lastSession;
    },
  };
};
export type Visits = ReturnType<typeof createVisits>;
