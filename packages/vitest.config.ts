import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { patienceMilliseconds } from './tracker/test/patience.ts';
import { LongestFirst } from './vitest.order.ts';

/** In a browser: Chromium alone, then all three engines. */
const browsers = ['packages/server/test/browsers/**/*.test.ts', 'packages/tracker/test/*.test.ts'];
const engines = [
  'packages/tracker/test/{engines,in-engines}/**/*.test.ts',
  'packages/server/test/browsers/console/{in-engines,keyboard,passkeys}.test.ts',
];
/** A table that takes minutes; it runs with DELIVERY_TIMES. */
const deliveryTable = 'packages/tracker/test/in-engines/losses.test.ts';
/** The driver itself, and what concerns two databases at once. */
const postgres = ['packages/server/src/store/postgres/**/*.test.ts', 'packages/server/test/postgres/**/*.test.ts'];
/** What must not happen, whatever is sent and by whom; some of these tests measure how long others wait. */
const security = ['packages/server/test/security/**/*.test.ts'];
const securityMeasured = [
  'packages/server/test/security/{claims-on-one-address,growth,hostile-address,slow-clients,timing}.test.ts',
];
/** On a Citus cluster: the driver where it meets several servers, and what only a cluster has. */
const ownCitus = ['packages/server/test/citus/**/*.test.ts'];
/** With clusters of their own, whose nodes they change and stop. */
const citusFaults = ['packages/server/test/citus/{coordinator-numbers,deadlocks,durability,faults,next-day}.test.ts'];
const onCitus = [
  ...ownCitus,
  'packages/server/src/store/postgres/{plans,servers,store}.test.ts',
  'packages/server/test/postgres/differential.test.ts',
];
/** What npm packs, installed elsewhere. */
const packed = ['packages/server/test/packages/**/*.test.ts'];
/** What a server must survive; some of these tests measure memory, time and disks. */
const faults = ['packages/server/test/faults/**/*.test.ts'];
/** The files of deploy/, each in the program that it is for. */
const deploy = ['packages/server/test/deploy/*.test.ts'];
const faultsMeasured = [
  'packages/server/test/faults/{back-pressure,descriptors,erasure-on-postgres,slow-disk,write-ahead-log}.test.ts',
];

/** The front door where it meets the database, for the store that TEST_STORE names (test/fixtures/database.ts). */
const frontDoor = [
  'packages/server/src/http/operations/{accounts/accounts,contact-batch,contacts,events,stream}.test.ts',
  'packages/server/test/{browser-token,identity-agreement,operations,refused,report-histories,reports}.test.ts',
];
/** What reads events through the front door. Segments change nothing else of it: their store has a suite of its own. */
const readers = [
  'packages/server/src/http/operations/{events,stream}.test.ts',
  'packages/server/test/{identity-agreement,report-histories}.test.ts',
];
const consoleDoor = ['packages/server/test/console/{members,passkeys,sessions}.test.ts'];
/** Properties that few examples are tried of in `npm test`, and many with segments. */
const segmentProperties = [
  'packages/server/src/store/sqlite/{erasure/erasing.property,arranging}.test.ts',
  'packages/server/src/store/sqlite/events/{event-sources,recent-keys.property}.test.ts',
  'packages/server/src/reports/{conditions,reports.property}.test.ts',
];
const frontDoorSecurity = ['packages/server/test/security/{browser-token-model,hostile-text}.test.ts'];

/** These replace modules, or what all of a process share: each has a process of its own. */
const replacing = [
  'packages/{client,tracker}/**/*.test.ts',
  'packages/server/src/{serving/parent-process,commands/shared/command-errors,store/sqlite/database/{file-permissions,restore},store/sqlite/erasure/erasure-record}.test.ts',
  'packages/server/test/serving/{failing,fatal}.test.ts',
];

const replacingOnPostgres = [
  'packages/server/src/store/postgres/database/{migrate,migrate-accounts,migrate-events}.test.ts',
];

/** No test fails on a clock: a machine may be slow, and busy. */
const patient = { testTimeout: 3_600_000, hookTimeout: 3_600_000 };
/** One process runs many files: to load the modules for each takes a third of all the time. */
const shared = { ...patient, isolate: false };
/** Browsers of several processes each, which wait most of the time. */
const twoBrowsers = { maxWorkers: 2, sequence: { groupOrder: 2 } };
/** Two at a time keep the three nodes of a cluster busy. */
const onOneCluster = { maxWorkers: 2, sequence: { groupOrder: 3 } };
/** One file after the other, and after all that run side by side: each wants the machine for itself. */
const alone = { ...patient, fileParallelism: false, sequence: { groupOrder: 1 } };

