/**
 * How many events a database stores together, and how much it changes in a step. A server has the usual sizes; a test takes
 * smaller ones, so that a short history fills blocks and segments, and an erasure takes several steps.
 */
export interface Arrangement {
  /** A block holds at most this many events. */
  readonly eventsPerBlock?: number;
  /** A step joins small blocks that hold about this many events. */
  readonly eventsPerCompaction?: number;
  /** Recent rollups are moved after this many events. */
  readonly eventsPerMove?: number;
  /** Keys of recent events are written after this many events. */
  readonly eventsPerSettling?: number;
  /** A segment indexes this many events. */
  readonly eventsPerSegment?: number;
  /** A step of an erasure changes about this many rows of claims, links and requests. */
  readonly rowsPerDetaching?: number;
}
