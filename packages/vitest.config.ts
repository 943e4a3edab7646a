import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['packages/*/src/**/*.test.ts', 'packages/*/test/**/*.test.ts'],
    // Each file has its own server, database or browser: no state is shared, and none leaks into the next.
    pool: 'forks',
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
