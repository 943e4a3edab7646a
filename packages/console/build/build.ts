/** Builds the console into dist/ unless that is newer than its sources; with a folder as its argument it builds into that one. */
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isFresh, markBuilt } from '../../fresh.ts';

/** Everything that the console is made of. */
const sources = ['packages/console/build', 'packages/console/src', 'packages/client/src', 'packages/contract/src'];

const build = async (folder: string): Promise<string> => {
  // Loaded only where something is to be built.
  const { buildConsole } = await import('./bundle.ts');
  return `${await buildConsole(folder)} bytes of scripts, compressed`;
};

const [, , given] = process.argv;
const dist = fileURLToPath(new URL('../dist', import.meta.url));
if (given !== undefined) console.log(`${given}: ${await build(resolve(given))}`);
else if (isFresh(dist, sources)) console.log('the console is newer than its sources');
else {
  const began = new Date();
  console.log(`dist: ${await build(dist)}`);
  markBuilt(dist, began);
}
