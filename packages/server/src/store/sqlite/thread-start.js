/** Where a thread begins. Node 20 runs TypeScript in a thread only when the loader is registered from inside it. */
import { parentPort, workerData } from 'node:worker_threads';

try {
  if (workerData.file.endsWith('.ts')) {
    const { register } = await import('tsx/esm/api');
    register();
  }
  const { start } = await import(workerData.file);
  start(parentPort, workerData.path);
  parentPort.postMessage({ ready: true });
} catch (error) {
  // Said as text: a SqliteError loses its message on the way to another thread.
  parentPort.postMessage({ fatal: String(error?.message ?? error) });
  parentPort.close();
}
