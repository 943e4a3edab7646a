/**
 * The entry point of a thread: loads the thread's code and opens the database. CommonJS, because that loads fastest. Node 20 runs
 * TypeScript in a thread only when the loader is registered in that thread.
 */
const { existsSync, readlinkSync } = require('node:fs');
const { getPriority, setPriority } = require('node:os');
const { basename, join } = require('node:path');
const { parentPort, workerData } = require('node:worker_threads');
const { fileURLToPath } = require('node:url');

const loadBuilt = (file) => require('../../../../bin/load.cjs').load(fileURLToPath(file));

/**
 * Runs the build of a source while the build is newer: tsx would compile the source in each thread, which takes six times as long.
 */
const load = async (file) => {
  if (file.endsWith('.cjs')) return loadBuilt(file);
  if (file.endsWith('.ts')) {
    const { dist, isBuilt } = await import('../../../../bin/built.js');
    const built = new URL(`${basename(file, '.ts')}.cjs`, dist);
    if (isBuilt() && existsSync(built)) return loadBuilt(built);
    (await import('tsx/esm/api')).register({ tsconfig: join(__dirname, '../../../../tsconfig.json') });
  }
  return import(file);
};

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

load(workerData.file)
  .then(({ start }) => {
    beNice(workerData.niceness);
    start(parentPort, workerData.path, workerData.arrangement);
    parentPort.postMessage({ ready: true });
  })
  .catch(end);
