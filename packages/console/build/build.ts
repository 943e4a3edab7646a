/** Builds the console into dist/ if its sources are newer. If a folder is given, always builds into it. */
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isFresh, markBuilt } from '../../fresh.ts';

/** Everything that the build reads. */
const sources = ['console/build', 'console/src', 'client/src', 'contract/src', 'import-formats/src'].map(
  (folder) => `packages/${folder}`,
);

const build = async (folder: string): Promise<string> => {
  // Imported lazily: loading esbuild is slow, and an up-to-date build doesn't need it.
  const { buildConsole } = await import('./bundle.ts');
  return `${await buildConsole(folder)} bytes of scripts, compressed`;
};

const [, , folder] = process.argv;
const dist = fileURLToPath(new URL('../dist', import.meta.url));
if (folder !== undefined) console.log(`${folder}: ${await build(resolve(folder))}`);
else if (isFresh(dist, sources)) console.log('the console is up to date');
else {
  const startTime = new Date();
  console.log(`dist: ${await build(dist)}`);
  markBuilt(dist, startTime);
}
