// Runs a built file with the code that V8 made of it when it was built (build/build.ts): to compile it anew takes a third of a start. With another
// Node than that, or other flags, V8 takes no notice of what was kept, and compiles.
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

/** Answers what the file at `path` exports. */
exports.load = (path) => {
  const kept = `${path}.compiled`;
  const source = `(function (exports, require, module, __filename, __dirname) {${readFileSync(path, 'utf8')}\n})`;
  const script = new Script(source, {
    filename: path,
    cachedData: readKept(kept),
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  // At the end, for what is compiled only when it is called first.
  if (process.env.FIRSTHAND_KEEP_COMPILED) {
    process.on('exit', () => writeFileSync(kept, script.createCachedData()));
  }
  const module = { exports: {} };
  script.runInThisContext()(module.exports, createRequire(path), module, path, dirname(path));
  return module.exports;
};
