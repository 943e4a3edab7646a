/** The days on which an account has events, as both drivers find them. */

export interface DaySpan {
  /** The day on which its events were received, as in received-day.ts. */
  readonly day: number;
  readonly firstSequence: number;
  readonly lastSequence: number;
}

export interface DayRange {
  readonly account: number;
  /** Only days that may hold events with from ≤ eventTime < to, and after < sequence ≤ through. */
  readonly from: number;
  readonly to: number;
  readonly after: number;
  readonly through: number;
}
