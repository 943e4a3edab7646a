/**
 * The sizes of blocks, segments and maintenance steps. Tests override the defaults, so that even a short history fills
 * blocks and segments, and an erasure takes several steps.
 */
export interface Tuning {
  /** The maximum number of events in a block. */
  readonly eventsPerBlock?: number;
  /** The approximate total number of events in the small blocks that a compaction step merges. */
  readonly eventsPerCompaction?: number;
  /** The number of events after which recent rollups are moved. */
  readonly eventsPerMove?: number;
  /** The number of events after which recent events' keys are written. */
  readonly eventsPerSettling?: number;
  /** The number of events that a segment indexes. */
  readonly eventsPerSegment?: number;
  /** The approximate number of claim, link and request rows that an erasure step changes. */
  readonly rowsPerDetaching?: number;
}
