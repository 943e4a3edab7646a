/**
 * Where a thread begins: it loads what it is to run, and only then is told which database to open, so that whoever begins it need not know
 * that yet. CommonJS, which is there soonest. Node 20 runs TypeScript in a thread only when the loader is registered from inside it.
 */
const { existsSync, readlinkSync } = require('node:fs');
const { getPriority, setPriority } = require('node:os');
const { basename } = require('node:path');
const { parentPort, workerData } = require('node:worker_threads');
const { fileURLToPath } = require('node:url');

const loadBuilt = (file) => require('../../../bin/load.cjs').load(fileURLToPath(file));

/** A source is run as it was built while that is newer: tsx compiles it in each thread anew, which takes six times as long. */
const load = async (file) => {
  if (file.endsWith('.cjs')) return loadBuilt(file);
  if (file.endsWith('.ts')) {
    const { dist, isBuilt } = await import('../../../bin/built.js');
    const built = new URL(`${basename(file, '.ts')}.cjs`, dist);
    if (isBuilt() && existsSync(built)) return loadBuilt(built);
    (await import('tsx/esm/api')).register();
  }
  return import(file);
};

const end = (error) => {
  // Said as text: a SqliteError loses its message on the way to another thread.
  parentPort.postMessage({ fatal: String(error?.message ?? error) });
  parentPort.close();
};

/**
 * Lets others go first, where there are fewer processors than work. On Linux a thread has a priority of its own (setpriority(2), "C
 * library/kernel differences"); elsewhere it is that of the process, which stays as it is.
 */
const beNice = (niceness) => {
  if (niceness === 0 || process.platform !== 'linux') return;
  try {
    const thread = Number(basename(readlinkSync('/proc/thread-self')));
    setPriority(thread, Math.min(getPriority(thread) + niceness, 19));
  } catch {
    // Nowhere does anything depend on it.
  }
};

load(workerData.file).then(
  ({ start }) =>
    parentPort.once('message', ({ path, arrangement }) => {
      try {
        beNice(workerData.niceness);
        start(parentPort, path, arrangement);
        parentPort.postMessage({ ready: true });
      } catch (error) {
        end(error);
      }
    }),
  end,
);