export default defineConfig({
  // The other packages, by the `paths` of tsconfig.base.json.
  resolve: { tsconfigPaths: true },
  test: {
    // Each file has its own server, database or browser.
    pool: 'forks',
    // More than processors: many tests wait for a process or a timer. vitest's own default leaves one of two processors idle.
    maxWorkers: availableParallelism() + 2,
    sequence: { sequencer: LongestFirst },
    // A test that asserts nothing fails.
    // What is waited for may take its time on a busy machine.
    expect: { requireAssertions: true, poll: { timeout: patienceMilliseconds } },
    // A tier that lacks a program fails with its name. PostgreSQL is started by the first file that asks for it.
    globalSetup: ['packages/vitest.needs.ts', 'packages/server/test/fixtures/postgres/setup.ts'],
    // `npm run check:coverage`. What runs in processes and threads of their own isn't counted.
    coverage: {
      provider: 'v8',
      include: ['packages/server/src/**/*.ts'],
      // The engine of reports runs in its own process only, where reports.property.test.ts holds it against a model.
      exclude: ['**/*.test.ts', 'packages/server/src/reports/engine/**'],
      reporter: ['text-summary', 'json-summary'],
      reportsDirectory: 'coverage',
      thresholds: {
        branches: 95,
        lines: 98,
        // What may lose an event, or show somebody another one's.
        'packages/server/src/{identity,store}/**/*.ts': { branches: 100, lines: 100 },
        'packages/server/src/{http/access/{authentication,rights},ingest/{token,proof}}.ts': {
          branches: 100,
          lines: 100,
        },
      },
    },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['packages/*/{src,build,test}/**/*.test.ts'],
          exclude: [
            ...[...replacing, ...browsers, ...engines, ...postgres],
            ...[...security, ...faults, ...packed, ...deploy, ...ownCitus],
          ],
          ...shared,
        },
      },
      {
        extends: true,
        test: { name: 'unit: replacing', include: replacing, exclude: [...browsers, ...engines], ...patient },
      },
      {
        extends: true,
        test: { name: 'postgres', include: postgres, exclude: replacingOnPostgres, ...shared },
      },
      { extends: true, test: { name: 'postgres: replacing', include: replacingOnPostgres, ...patient } },
      {
        extends: true,
        test: {
          name: 'postgres: front door',
          include: [...frontDoor, ...consoleDoor, ...frontDoorSecurity],
          env: { TEST_STORE: 'postgres' },
          ...shared,
        },
      },
      {
        extends: true,
        test: {
          name: 'citus',
          include: [
            ...onCitus,
            ...frontDoor,
            ...consoleDoor,
            ...frontDoorSecurity,
            // It has found faults here. On one PostgreSQL, rights are checked as on SQLite, before anything is read.
            'packages/server/test/security/personal-data.test.ts',
          ],
          exclude: citusFaults,
          env: { TEST_STORE: 'citus' },
          ...patient,
          ...onOneCluster,
        },
      },
      { extends: true, test: { name: 'citus: faults', include: citusFaults, ...alone } },
      {
        extends: true,
        test: {
          name: 'segments',
          include: [...readers, ...segmentProperties, 'packages/server/src/store/sqlite/store.test.ts'],
          env: { TEST_STORE: 'segments' },
          ...shared,
        },
      },
      {
        extends: true,
        test: { name: 'browsers', include: browsers, exclude: engines, ...shared },
      },
      {
        extends: true,
        test: {
          name: 'browsers: engines',
          include: engines,
          exclude: process.env.DELIVERY_TIMES ? [] : [deliveryTable],
          ...shared,
          ...twoBrowsers,
        },
      },
      { extends: true, test: { name: 'packages', include: packed, ...patient } },
      { extends: true, test: { name: 'deploy', include: deploy, ...patient } },
      { extends: true, test: { name: 'security', include: security, exclude: securityMeasured, ...shared } },
      { extends: true, test: { name: 'security: measured', include: securityMeasured, ...alone } },
      { extends: true, test: { name: 'faults', include: faults, exclude: faultsMeasured, ...shared } },
      { extends: true, test: { name: 'faults: measured', include: faultsMeasured, ...alone } },
    ],
  },
});
