/** The order in which a tier runs its files. On a clean clone, Vitest knows their sizes but not their durations. */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * The slowest files, slowest first: started last, one would run while other processors are idle. The first take
 * minutes.
 */
const slowFiles = [
  'server/src/store/postgres/store.test.ts',
  'server/test/faults/io-errors.test.ts',
  'server/test/browsers/console/console.test.ts',
  'server/test/browsers/console/hostile.test.ts',
  'server/test/postgres/differential.test.ts',
  'server/src/store/sqlite/store.test.ts',
  'server/src/store/sqlite/store-in-memory.test.ts',
  'server/src/store/sqlite/erasure/erasing.property.test.ts',
  'server/src/reports/reports.property.test.ts',
  'server/test/front-door/identity-agreement.test.ts',
  'server/test/security/personal-data.test.ts',
  'server/test/commands/event.test.ts',
  'server/test/commands/token.test.ts',
  'server/test/security/every-field.test.ts',
  'server/src/store/sqlite/contacts/contact-search.large.test.ts',
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
  const rank = slowFiles.findIndex((path) => moduleId.endsWith(path));
  return rank === -1 ? slowFiles.length : rank;
};

/**
 * The longest file starts first. Isolated files follow, because Vitest ends shared processes before a file with its own
 * process. The many short files come last, which keeps all processors busy to the end.
 */
const phaseOf = (file: TestSpecification): number => {
  if (rankOf(file) === 0) return 0;
  return file.project.config.isolate ? 1 : 2;
};

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const groupOf = ({ project }: TestSpecification) => project.config.sequence.groupOrder;
    return sorted.sort((a, b) => groupOf(a) - groupOf(b) || phaseOf(a) - phaseOf(b) || rankOf(a) - rankOf(b));
  }
}
