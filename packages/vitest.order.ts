/** In which order a tier runs its files: on a clean clone, vitest knows their sizes only, not how long they take. */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Those that take longest, so that none of them is begun last while other processors have nothing left to do. The first take minutes. */
const longest = [
  'server/src/store/postgres/store.test.ts',
  'server/test/faults/io-errors.test.ts',
  'server/test/browsers/console/console.test.ts',
  'server/test/browsers/console/hostile.test.ts',
  'server/test/postgres/differential.test.ts',
  'server/src/store/sqlite/store.test.ts',
  'server/src/store/sqlite/erasure/erasing.property.test.ts',
  'server/src/reports/reports.property.test.ts',
  'server/test/front-door/identity-agreement.test.ts',
  'server/test/security/personal-data.test.ts',
  'server/test/commands/event.test.ts',
  'server/test/commands/token.test.ts',
  'server/test/security/every-field.test.ts',
  'server/src/store/sqlite/contacts/contact-search.test.ts',
  'server/test/faults/stop-connections.test.ts',
  'server/test/serving/reports.test.ts',
  'server/test/faults/process.test.ts',
  'server/src/store/sqlite/database/file.test.ts',
  'server/src/store/sqlite/database/restore.isolated.test.ts',
  'server/src/store/sqlite/erasure/erasure-record.isolated.test.ts',
  'server/test/serving/failing.isolated.test.ts',
  'server/test/demo-stream.test.ts',
  'server/test/faults/postgres.test.ts',
  'server/test/faults/kill.test.ts',
  'server/test/deploy/container.test.ts',
];

const rankOf = ({ moduleId }: TestSpecification): number => {
  const rank = longest.findIndex((path) => moduleId.endsWith(path));
  return rank === -1 ? longest.length : rank;
};

/**
 * Before the others: each has a process of its own. The others come after them without a break, because vitest ends the processes
 * that they share before a file that has its own; and the many short ones come last, so that all processors are busy to the end.
 */
const isAlone = ({ project }: TestSpecification): boolean => project.config.isolate;

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const groupOf = ({ project }: TestSpecification) => project.config.sequence.groupOrder;
    return sorted.sort(
      (a, b) => groupOf(a) - groupOf(b) || Number(isAlone(b)) - Number(isAlone(a)) || rankOf(a) - rankOf(b),
    );
  }
}
