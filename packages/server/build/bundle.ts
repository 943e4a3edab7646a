/**
 * Bundles an entry and all its imports, except native modules, into one file. Files that are read at run time (migrations, the demo page,
 * the tracker) stay where they are.
 */
import { readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';

const folder = fileURLToPath(new URL('../', import.meta.url));

/** The threads of a store, and the process of reports. Each is a file beside the main one. */
export const threads = [
  'src/store/sqlite/threads/writer-thread.ts',
  'src/store/sqlite/threads/reader-thread.ts',
  'src/reports/engine/report-engine.ts',
];

/** The source that looks for files beside the built one. All others look beside their source. */
const neighbours = /[\\/]src[\\/]store[\\/]sqlite[\\/]threads[\\/]threads\.ts$/;

/** Replaces `import.meta.url` in a source by its value when the source runs from a file in `into`. */
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
    // Finds the other packages, for copies of the sources elsewhere too.
    tsconfig: join(folder, 'tsconfig.json'),
    // CommonJS runs a dynamically imported module when it is imported, not before, though it is in the same file.
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    // Loaded from node_modules: native modules, modules that only some databases need, and a loader that a build never uses.
    external: ['better-sqlite3', 'better-sqlite3-13', '@duckdb/node-api', 'pg', 'pg-copy-streams', 'tsx'],
    banner: { js: "const builtURL = require('node:url').pathToFileURL(__filename).href;" },
    legalComments: 'none',
  }) satisfies BuildOptions;

/** Bundles each entry (a path in the package) into a `.cjs` of its name. Returns the list of its inputs. */
export const bundle = async (entries: readonly string[], into: string): Promise<Metafile> => {
  const options = bundleOptions(folder, entries, into);
  const { metafile } = await build({ ...options, metafile: true, sourcemap: true, plugins: [keepPlaces(into)] });
  return metafile;
};
