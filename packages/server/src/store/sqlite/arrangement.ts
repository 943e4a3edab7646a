/**
 * The sizes of blocks, segments and maintenance steps. Tests override the defaults, so that even a short history fills
 * blocks and segments, and an erasure takes several steps.
 */
export interface Arrangement {
  /** The maximum number of events in a block. */
  readonly eventsPerBlock?: number;
  /** A compaction step merges small blocks with about this many events in total. */
  readonly eventsPerCompaction?: number;
  /** Recent rollups are moved after this many events. */
  readonly eventsPerMove?: number;
  /** Keys of recent events are written after this many events. */
  readonly eventsPerSettling?: number;
  /** The number of events that a segment indexes. */
  readonly eventsPerSegment?: number;
  /** An erasure step changes about this many rows of claims, links and requests. */
  readonly rowsPerDetaching?: number;
}
