/**
 * Builds the modules of the npm package, for sites that bundle the tracker: `dist/esm` for `import`, with the types
 * that `emit.ts` wrote, and `dist/cjs` for `require`. They contain js-cookie, nanoid and the constants of the contract,
 * so the package has no dependencies.
 */
import { cp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { createBundleOptions } from './bundle.ts';

const folder = fileURLToPath(new URL('../', import.meta.url));
const esm = join(folder, 'dist/esm');
const cjs = join(folder, 'dist/cjs');

await rm(cjs, { recursive: true, force: true });
await cp(esm, cjs, { recursive: true });
// Also makes TypeScript treat the type declarations as CommonJS.
await writeFile(join(cjs, 'package.json'), '{ "type": "commonjs" }\n');
for (const [outdir, format] of [
  [esm, 'esm'],
  [cjs, 'cjs'],
] as const) {
  await build({
    ...createBundleOptions(['index', 'global']),
    // The site's bundler minifies the code.
    minifySyntax: false,
    format,
    sourcemap: true,
    outdir,
  });
}
