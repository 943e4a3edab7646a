/**
 * Where a thread begins: it loads what it is to run, and only then is told which database to open, so that whoever begins it need not know
 * that yet. CommonJS, which is there soonest. Node 20 runs TypeScript in a thread only when the loader is registered from inside it.
 */
const { parentPort, workerData } = require('node:worker_threads');
const { fileURLToPath } = require('node:url');

const load = async (file) => {
  if (file.endsWith('.cjs')) return require('../../../bin/load.cjs').load(fileURLToPath(file));
  if (file.endsWith('.ts')) (await import('tsx/esm/api')).register();
  return import(file);
};

const end = (error) => {
  // Said as text: a SqliteError loses its message on the way to another thread.
  parentPort.postMessage({ fatal: String(error?.message ?? error) });
  parentPort.close();
};

load(workerData.file).then(
  ({ start }) =>
    parentPort.once('message', ({ path }) => {
      try {
        start(parentPort, path);
        parentPort.postMessage({ ready: true });
      } catch (error) {
        end(error);
      }
    }),
  end,
);
