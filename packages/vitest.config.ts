import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { patienceMilliseconds } from './tracker/test/patience.ts';
import { LongestFirst } from './vitest.order.ts';

/** The folder of a file says which projects run it. */
const server = 'packages/server/test';
const folder = (...paths: readonly string[]) => paths.map((path) => `${path}/**/*.test.ts`);

/** In Chromium alone, then in all three engines. */
const browsers = [...folder(`${server}/browsers`), 'packages/tracker/test/*.test.ts'];
const engines = folder(
  `${server}/browsers/engines`,
  'packages/tracker/test/engines',
  'packages/tracker/test/in-engines',
);
/** A table that takes minutes; it runs with DELIVERY_TIMES. */
const deliveryTable = 'packages/tracker/test/in-engines/losses.test.ts';

/** The driver itself, and what concerns two databases at once. */
const postgres = folder('packages/server/src/store/postgres', `${server}/postgres`);
/** The front door where it meets the database, for the store that TEST_STORE names (test/fixtures/database.ts). */
const frontDoor = folder(`${server}/front-door`, `${server}/security/front-door`);
/** On a Citus cluster: what only a cluster has, and the driver where it meets several servers. */
const citus = folder(`${server}/citus`);
const onCitus = [
  ...citus,
  ...frontDoor,
  'packages/server/src/store/postgres/{plans,servers,store}.test.ts',
  `${server}/postgres/differential.test.ts`,
  // It has found faults here. On one PostgreSQL, rights are checked as on SQLite, before anything is read.
  `${server}/security/personal-data.test.ts`,
];
/** With clusters of their own, whose nodes they change and stop. */
const citusFaults = folder(`${server}/citus/faults`);
/** SQLite's store with small segments of its event log. */
const segments = [
  'packages/server/src/store/sqlite/{store,arranging,events/event-sources}.test.ts',
  'packages/server/src/store/sqlite/**/*.property.test.ts',
];

/** What must not happen, whatever is sent and by whom. */
const security = folder(`${server}/security`);
/** What a server must survive. */
const faults = folder(`${server}/faults`);
/** How long others wait, and how much memory, time and disk is used: each file wants the machine for itself. */
const measuredIn = (tier: string) => folder(`${server}/${tier}/measured`);
/** What npm packs, installed elsewhere. */
const packed = folder(`${server}/packages`);
/** The files of deploy/, each in the program that it is for. */
const deploy = folder(`${server}/deploy`);

/** These replace modules, or what all of a process share: each has a process of its own. */
const isolated = ['packages/{client,tracker}/**/*.test.ts', 'packages/**/*.isolated.test.ts'];

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
            ...[...isolated, ...browsers, ...engines, ...postgres],
            ...[...security, ...faults, ...packed, ...deploy, ...citus],
          ],
          ...shared,
        },
      },
      {
        extends: true,
        test: {
          name: 'unit: isolated',
          include: isolated,
          exclude: [...browsers, ...engines, ...postgres],
          ...patient,
        },
      },
      { extends: true, test: { name: 'postgres', include: postgres, exclude: isolated, ...shared } },
      {
        extends: true,
        test: {
          name: 'postgres: isolated',
          include: ['packages/server/src/store/postgres/**/*.isolated.test.ts'],
          ...patient,
        },
      },
      {
        extends: true,
        test: { name: 'postgres: front door', include: frontDoor, env: { TEST_STORE: 'postgres' }, ...shared },
      },
      {
        extends: true,
        test: {
          name: 'citus',
          include: onCitus,
          exclude: citusFaults,
          env: { TEST_STORE: 'citus' },
          ...patient,
          ...onOneCluster,
        },
      },
      { extends: true, test: { name: 'citus: faults', include: citusFaults, ...alone } },
      { extends: true, test: { name: 'segments', include: segments, env: { TEST_STORE: 'segments' }, ...shared } },
      { extends: true, test: { name: 'browsers', include: browsers, exclude: engines, ...shared } },
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
      { extends: true, test: { name: 'security', include: security, exclude: measuredIn('security'), ...shared } },
      { extends: true, test: { name: 'security: measured', include: measuredIn('security'), ...alone } },
      { extends: true, test: { name: 'faults', include: faults, exclude: measuredIn('faults'), ...shared } },
      { extends: true, test: { name: 'faults: measured', include: measuredIn('faults'), ...alone } },
    ],
  },
});
