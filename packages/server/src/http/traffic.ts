/** Counts of what the server is asked and answers, for /metrics. Plain numbers: nothing is made of them until somebody reads them. */
import { type ErrorCode, errors } from '@firsthand/contract/errors';
import { createDistribution, type Distribution } from '../shared/distribution.ts';

const secondBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

interface OperationTraffic {
  /** How many responses had each HTTP status. */
  readonly statuses: Map<number, number>;
  /** From a request to its response, in seconds. */
  readonly seconds: Distribution;
}

export const createTraffic = () => {
  const operations = new Map<string, OperationTraffic>();
  // From 0 on: Prometheus sees no increase in a series that begins with its first refusal.
  const refused = new Map(Object.keys(errors).map((code) => [code as ErrorCode, 0]));
  const numbers = { kept: 0, duplicates: 0, underWay: 0, streams: 0 };
  return {
    operations: operations as ReadonlyMap<string, OperationTraffic>,
    /** Requests that were refused, and entries of batches, by their code. */
    refused: refused as ReadonlyMap<ErrorCode, number>,
    numbers,
    refuse: (code: ErrorCode): void => void refused.set(code, (refused.get(code) ?? 0) + 1),
    /** Returns a function that counts a response of the operation. The name must be one of a few. */
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
