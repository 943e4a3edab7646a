/** One script out of many modules, as small as it gets. */
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants } from 'node:zlib';
import { build, type Plugin } from 'esbuild';
import { minify } from 'terser';
import { pruneJsCookie } from './prune-js-cookie.ts';

/** Bundles `src/<entry>.ts` for browsers that know ES2018 (Safari 11.1, 2018). */
export const bundleScript = async (entry: string, plugins: Plugin[] = []): Promise<Buffer> => {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL(`src/${entry}.ts`, import.meta.url))],
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
    plugins: [...plugins, pruneJsCookie],
    write: false,
  });
  const { code = '' } = await minify(outputFiles[0]?.text as string, {
    ecma: 2018,
    toplevel: true,
    // `unsafe_methods` makes methods of functions in objects; `pure_getters` and no `keep_fargs` drop what is unused.
    // The other two are what brotli likes: measured.
    compress: {
      passes: 4,
      unsafe_methods: true,
      pure_getters: true,
      keep_fargs: false,
      conditionals: false,
      hoist_funs: true,
    },
    format: { quote_style: 2 },
  });
  // Wrapped here: terser unwraps a function around everything, and would make globals of its variables.
  return Buffer.from(`(()=>{${code}})()`);
};

/** As the server sends it. */
export const toBrotli = (script: Buffer): Buffer =>
  brotliCompressSync(script, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: script.length },
  });
