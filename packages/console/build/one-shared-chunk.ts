/**
 * Puts everything that the entry script imports into one chunk. By default, esbuild creates a chunk for each set of
 * scripts that share a module; compressed, these are 4 kB larger in total.
 */
import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Plugin } from 'esbuild';

/** Makes each script that is loaded later import the entry script, so that all of them share the same modules. */
export const oneSharedChunk = (entry: string): Plugin => ({
  name: 'one shared chunk',
  setup({ onResolve, onLoad, resolve }) {
    onResolve({ filter: /^\./ }, async ({ path, kind, resolveDir, pluginData }) => {
      if (kind !== 'dynamic-import' || pluginData === 'resolving') return undefined;
      const resolved = await resolve(path, { kind, resolveDir, pluginData: 'resolving' });
      return { path: resolved.path, errors: resolved.errors, pluginData: 'later' };
    });
    onLoad({ filter: /\.tsx?$/ }, async ({ path, pluginData }) => {
      if (pluginData !== 'later') return undefined;
      const source = await readFile(path, 'utf8');
      return { contents: `${source}\nimport ${JSON.stringify(entry)};`, loader: 'tsx', resolveDir: dirname(path) };
    });
  },
});
