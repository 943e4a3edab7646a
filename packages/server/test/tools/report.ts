/** What a test of faults or of security has found, for the table that `npm run test:faults` prints and keeps. */
import type { TestContext } from 'vitest';

export interface Finding {
  /** As in the table of FAULTS.md. */
  readonly fault: string;
  /** How often it was made to happen. */
  readonly count: string;
  readonly result: string;
  /** The weakened setting with which the same check fails, and how it failed. */
  readonly weakened: string;
}

declare module 'vitest' {
  interface TaskMeta {
    finding?: Finding;
  }
}

export const report = ({ task }: Pick<TestContext, 'task'>, finding: Finding): void => {
  task.meta.finding = finding;
};
