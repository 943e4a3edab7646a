// Loads a source in a thread or process of its own. Runs the build of the source while the build is newer: tsx would compile the source
// there again, which takes six times as long. Node 20 runs TypeScript in a thread only when the loader is registered in that thread.
const { existsSync } = require('node:fs');
const { basename, join } = require('node:path');
const { fileURLToPath } = require('node:url');

const loadBuilt = (file) => require('./load.cjs').load(fileURLToPath(file));

/** Resolves to what the file exports. `file` is the URL of a source, or of a file of the build. */
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
