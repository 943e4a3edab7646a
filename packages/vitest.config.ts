import { defineConfig } from 'vitest/config';

/** In Chromium, Firefox and WebKit, which not every machine has: `npm run test:engines`. */
const inEngines = ['packages/tracker/test/engines/**', 'packages/tracker/test/{delivery,cookies}.test.ts'];

export default defineConfig({
  test: {
    include: ['packages/*/src/**/*.test.ts', 'packages/*/test/**/*.test.ts'],
    exclude: process.env.ENGINES ? [] : inEngines,
    // Each file has its own server, database or browser: no state is shared, and none leaks into the next.
    pool: 'forks',
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
