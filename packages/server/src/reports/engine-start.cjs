/** The entry point of the process of reports: loads its code (engine/report-engine.ts), which waits for the settings. */
const { readdirSync, writeFileSync } = require('node:fs');
const { getPriority, setPriority } = require('node:os');
const { pathToFileURL } = require('node:url');
const { loadSource } = require('../../bin/load-source.cjs');

const attempt = (change) => {
  try {
    change();
  } catch {
    // Nothing depends on it.
  }
};

const [, , source, niceness] = process.argv;
/** On Linux each thread has its own priority; those that start later inherit it. */
const lowerPriority = () => {
  const lower = Math.min(getPriority() + Number(niceness), 19);
  const threads = process.platform === 'linux' ? readdirSync('/proc/self/task').map(Number) : [process.pid];
  for (const thread of threads) attempt(() => setPriority(thread, lower));
};
// When the machine has too little memory, Linux ends this process rather than the server.
if (process.platform === 'linux') attempt(() => writeFileSync('/proc/self/oom_score_adj', '500'));
// Only the user of the server may read the files.
process.umask(0o077);
// A terminal and systemd send these to all processes of the server. The server ends this one after its last report.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => {});
// By a signal, because queries run in threads that an exit would wait for, or crash.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));

loadSource(pathToFileURL(source).href)
  .then(({ startEngine }) => {
    // Not before: on a busy machine a client waits for the start of the process, which takes half a second of CPU time.
    attempt(lowerPriority);
    startEngine({
      send: (reply, sent) => process.connected && process.send(reply, sent),
      on: (listener) => process.on('message', listener),
    });
  })
  .catch((error) => process.send({ missing: String(error?.message ?? error) }));
