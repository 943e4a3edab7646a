/** Results of fault and security tests, for the table that `npm run test:faults` prints and writes to FAULTS.md. */
import type { TestContext } from 'vitest';

export interface Finding {
  /** The key of the row in FAULTS.md. */
  readonly fault: string;
  /** How often the fault was provoked. */
  readonly count: string;
  readonly result: string;
  /** How the server was weakened, and how the same check then failed. */
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
