/** Counts requests and responses for /metrics. Uses plain numbers, which are formatted only when /metrics is read. */
import { type ErrorCode, errors } from '@firsthand/contract/errors';
import { createDistribution, type Distribution } from '../shared/distribution.ts';

const secondBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

interface OperationTraffic {
  /** The number of responses by HTTP status. */
  readonly statuses: Map<number, number>;
  /** Response times in seconds. */
  readonly seconds: Distribution;
}

export const createTraffic = () => {
  const operations = new Map<string, OperationTraffic>();
  // Starts at 0: if a series began with its first refusal, Prometheus would not see an increase.
  const refused = new Map(Object.keys(errors).map((code) => [code as ErrorCode, 0]));
  const numbers = { kept: 0, duplicates: 0, underWay: 0, streams: 0 };
  return {
    operations: operations as ReadonlyMap<string, OperationTraffic>,
    /** Refused requests and batch entries, by error code. */
    refused: refused as ReadonlyMap<ErrorCode, number>,
    numbers,
    refuse: (code: ErrorCode): void => void refused.set(code, (refused.get(code) ?? 0) + 1),
    /** Returns a function that counts the operation's responses. There must be few distinct names. */
    counting(operation: string) {
      const { statuses, seconds } = operations.get(operation) ?? {
        statuses: new Map<number, number>(),
        seconds: createDistribution(secondBounds),
      };
      operations.set(operation, { statuses, seconds });
      return (status: number, milliseconds: number): void => {
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        seconds.add(milliseconds / 1_000);
      };
    },
  };
};
export type Traffic = ReturnType<typeof createTraffic>;
