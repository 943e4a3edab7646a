/** One script out of many modules, as small as it gets. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants } from 'node:zlib';
import { build, type Plugin } from 'esbuild';
import { minify } from 'terser';
import { prunePackages } from './prune-packages.ts';
import { isRight, readNames } from './rename.ts';

/** The letters that `names.ts` has found best for the variables of a script; '' for none. */
export const chosenNames = (entry: string): string =>
  JSON.parse(readFileSync(new URL('names.json', import.meta.url), 'utf8'))[entry] ?? '';

/** The modules as one, for browsers that know ES2018 (Safari 11.1, 2018). */
const joinModules = async (entry: string, plugins: Plugin[]): Promise<string> => {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL(`../src/${entry}.ts`, import.meta.url))],
    bundle: true,
    // terser shortens names and all else: its result is 4 % smaller than esbuild's own.
    minifySyntax: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2018',
    charset: 'utf8',
    legalComments: 'none',
    // Not the workspace's: its strictness would only add "use strict".
    tsconfigRaw: '{}',
    plugins: [...plugins, prunePackages],
    write: false,
  });
  return outputFiles[0]?.text as string;
};

/** The same in fewer words. */
const compress = async (joined: string): Promise<string> => {
  // `booleans_as_integers` would make it `==`, and `'' == 0`.
  const comparison = /[!=]== ?(true|false)\b/.exec(joined);
  if (comparison) throw new Error(`nothing may be compared with a boolean: …${comparison[0]}`);
  const { code = '' } = await minify(joined, {
    ecma: 2018,
    toplevel: true,
    // No function of ours has a `this`, which allows `unsafe_arrows`; none is asked for its name or is given its arguments
    // unnamed. `unsafe` writes `${x}` as `""+x`, which differs for objects with a valueOf only: we make no text of the page's
    // objects, and beforeSend's answer is compared with a text. `pure_getters` and no `keep_fargs` drop
    // what is unused. `conditionals` and `hoist_funs` make what brotli packs best.
    compress: {
      passes: 4,
      booleans_as_integers: true,
      unsafe_arrows: true,
      pure_getters: true,
      keep_fargs: false,
      conditionals: false,
      hoist_funs: true,
      unsafe: true,
    },
    format: { quote_style: 2 },
  });
  // Wrapped here: terser unwraps a function around everything, and would make globals of its variables.
  return `(()=>{${code.replace(/;$/, '')}})()`;
};

interface BundleOptions {
  readonly plugins?: Plugin[];
  /** Letters for its variables; where they don't fit, terser's own stay. */
  readonly names?: string;
}

/** Bundles `src/<entry>.ts`. */
export const bundleScript = async (
  entry: string,
  { plugins = [], names = chosenNames(entry) }: BundleOptions = {},
): Promise<Buffer> => {
  const script = await compress(await joinModules(entry, plugins));
  const renaming = readNames(script);
  return Buffer.from(isRight(renaming, names) ? renaming.rename(names) : script);
};

/** As the server sends it. */
export const toBrotli = (script: Buffer): Buffer =>
  brotliCompressSync(script, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: script.length },
  });
