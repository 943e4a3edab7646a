/** How long a test waits for a condition. Generous, because no test should fail on a slow or busy machine. */
export const testTimeoutMilliseconds = 300_000;
