/** How long a test waits for a condition: very long, because no test should fail on a slow or busy machine. */
export const testTimeoutMilliseconds = 300_000;
