/** What a store measures of itself, for /metrics. */
import { createDistribution, type Distribution } from '../shared/distribution.ts';

/** Commits of SQLite's writer; of PostgreSQL, those that store events. */
interface CommitMeasures {
  /** Events in a commit, those refused or known included. */
  readonly events: Distribution;
  /** From its beginning to the end of its sync, in seconds. */
  readonly seconds: Distribution;
  /**
   * The part of it that the statement COMMIT takes, in seconds: in it the database writes its write-ahead log and syncs it. On
   * PostgreSQL the round trip is included.
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
  /** About how many bytes the calls hold that wait for the store. */
  readonly waitingBytes: number;
  readonly waitingCalls: number;
  /** The size of the database on the disk, its write-ahead log included. */
  readonly storedBytes: number;
  /** The room that is left on the disk of the database. Only of a SQLite file. */
  readonly freeBytes?: number | undefined;
  /** Only of a SQLite file that is served, and of PostgreSQL. */
  readonly commits?: CommitMeasures | undefined;
}
