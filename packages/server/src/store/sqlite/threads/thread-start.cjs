/** Starts a thread: loads its code and opens the database. CommonJS, because it loads fastest. */
const { readlinkSync } = require('node:fs');
const { getPriority, setPriority } = require('node:os');
const { basename } = require('node:path');
const { parentPort, workerData } = require('node:worker_threads');
const { loadSource } = require('../../../../bin/load-source.cjs');

const end = (error) => {
  // Sent as text: cloning a SqliteError loses its message.
  parentPort.postMessage({ fatal: String(error?.message ?? error) });
  parentPort.close();
};

/**
 * Lowers the priority of this thread, so that other threads run first when CPUs are scarce. Only on Linux, where each thread
 * has its own priority (setpriority(2), "C library/kernel differences").
 */
const lowerPriority = (niceness) => {
  if (niceness === 0 || process.platform !== 'linux') return;
  try {
    const thread = Number(basename(readlinkSync('/proc/thread-self')));
    setPriority(thread, Math.min(getPriority(thread) + niceness, 19));
  } catch {
    // Nothing depends on the priority.
  }
};

loadSource(workerData.file)
  .then(({ start }) => {
    lowerPriority(workerData.niceness);
    start(parentPort, workerData.path, workerData.tuning);
    parentPort.postMessage({ ready: true });
  })
  .catch(end);
