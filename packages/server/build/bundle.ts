/**
 * Bundles an entry and its imports, except native modules, into one file. Files that are read at run time, such as
 * migrations, the demo page and the tracker, stay in place.
 */
import { readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';

const folder = fileURLToPath(new URL('../', import.meta.url));

/** A store's threads and the report process, each of which becomes a file next to the main one. */
export const threads = [
  'src/store/sqlite/threads/writer-thread.ts',
  'src/store/sqlite/threads/reader-thread.ts',
  'src/reports/engine/report-engine.ts',
];

/** Only this source resolves files relative to the built file. All others resolve files relative to themselves. */
const builtRelative = /[\\/]src[\\/]store[\\/]sqlite[\\/]threads[\\/]threads\.ts$/;

/** Replaces `import.meta.url` in a source, so that it keeps its value when the source is bundled into `into`. */
export const replaceImportURL = (source: string, path: string, into: string): string => {
  const relativePath = JSON.stringify(relative(into, path).replaceAll('\\', '/'));
  const url = builtRelative.test(path) ? 'builtURL' : `new URL(${relativePath}, builtURL).href`;
  return source.replaceAll('import.meta.url', url);
};

const keepPlaces = (into: string): Plugin => ({
  name: 'import.meta.url as it is in the sources',
  setup: ({ onLoad }) => {
    onLoad({ filter: /[\\/]server[\\/](src|bench)[\\/].*\.ts$/ }, async ({ path }) => {
      const source = await readFile(path, 'utf8');
      return source.includes('import.meta.url')
        ? { contents: replaceImportURL(source, path, into), loader: 'ts' }
        : null;
    });
  },
});

/** Each entry, a path in the package `from`, becomes a `.cjs` file with its name in `into`. */
export const createBundleOptions = (from: string, entries: readonly string[], into: string) =>
  ({
    absWorkingDir: from,
    entryPoints: [...entries],
    entryNames: '[name]',
    outdir: into,
    outExtension: { '.js': '.cjs' },
    bundle: true,
    // Needed to resolve the other packages from copies of the sources in other folders.
    tsconfig: join(folder, 'tsconfig.json'),
    // In CommonJS, bundled code behind a dynamic import runs only when it is imported.
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    // Loaded from node_modules: native modules, modules that few servers use, and a loader that builds don't use.
    external: [
      ...['better-sqlite3', 'better-sqlite3-13', '@duckdb/node-api', 'pg', 'pg-copy-streams'],
      ...['@modelcontextprotocol/server', 'tsx'],
    ],
    banner: { js: "const builtURL = require('node:url').pathToFileURL(__filename).href;" },
    legalComments: 'none',
  }) satisfies BuildOptions;

/** Bundles each entry, a path in the package, into a `.cjs` file with its name. Returns the build's metadata. */
export const bundle = async (entries: readonly string[], into: string): Promise<Metafile> => {
  const options = createBundleOptions(folder, entries, into);
  const { metafile } = await build({ ...options, metafile: true, sourcemap: true, plugins: [keepPlaces(into)] });
  return metafile;
};
