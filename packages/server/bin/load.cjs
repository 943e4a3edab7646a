// Runs a built file from the V8 code cache written by the build (build/build.ts); compiling takes a third of startup
// time. With another Node version or other flags, V8 rejects the cache and compiles.
const { readFileSync, writeFileSync } = require('node:fs');
const { createRequire } = require('node:module');
const { dirname } = require('node:path');
const { constants, Script } = require('node:vm');

const readCache = (path) => {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
};

/** Returns the exports of the file at `path`. */
exports.load = (path) => {
  // Only `require` applies the build's source maps.
  if (process.sourceMapsEnabled) return require(path);
  const cacheFile = `${path}.compiled`;
  const source = `(function (exports, require, module, __filename, __dirname) {${readFileSync(path, 'utf8')}\n})`;
  const script = new Script(source, {
    filename: path,
    cachedData: readCache(cacheFile),
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  // On exit, because V8 compiles a function on its first call.
  if (process.env.FIRSTHAND_KEEP_COMPILED) {
    process.on('exit', () => writeFileSync(cacheFile, script.createCachedData()));
  }
  const module = { exports: {} };
  script.runInThisContext()(module.exports, createRequire(path), module, path, dirname(path));
  return module.exports;
};
