/**
 * Makes one file of JavaScript of an entry and all that it imports, but the native module. What is read at run time
 * (migrations, the demo page, the tracker) stays where it is.
 */
import { readFile } from 'node:fs/promises';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';

const folder = fileURLToPath(new URL('../', import.meta.url));

/** The threads of a store, which stand beside what starts them. */
export const threads = ['src/store/sqlite/threads/writer-thread.ts', 'src/store/sqlite/threads/reader-thread.ts'];

/** The one that looks for its neighbours among the built files; every other, where its source lies. */
const neighbours = /[\\/]src[\\/]store[\\/]sqlite[\\/]threads[\\/]threads\.ts$/;

/** The text of the source file at `path`, with `import.meta.url` as it is there when it runs from a file in `into`. */
export const keepPlace = (source: string, path: string, into: string): string => {
  const place = JSON.stringify(relative(into, path).replaceAll('\\', '/'));
  const here = neighbours.test(path) ? 'builtURL' : `new URL(${place}, builtURL).href`;
  return source.replaceAll('import.meta.url', here);
};

const keepPlaces = (into: string): Plugin => ({
  name: 'import.meta.url as it is in the sources',
  setup: ({ onLoad }) => {
    onLoad({ filter: /[\\/]server[\\/](src|bench)[\\/].*\.ts$/ }, async ({ path }) => {
      const source = await readFile(path, 'utf8');
      return source.includes('import.meta.url') ? { contents: keepPlace(source, path, into), loader: 'ts' } : null;
    });
  },
});

/** Each entry (a path in the package `from`) becomes a `.cjs` of its name in `into`. */
export const bundleOptions = (from: string, entries: readonly string[], into: string) =>
  ({
    absWorkingDir: from,
    entryPoints: [...entries],
    entryNames: '[name]',
    outdir: into,
    outExtension: { '.js': '.cjs' },
    bundle: true,
    // What is imported in the middle of something is not run before, though it is in the same file.
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    // Found in the packages of whoever runs it: a native module, what only some databases need, and a loader that a built server never asks for.
    external: ['better-sqlite3', 'better-sqlite3-13', 'pg', 'pg-copy-streams', 'tsx'],
    banner: { js: "const builtURL = require('node:url').pathToFileURL(__filename).href;" },
    legalComments: 'none',
  }) satisfies BuildOptions;

/** Bundles each entry (a path in the package) into a `.cjs` of its name; answers what they were made of. */
export const bundle = async (entries: readonly string[], into: string): Promise<Metafile> => {
  const options = bundleOptions(folder, entries, into);
  const { metafile } = await build({ ...options, metafile: true, plugins: [keepPlaces(into)] });
  return metafile;
};
