/** One script out of many modules, as small as it gets. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Script } from 'node:vm';
import { brotliCompressSync, constants } from 'node:zlib';
import { type BuildOptions, build } from 'esbuild';
import { minify } from 'terser';
import uglify from 'uglify-js';
import { prunePackages } from './prune-packages.ts';

/** The letters that `names.ts` has found best for the variables of a script, in the order of their numbers. */
export const chosenNames = (entry: string): string =>
  JSON.parse(readFileSync(new URL('names.json', import.meta.url), 'utf8'))[entry];

const contract = fileURLToPath(new URL('../../contract/src', import.meta.url));

/** How the modules of each entry become one, for browsers that know ES2018 (Safari 11.1, 2018). */
export const joining = (entries: readonly string[]) =>
  ({
    entryPoints: entries.map((entry) => fileURLToPath(new URL(`../src/${entry}.ts`, import.meta.url))),
    bundle: true,
    // UglifyJS and terser shorten names and all else: their result is 9 % smaller than esbuild's own.
    minifySyntax: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2018',
    charset: 'utf8',
    legalComments: 'none',
    // Not the workspace's: its strictness would only add "use strict".
    tsconfigRaw: '{}',
    alias: { '@firsthand/contract': contract },
    plugins: [prunePackages],
  }) satisfies BuildOptions;

const joinModules = async (entry: string): Promise<string> => {
  const { outputFiles } = await build({ ...joining([entry]), write: false });
  return outputFiles[0]?.text as string;
};

const format = { quote_style: 2 } as const;

/**
 * UglifyJS's form of a script. It turns functions that are called once into statements where terser only moves them, which saves 34
 * bytes of brotli. Without `varify`, `let` stays, and without `join_vars`, terser joins.
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

/** `src/<entry>.ts` with all that it imports, minified, with one letter for each variable. */
export const minifyScript = async (entry: string): Promise<string> => {
  const joined = await joinModules(entry);
  // `booleans_as_integers` would make it `==`, and `'' == 0`.
  const comparison = /[!=]== ?(true|false)\b/.exec(joined);
  if (comparison) throw new Error(`nothing may be compared with a boolean: …${comparison[0]}`);
  const { code = '' } = await minify(uglifyScript(joined), {
    ecma: 2018,
    toplevel: true,
    // No function of ours has a `this`, which allows `unsafe_arrows`; none is asked for its name or is given its arguments
    // unnamed. `unsafe` writes `${x}` as `""+x`, which differs for objects with a valueOf only: we make no text of the page's
    // objects, and beforeSend's answer is compared with a text. `pure_getters` and no `keep_fargs` drop
    // what is unused. `hoist_funs` makes what brotli packs best.
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
  // Wrapped here: terser unwraps a function around everything, and would make globals of its variables.
  return `(()=>{${code.replace(/;$/, '')}})()`;
};

/** The script with a number for each variable, such as `$7$`. Scripts with the same form differ in the names of variables only. */
export const numberVariables = async (script: string): Promise<string> => {
  let count = 0;
  const nth_identifier = { get: () => `$${count++}$` };
  const { code = '' } = await minify(script, { compress: false, mangle: { nth_identifier }, format });
  return code.replace(/;$/, '');
};

/** A numbered script with these letters, one for each number. */
export const nameVariables = (numbered: string, names: string): string =>
  numbered.replace(/\$(\d+)\$/g, (numberedName, number) => names[number] ?? numberedName);

/** Whether there is a letter for each variable, and no two variables that must differ have the same. */
export const areRight = async (numbered: string, names: string): Promise<boolean> => {
  if (new Set(numbered.match(/\$\d+\$/g)).size !== names.length) return false;
  const named = nameVariables(numbered, names);
  try {
    // V8 and terser throw where a scope declares a name twice; terser does not notice a `var` that is hoisted past a `let`.
    new Script(named);
    return numbered === (await numberVariables(named));
  } catch {
    return false;
  }
};

/**
 * Bundles `src/<entry>.ts`. A script is smaller as brotli when the same letter stands in the same places, which no minifier looks
 * for: it gets the letters of `names.json` while they are right, or else keeps terser's own.
 */
export const bundleScript = async (entry: string): Promise<Buffer> => {
  const script = await minifyScript(entry);
  const numbered = await numberVariables(script);
  const names = chosenNames(entry);
  return Buffer.from((await areRight(numbered, names)) ? nameVariables(numbered, names) : script);
};

/** As the server sends it. */
export const toBrotli = (script: Buffer): Buffer =>
  brotliCompressSync(script, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: script.length },
  });
