import { defineConfig } from 'vitest/config';

/** In Chromium, Firefox and WebKit, each of which wants a machine for itself. */
const inEngines = ['packages/tracker/test/{engines,in-engines}/**/*.test.ts'];

export default defineConfig({
  test: {
    // Each file has its own server, database or browser: no state is shared, and none leaks into the next.
    pool: 'forks',
    projects: [
      {
        extends: true,
        test: {
          name: 'all',
          include: ['packages/*/src/**/*.test.ts', 'packages/*/test/**/*.test.ts'],
          exclude: inEngines,
          testTimeout: 30_000,
          hookTimeout: 30_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'in engines',
          include: inEngines,
          testTimeout: 120_000,
          hookTimeout: 120_000,
          // One file after the other, when all else is done.
          fileParallelism: false,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
