/** Makes what the server serves: `tracker.js` with its compressed forms, and `snippet.html` to be filled in. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { snippet } from './src/snippet.ts';

/** Builds into this folder. Answers how many bytes the script has, and how many as brotli. */
export const buildTracker = async (folder: string): Promise<{ bytes: number; brotliBytes: number }> => {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('src/browser.ts', import.meta.url))],
    bundle: true,
    minify: true,
    format: 'iife',
    platform: 'browser',
    target: 'es2018',
    legalComments: 'none',
    // Not the workspace's: its strictness would only add "use strict".
    tsconfigRaw: '{}',
    write: false,
  });
  const script = outputFiles[0]?.contents as Uint8Array;
  const brotli = brotliCompressSync(script, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: script.length },
  });
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'tracker.js'), script);
  await writeFile(join(folder, 'tracker.js.br'), brotli);
  await writeFile(join(folder, 'tracker.js.gz'), gzipSync(script, { level: 9 }));
  await writeFile(join(folder, 'snippet.html'), snippet);
  return { bytes: script.length, brotliBytes: brotli.length };
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { bytes, brotliBytes } = await buildTracker(fileURLToPath(new URL('dist', import.meta.url)));
  console.log(`dist/tracker.js: ${bytes} bytes, ${brotliBytes} as brotli`);
}
