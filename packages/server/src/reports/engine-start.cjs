/** The entry point of the report process: loads its code (engine/report-engine.ts), which waits for the settings. */
const { readdirSync, writeFileSync } = require('node:fs');
const { getPriority, setPriority } = require('node:os');
const { pathToFileURL } = require('node:url');
const { loadSource } = require('../../bin/load-source.cjs');

const attempt = (change) => {
  try {
    change();
  } catch {
    // Optional: nothing depends on it.
  }
};

const [, , source, niceness] = process.argv;
/** On Linux each thread has its own priority, which threads that it starts later inherit. */
const lowerPriority = () => {
  const lower = Math.min(getPriority() + Number(niceness), 19);
  const threads = process.platform === 'linux' ? readdirSync('/proc/self/task').map(Number) : [process.pid];
  for (const thread of threads) attempt(() => setPriority(thread, lower));
};
// If memory runs out, Linux kills this process rather than the server.
if (process.platform === 'linux') attempt(() => writeFileSync('/proc/self/oom_score_adj', '500'));
// Only the server's user may read the files.
process.umask(0o077);
// A terminal and systemd send these to all processes of the server, which ends this one itself after the last report.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => {});
// A signal, because process.exit would wait for, or crash, the threads that run queries.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));

loadSource(pathToFileURL(source).href)
  .then(({ startEngine }) => {
    // Only after loading, which takes half a second of CPU time that a client waits for.
    attempt(lowerPriority);
    startEngine({
      send: (reply, sent) => process.connected && process.send(reply, sent),
      on: (listener) => process.on('message', listener),
    });
  })
  .catch((error) => process.send({ missing: String(error?.message ?? error) }));
