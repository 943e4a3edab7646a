// Starts a Citus cluster and prints its URL. Ctrl+C stops it and deletes its folder.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startCluster, stopCluster } from './cluster.ts';

const folder = mkdtempSync(join(tmpdir(), 'firsthand-citus-'));
let isEnding = false;
const end = async () => {
  if (isEnding) return;
  isEnding = true;
  await stopCluster(folder);
  rmSync(folder, { recursive: true });
  process.exit();
};
process.on('SIGINT', end);
process.on('SIGTERM', end);
// Keeps the process running, so that the cluster runs until it gets SIGINT or SIGTERM.
const alive = setInterval(() => {}, 2 ** 30);
try {
  console.log(await startCluster(folder));
} catch (error) {
  console.error((error as Error).message);
  clearInterval(alive);
  process.exitCode = 1;
  await end();
}
