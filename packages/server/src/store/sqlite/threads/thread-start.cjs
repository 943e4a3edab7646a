/** The entry point of a thread: loads the thread's code and opens the database. CommonJS, because that loads fastest. */
const { readlinkSync } = require('node:fs');
const { getPriority, setPriority } = require('node:os');
const { basename } = require('node:path');
const { parentPort, workerData } = require('node:worker_threads');
const { loadSource } = require('../../../../bin/load-source.cjs');

const end = (error) => {
  // Sent as text: a SqliteError loses its message on the way to another thread.
  parentPort.postMessage({ fatal: String(error?.message ?? error) });
  parentPort.close();
};

/**
 * Lowers the priority of this thread, so that other threads run first when processors are scarce. On Linux each thread has its own
 * priority (setpriority(2), "C library/kernel differences"); elsewhere the priority is the process's and is left unchanged.
 */
const beNice = (niceness) => {
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
    beNice(workerData.niceness);
    start(parentPort, workerData.path, workerData.arrangement);
    parentPort.postMessage({ ready: true });
  })
  .catch(end);
