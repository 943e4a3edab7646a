/** How long a test waits for something. No test fails on a clock: a machine may be slow, and busy. */
export const patienceMilliseconds = 300_000;
