// Loads a source file in a separate thread or process. Prefers an up-to-date build: compiling with tsx takes six times
// as long. Node 20 runs TypeScript in a thread only if the loader is registered in that thread.
const { existsSync } = require('node:fs');
const { basename, join } = require('node:path');
const { fileURLToPath } = require('node:url');

const loadBuilt = (file) => require('./load.cjs').load(fileURLToPath(file));

/** Resolves to the module's exports. `file` is the URL of a source file or a built file. */
exports.loadSource = async (file) => {
  if (file.endsWith('.cjs')) return loadBuilt(file);
  if (file.endsWith('.ts')) {
    const { dist, isBuilt } = await import('./built.js');
    const built = new URL(`${basename(file, '.ts')}.cjs`, dist);
    if (isBuilt() && existsSync(built)) return loadBuilt(built);
    (await import('tsx/esm/api')).register({ tsconfig: join(__dirname, '../tsconfig.json') });
  }
  return import(file);
};
