import { defineConfig } from 'vitest/config';

/** What a server must survive: some of it measures memory and disks. */
const faults = ['packages/server/test/faults/**/*.test.ts'];
/** In Chromium, Firefox and WebKit. */
const inEngines = ['packages/tracker/test/{engines,in-engines}/**/*.test.ts'];

/**
 * The front door, on PostgreSQL as well: whatever is asked of the application in test/fixtures/scene.ts, and all that is
 * held against the rules of identity/.
 */
const onPostgres = [
  'packages/server/src/{operator-token,demo/account,demo/holdings}.test.ts',
  'packages/server/src/http/{accounts,contacts,events,input,routes,stream}.test.ts',
  'packages/server/test/{browser-token,identity-agreement,operations,refused}.test.ts',
  'packages/server/test/security/{browser-token-model,cors,fuzz,hostile-text,personal-data,secrets}.test.ts',
];

/** One file after the other, when all before it is done: each wants the machine for itself. */
const alone = (groupOrder: number) => ({
  testTimeout: 120_000,
  hookTimeout: 120_000,
  fileParallelism: false,
  sequence: { groupOrder },
});

export default defineConfig({
  test: {
    // Each file has its own server, database or browser: no state is shared, and none leaks into the next.
    pool: 'forks',
    // One PostgreSQL for all of them, started by the first that asks for it.
    globalSetup: ['packages/server/test/fixtures/postgres-setup.ts'],
    // `npm run check:coverage`. What runs in processes and threads of their own isn't counted.
    coverage: {
      provider: 'v8',
      include: ['packages/server/src/**/*.ts'],
      exclude: ['**/*.test.ts'],
      reporter: ['text-summary', 'json-summary'],
      reportsDirectory: 'coverage',
      thresholds: {
        branches: 95,
        lines: 98,
        // What may lose an event, or show somebody another one's.
        'packages/server/src/{identity,store}/**/*.ts': { branches: 100, lines: 100 },
        'packages/server/src/{http/{authentication,rights},ingest/{token,proof}}.ts': { branches: 100, lines: 100 },
      },
    },
    projects: [
      {
        extends: true,
        test: {
          name: 'all',
          include: ['packages/*/src/**/*.test.ts', 'packages/*/test/**/*.test.ts'],
          exclude: [...faults, ...inEngines],
          testTimeout: 30_000,
          hookTimeout: 30_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'on PostgreSQL',
          include: onPostgres,
          env: { TEST_STORE: 'postgres' },
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      { extends: true, test: { name: 'faults', include: faults, ...alone(1) } },
      { extends: true, test: { name: 'in engines', include: inEngines, ...alone(2) } },
    ],
  },
});
