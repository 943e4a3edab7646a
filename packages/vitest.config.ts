import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { testTimeoutMilliseconds } from './tracker/test/test-timeout.ts';
import { LongestFirst } from './vitest.order.ts';

/** The folder of a test decides which projects run it. */
const server = 'packages/server/test';
const folder = (...paths: readonly string[]) => paths.map((path) => `${path}/**/*.test.ts`);

/** Tests that run in Chromium, and those that run in all three engines. */
const browsers = [...folder(`${server}/browsers`), 'packages/tracker/test/*.test.ts'];
const engines = folder(
  `${server}/browsers/engines`,
  'packages/tracker/test/engines',
  'packages/tracker/test/in-engines',
);
/** A table that takes minutes. It runs only with DELIVERY_TIMES. */
const deliveryTable = 'packages/tracker/test/in-engines/losses.test.ts';

/** The driver itself, and tests that involve two databases. */
const postgres = folder('packages/server/src/store/postgres', `${server}/postgres`);
/** The front door with a database, which TEST_STORE selects (test/fixtures/database.ts). */
const frontDoor = folder(`${server}/front-door`, `${server}/security/front-door`);
/** On a Citus cluster: cluster features, and the parts of the driver that involve several servers. */
const citus = folder(`${server}/citus`);
const onCitus = [
  ...citus,
  ...frontDoor,
  'packages/server/src/store/postgres/{plans,servers,store}.test.ts',
  `${server}/postgres/differential.test.ts`,
  // It has found bugs here. On a single PostgreSQL, rights are checked as on SQLite, before any read.
  `${server}/security/personal-data.test.ts`,
];
/** These start their own clusters, whose nodes they change and stop. */
const citusFaults = folder(`${server}/citus/faults`);
/** Tests over more data than `npm test` has time for. */
const large = ['packages/server/src/**/*.large.test.ts'];
/** The SQLite store with small segments of its event log. */
const segments = [
  ...large,
  'packages/server/src/store/sqlite/{store,events/event-sources}.test.ts',
  'packages/server/src/store/sqlite/**/*.property.test.ts',
];

/** What must never happen, regardless of the request and the sender. */
const security = folder(`${server}/security`);
/** Faults that a server must survive. */
const faults = folder(`${server}/faults`);
/** Measurements of waiting time, memory, CPU and disk: each file needs the machine to itself. */
const measuredIn = (tier: string) => folder(`${server}/${tier}/measured`);
/** The npm tarballs, installed in another folder. */
const packed = folder(`${server}/packages`);
/** The files of deploy/, each with the program that it configures. */
const deploy = folder(`${server}/deploy`);

/** These replace modules or process-wide state, so each runs in its own process. */
const isolated = ['packages/tracker/**/*.isolated.test.ts'];
/** The same in the server, mostly to make a step fail that cannot fail otherwise. */
const isolatedFaults = ['packages/server/**/*.isolated.test.ts'];

/** No test fails because the machine is slow or busy. */
const withoutTimeout = { testTimeout: 3_600_000, hookTimeout: 3_600_000 };
/** One process runs many files: loading modules for each file would take a third of the total time. */
const shared = { ...withoutTimeout, isolate: false };
/** Browsers have several processes each, and wait most of the time. */
const twoBrowsers = { maxWorkers: 2, sequence: { groupOrder: 2 } };
/** Two concurrent files keep the three nodes of a cluster busy. */
const onOneCluster = { maxWorkers: 2, sequence: { groupOrder: 3 } };
/** One file at a time, after all parallel ones: each needs the machine to itself. */
const alone = { ...withoutTimeout, fileParallelism: false, sequence: { groupOrder: 1 } };
/** Short measurements only compare a server with a weakened one, which other load affects as much. */
const aloneIfLong = process.env.FAULTS === 'full' ? alone : withoutTimeout;

export default defineConfig({
  // Resolves other packages by the `paths` of tsconfig.base.json.
  resolve: { tsconfigPaths: true },
  test: {
    // Each file has its own server, database or browser.
    pool: 'forks',
    // More workers than processors, because many tests wait for a process or timer. The default leaves one idle.
    maxWorkers: availableParallelism() + 2,
    sequence: { sequencer: LongestFirst },
    // As in bin/heap.js: with other flags, V8 rejects the build's compiled code, which takes 15 ms in each thread.
    execArgv: ['--heap-growing-percent=20'],
    // A test without assertions fails. Polling is patient, because the machine may be busy.
    expect: { requireAssertions: true, poll: { timeout: testTimeoutMilliseconds } },
    // A tier that lacks a program fails and names it. The first file that needs PostgreSQL starts it.
    globalSetup: ['packages/vitest.needs.ts', 'packages/server/test/fixtures/postgres/setup.ts'],
    // `npm run check:coverage`. Code in other processes and threads isn't counted.
    coverage: {
      provider: 'v8',
      include: ['packages/server/src/**/*.ts'],
      // The report engine runs only in its own process; reports.property.test.ts compares it with a model.
      exclude: ['**/*.test.ts', 'packages/server/src/reports/engine/**'],
      reporter: ['text-summary', 'json-summary'],
      reportsDirectory: 'coverage',
      thresholds: {
        branches: 95,
        lines: 98,
        // Code that could lose an event, or leak data to someone else.
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
            ...[...isolated, ...isolatedFaults, ...large, ...browsers, ...engines, ...postgres],
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
          ...withoutTimeout,
        },
      },
      { extends: true, test: { name: 'postgres', include: postgres, exclude: isolatedFaults, ...shared } },
      {
        extends: true,
        test: {
          name: 'postgres: isolated',
          include: ['packages/server/src/store/postgres/**/*.isolated.test.ts'],
          ...withoutTimeout,
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
          ...withoutTimeout,
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
      { extends: true, test: { name: 'packages', include: packed, ...withoutTimeout } },
      { extends: true, test: { name: 'deploy', include: deploy, ...withoutTimeout } },
      { extends: true, test: { name: 'security', include: security, exclude: measuredIn('security'), ...shared } },
      { extends: true, test: { name: 'security: measured', include: measuredIn('security'), ...alone } },
      { extends: true, test: { name: 'faults', include: faults, exclude: measuredIn('faults'), ...shared } },
      {
        extends: true,
        test: { name: 'faults: isolated', include: isolatedFaults, exclude: postgres, ...withoutTimeout },
      },
      { extends: true, test: { name: 'faults: measured', include: measuredIn('faults'), ...aloneIfLong } },
    ],
  },
});
