/** Exits with 0 if the server of this container or of the Debian package is ready, otherwise with 1. */
const { PORT, BASE_PATH = '/' } = process.env;
const url = `http://127.0.0.1:${PORT || 3000}${BASE_PATH.replace(/\/$/, '')}/readyz`;
const isReady = await fetch(url, { signal: AbortSignal.timeout(4_000) }).then(
  ({ ok }) => ok,
  () => false,
);
process.exit(isReady ? 0 : 1);
