/**
 * Makes of the sources what starts quickly: the command and the store's two threads, with all that they import but the native
 * module, in a few files of JavaScript. What is read at run time (migrations, the demo page, the tracker) stays where it is.
 */
import { existsSync } from 'node:fs';
import { readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { dist as distURL, inputsFile, isBuilt } from './bin/built.js';

const folder = fileURLToPath(new URL('.', import.meta.url));
const dist = fileURLToPath(distURL);
/** Changes when npm installs other packages. */
const installed = '../../node_modules/.package-lock.json';

const threads = ['thread-start.js', 'writer-thread.ts', 'reader-thread.ts'];

/** Those that look for their neighbours among the built files; every other file, where its source lies. */
const neighbours = /[\\/]src[\\/]store[\\/]sqlite[\\/](?:store|thread)\.ts$/;

const keepPlaces: Plugin = {
  name: 'import.meta.url as it is in the sources',
  setup: ({ onLoad }) => {
    onLoad({ filter: /[\\/]server[\\/]src[\\/].*\.ts$/ }, async ({ path }) => {
      const source = await readFile(path, 'utf8');
      if (neighbours.test(path) || !source.includes('import.meta.url')) return null;
      const place = JSON.stringify(relative(dist, path).replaceAll('\\', '/'));
      return { contents: source.replaceAll('import.meta.url', `new URL(${place}, import.meta.url)`), loader: 'ts' };
    });
  },
};

/** Builds into dist/. */
const buildServer = async (): Promise<void> => {
  const began = new Date();
  const { metafile } = await build({
    absWorkingDir: folder,
    entryPoints: ['main.ts', ...threads.map((name) => `store/sqlite/${name}`)].map((name) => `src/${name}`),
    entryNames: '[name]',
    chunkNames: 'part-[hash]',
    outdir: dist,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    // Found in the packages of whoever runs it: a native module, and a loader that a built server never asks for.
    external: ['better-sqlite3', 'tsx'],
    // CommonJS packages inside ask for Node's own modules by `require`.
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    legalComments: 'none',
    metafile: true,
    plugins: [keepPlaces],
  });
  const made = new Set(Object.keys(metafile.outputs).map((path) => resolve(folder, path)));
  for (const name of await readdir(dist)) {
    const path = resolve(dist, name);
    if (!made.has(path)) await rm(path, { recursive: true });
  }
  const inputs = Object.keys(metafile.inputs).filter((path) => !path.includes('node_modules'));
  inputs.push('build.ts', ...[installed].filter((path) => existsSync(resolve(folder, path))));
  await writeFile(inputsFile, JSON.stringify(inputs));
  // What was changed meanwhile is newer than that.
  await utimes(inputsFile, began, began);
};

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  // A server may be starting from it at this moment.
  if (isBuilt()) console.log('dist/main.js is newer than its sources');
  else await buildServer();
}
