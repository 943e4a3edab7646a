/** The entry point of the process of reports: loads its code (engine/report-engine.ts), which waits for the settings. */
const { getPriority, setPriority } = require('node:os');
const { pathToFileURL } = require('node:url');
const { loadSource } = require('../../bin/load-source.cjs');

// First: on Linux each thread has its own priority, and inherits it from the thread that starts it.
try {
  setPriority(Math.min(getPriority() + 10, 19));
} catch {
  // Nothing depends on the priority.
}
// Only the user of the server may read the files.
process.umask(0o077);
// By a signal, because queries run in threads that an exit would wait for, or crash.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));

loadSource(pathToFileURL(process.argv[2]).href)
  .then(({ startEngine }) =>
    startEngine({
      send: (reply) => process.connected && process.send(reply),
      on: (listener) => process.on('message', listener),
    }),
  )
  .catch((error) => process.send({ missing: String(error?.message ?? error) }));
