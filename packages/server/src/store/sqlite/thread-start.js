/** Where a thread begins: Node 20 runs TypeScript in a thread only when the loader is registered from inside it. */
import { workerData } from 'node:worker_threads';
import { register } from 'tsx/esm/api';

register();
await import(workerData.file);
