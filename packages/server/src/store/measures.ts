/** The store's metrics, for /metrics. */
import { createDistribution, type Distribution } from '../shared/distribution.ts';

/** Measures the commits of SQLite's writer. On PostgreSQL, measures only the commits that store events. */
interface CommitMeasures {
  /** The number of events per commit, including refused events and duplicates. */
  readonly events: Distribution;
  /** The time from the start of the transaction to the end of the sync. */
  readonly seconds: Distribution;
  /**
   * The time of the COMMIT statement, which writes and syncs the write-ahead log. On PostgreSQL it includes the round
   * trip.
   */
  readonly statementSeconds: Distribution;
}

const secondBounds = [0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

export const createCommitMeasures = (): CommitMeasures => ({
  events: createDistribution([1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000]),
  seconds: createDistribution(secondBounds),
  statementSeconds: createDistribution(secondBounds),
});

export interface StoreMeasures {
  /** The approximate memory taken by calls that wait for the store. */
  readonly waitingBytes: number;
  readonly waitingCalls: number;
  /** The database's size on disk, including its write-ahead log. */
  readonly storedBytes: number;
  /** Free space on the database's disk. SQLite files only. */
  readonly freeBytes?: number | undefined;
  /** Undefined for in-memory databases, and when a command opens a SQLite file. */
  readonly commits?: CommitMeasures | undefined;
}
