/** Bundles many modules into one script that is as small as possible. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Script } from 'node:vm';
import { brotliCompressSync, constants } from 'node:zlib';
import { type BuildOptions, build } from 'esbuild';
import { minify } from 'terser';
import uglify from 'uglify-js';
import { prunePackages } from './prune-packages.ts';

/** Returns the letters that `names.ts` chose for a script's variables, in the order of their numbers. */
export const readChosenNames = (entry: string): string =>
  JSON.parse(readFileSync(new URL('names.json', import.meta.url), 'utf8'))[entry];

const contract = fileURLToPath(new URL('../../contract/src', import.meta.url));

/**
 * esbuild's options to bundle the modules of each entry for browsers that support ES2018 (such as Safari 11.1, from
 * 2018).
 */
export const createBundleOptions = (entries: readonly string[]) =>
  ({
    entryPoints: entries.map((entry) => fileURLToPath(new URL(`../src/${entry}.ts`, import.meta.url))),
    bundle: true,
    // UglifyJS and terser do the rest of the minification: their result is 9% smaller than esbuild's.
    minifySyntax: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2018',
    charset: 'utf8',
    legalComments: 'none',
    // Ignores the workspace's tsconfig, whose strict mode would only add "use strict".
    tsconfigRaw: '{}',
    alias: { '@firsthand/contract': contract },
    plugins: [prunePackages],
  }) satisfies BuildOptions;

const bundleModules = async (entry: string): Promise<string> => {
  const { outputFiles } = await build({ ...createBundleOptions([entry]), write: false });
  return outputFiles[0]?.text as string;
};

const format = { quote_style: 2 } as const;

/**
 * Minifies with UglifyJS, which turns functions that are called once into statements, while terser only moves them.
 * This saves 34 bytes of brotli. `varify` would replace `let`; `join_vars` is left to terser.
 */
const uglifyScript = (script: string): string => {
  const { code, error } = uglify.minify(script, {
    module: true,
    toplevel: true,
    mangle: false,
    compress: { passes: 4, pure_getters: true, keep_fargs: false, varify: false, join_vars: false } as object,
  });
  if (error) throw error;
  return code;
};

/** Bundles and minifies `src/<entry>.ts`, with one letter for each variable. */
export const minifyScript = async (entry: string): Promise<string> => {
  const bundle = await bundleModules(entry);
  // `booleans_as_integers` would turn `=== false` into `== 0`, which is also true for `''`.
  const comparison = /[!=]== ?(true|false)\b/.exec(bundle);
  if (comparison)
    throw new Error(`don't compare with a boolean, because minifying changes the result: …${comparison[0]}`);
  const { code = '' } = await minify(uglifyScript(bundle), {
    ecma: 2018,
    toplevel: true,
    // `unsafe_arrows` is safe, and so is dropping unused parameters (`keep_fargs`), because no function here uses
    // `this`, `arguments` or its own name. `unsafe` writes `${x}` as `""+x`, which differs only for objects with a
    // valueOf: we convert none of the page's objects, and the result of beforeSend is compared with text. `hoist_funs`
    // compresses best.
    compress: {
      passes: 4,
      booleans_as_integers: true,
      unsafe_arrows: true,
      pure_getters: true,
      keep_fargs: false,
      hoist_funs: true,
      unsafe: true,
    },
    format,
  });
  // Wrapped here, because terser unwraps a function around the whole script and would leak its variables as globals.
  return `(()=>{${code.replace(/;$/, '')}})()`;
};

/**
 * Replaces each variable with a number, such as `$7$`, so that scripts that differ only in variable names become equal.
 */
export const numberVariables = async (script: string): Promise<string> => {
  let count = 0;
  const nth_identifier = { get: () => `$${count++}$` };
  const { code = '' } = await minify(script, { compress: false, mangle: { nth_identifier }, format });
  return code.replace(/;$/, '');
};

/** Replaces the numbers in a numbered script with these letters, one for each number. */
export const nameVariables = (numbered: string, names: string): string =>
  numbered.replace(/\$(\d+)\$/g, (numberedName, number) => names[number] ?? numberedName);

/** Whether each variable has a letter, and no two conflicting variables have the same letter. */
export const areValidNames = async (numbered: string, names: string): Promise<boolean> => {
  if (new Set(numbered.match(/\$\d+\$/g)).size !== names.length) return false;
  const named = nameVariables(numbered, names);
  try {
    // V8 throws if a scope declares a name twice. So does terser, except for a `var` that is hoisted past a `let`.
    new Script(named);
    return numbered === (await numberVariables(named));
  } catch {
    return false;
  }
};

/**
 * Bundles `src/<entry>.ts`. Brotli compresses a script better if the same letters recur in the same places, so the
 * variables get the letters in `names.json`. If those no longer fit, the script keeps terser's letters.
 */
export const bundleScript = async (entry: string): Promise<Buffer> => {
  const script = await minifyScript(entry);
  const numbered = await numberVariables(script);
  const names = readChosenNames(entry);
  return Buffer.from((await areValidNames(numbered, names)) ? nameVariables(numbered, names) : script);
};

/** Compresses a script with brotli, as the server sends it. */
export const toBrotli = (script: Buffer): Buffer =>
  brotliCompressSync(script, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: script.length },
  });
