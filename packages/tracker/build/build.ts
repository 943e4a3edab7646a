/**
 * Builds the files that the server serves. Files from earlier builds are kept, because pages may still load them.
 *
 * Each of the three scripts is written, with its compressed forms, under its own name and under a name with a
 * fingerprint of its content. `integrity.json` lists the fingerprinted names and the `integrity` values; `licenses.txt`
 * has the notices, which would bloat the scripts.
 */
import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { isFresh, markBuilt } from '../../fresh.ts';
import { snippet } from '../src/snippet.ts';

const scripts = [
  { entry: 'browser', name: 'tracker' },
  { entry: 'full', name: 'tracker.full' },
  { entry: 'domains', name: 'tracker.domains' },
];

/** Returns the license texts of the packages in the scripts. */
const readLicenses = async (): Promise<string> => {
  const texts = ['js-cookie', 'nanoid'].map(async (name) => {
    const text = await readFile(new URL('LICENSE', import.meta.resolve(`${name}/package.json`)), 'utf8');
    return `${name}\n\n${text.trim()}\n`;
  });
  return `/tracker.js, /tracker.full.js and /tracker.domains.js contain parts of:\n\n${(await Promise.all(texts)).join('\n')}`;
};

type ScriptSize = { readonly file: string; readonly bytes: number; readonly brotliBytes: number };

/** Builds all files into `folder`. Returns each script's size, uncompressed and compressed with brotli. */
export const buildTracker = async (folder: string): Promise<ScriptSize[]> => {
  // Imported only if there is something to build, because the minifiers are slow to load.
  const { bundleScript, toBrotli } = await import('./bundle.ts');
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'snippet.html'), snippet);
  await writeFile(join(folder, 'licenses.txt'), await readLicenses());
  const integrity: Record<string, { src: string; integrity: string }> = {};
  const sizes: ScriptSize[] = [];
  for (const { entry, name } of scripts) {
    const script = await bundleScript(entry);
    const brotli = toBrotli(script);
    const fingerprint = createHash('sha256').update(script).digest('hex').slice(0, 16);
    const file = `${name}.js`;
    const src = `${name}.${fingerprint}.js`;
    for (const path of [file, src].map((each) => join(folder, each))) {
      await writeFile(path, script);
      await writeFile(`${path}.br`, brotli);
      await writeFile(`${path}.gz`, gzipSync(script, { level: 9 }));
    }
    integrity[file] = { src, integrity: `sha384-${createHash('sha384').update(script).digest('base64')}` };
    sizes.push({ file, bytes: script.length, brotliBytes: brotli.length });
  }
  await writeFile(join(folder, 'integrity.json'), `${JSON.stringify(integrity, null, 2)}\n`);
  return sizes;
};

const sources = ['packages/tracker/build', 'packages/tracker/src', 'packages/contract/src'];

export const dist = fileURLToPath(new URL('../dist', import.meta.url));

/**
 * Builds into dist/ unless dist/ is newer than its sources. Returns the sizes of the scripts, or undefined if nothing
 * was built.
 */
export const buildDist = async () => {
  if (isFresh(dist, sources)) return undefined;
  const startTime = new Date();
  const sizes = await buildTracker(dist);
  markBuilt(dist, startTime);
  return sizes;
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const sizes = await buildDist();
  if (sizes === undefined) console.log('dist/ is up to date');
  for (const { file, bytes, brotliBytes } of sizes ?? [])
    console.log(`dist/${file}: ${bytes} bytes, ${brotliBytes} bytes of brotli`);
}
