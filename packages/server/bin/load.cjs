// Runs a built file with the code that V8 compiled during the build (build/build.ts): compiling it again takes a third of a start. With
// another version of Node, or other flags, V8 rejects the stored code and compiles.
const { readFileSync, writeFileSync } = require('node:fs');
const { createRequire } = require('node:module');
const { dirname } = require('node:path');
const { constants, Script } = require('node:vm');

const readKept = (path) => {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
};

/** Returns what the file at `path` exports. */
exports.load = (path) => {
  // Only `require` applies the source maps beside the build.
  if (process.sourceMapsEnabled) return require(path);
  const kept = `${path}.compiled`;
  const source = `(function (exports, require, module, __filename, __dirname) {${readFileSync(path, 'utf8')}\n})`;
  const script = new Script(source, {
    filename: path,
    cachedData: readKept(kept),
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  // On exit, because functions are compiled when they are first called.
  if (process.env.FIRSTHAND_KEEP_COMPILED) {
    process.on('exit', () => writeFileSync(kept, script.createCachedData()));
  }
  const module = { exports: {} };
  script.runInThisContext()(module.exports, createRequire(path), module, path, dirname(path));
  return module.exports;
};
