/**
 * Builds the console: the page and its assets, plus compressed copies. File names contain a hash of the content, so
 * browsers may cache the files forever.
 */
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { pages, secondaryPages } from '../src/frame/pages.ts';
import { bundledPackages } from './bundled-packages.ts';
import { oneSharedChunk } from './one-shared-chunk.ts';
import { operationsTable } from './operations-table.ts';

const source = (name: string): string => fileURLToPath(new URL(`../src/${name}`, import.meta.url));

/** Browsers from the last two or three years: the console is used by people who run a site, not by its visitors. */
const target = ['chrome115', 'firefox120', 'safari17'];

const hashed = (name: string, content: Buffer): string => {
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 16);
  return name.replace(/(?=\.\w+$)/, `.${hash}`);
};

/** Returns the license texts of the bundled packages. */
const readLicenses = async (): Promise<Buffer> => {
  const texts = bundledPackages.map(async (folder) => {
    const { name } = JSON.parse(await readFile(new URL('package.json', folder), 'utf8'));
    const file = (await readdir(folder)).find((entry) => /^licen[cs]e/i.test(entry));
    if (file === undefined) throw new Error(`${name} has no license file, but its code is bundled into the console`);
    return `${name}\n\n${(await readFile(new URL(file, folder), 'utf8')).trim()}\n`;
  });
  return Buffer.from(`The scripts of the console contain parts of:\n\n${(await Promise.all(texts)).join('\n')}`);
};

/** Empties the folder, then builds into it. Returns the total compressed size of the scripts in bytes. */
export const buildConsole = async (folder: string): Promise<number> => {
  const licenses = await readLicenses();
  const licensesName = hashed('licenses.txt', licenses);
  const { outputFiles, metafile } = await build({
    entryPoints: [source('main.tsx'), source('style/console.css')],
    bundle: true,
    splitting: true,
    format: 'esm',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    minify: true,
    target,
    charset: 'utf8',
    legalComments: 'none',
    plugins: [operationsTable, oneSharedChunk(source('main.tsx'))],
    entryNames: '[name].[hash]',
    chunkNames: '[name].[hash]',
    outdir: '/assets',
    write: false,
    metafile: true,
  });
  const icon = await readFile(source('icon.svg'));
  const iconName = hashed('icon.svg', icon);
  const files = new Map([
    [licensesName, licenses],
    [iconName, icon],
    ...outputFiles.map(({ path, contents }) => [basename(path), Buffer.from(contents)] as const),
  ]);
  const outputOf = (entry: string) =>
    Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint?.endsWith(entry));
  const nameOf = (entry: string): string => basename(outputOf(entry)?.[0] ?? '');
  // Without preloads, the browser discovers these chunks only after it has parsed the entry script.
  const preloads = (outputOf('src/main.tsx')?.[1].imports ?? [])
    .filter(({ kind }) => kind === 'import-statement')
    .map(({ path }) => `<link rel="modulepreload" href="assets/${basename(path)}">`);
  const page = (await readFile(source('page.html'), 'utf8'))
    .replaceAll('{icon}', `assets/${iconName}`)
    .replaceAll('{licenses}', `assets/${licensesName}`)
    .replaceAll('{style}', `assets/${nameOf('src/style/console.css')}`)
    .replaceAll('{script}', `assets/${nameOf('src/main.tsx')}`)
    .replaceAll('{preloads}', preloads.join('\n'));
  await rm(folder, { recursive: true, force: true });
  await mkdir(join(folder, 'assets'), { recursive: true });
  let scriptBytes = 0;
  const write = async (path: string, content: Buffer): Promise<void> => {
    const compressed = brotliCompressSync(content);
    if (path.endsWith('.js')) scriptBytes += compressed.length;
    await writeFile(join(folder, path), content);
    await writeFile(join(folder, `${path}.br`), compressed);
    await writeFile(join(folder, `${path}.gz`), gzipSync(content, { level: 9 }));
  };
  await writeFile(join(folder, 'index.html'), page);
  await writeFile(join(folder, 'pages.json'), JSON.stringify([...pages, ...secondaryPages].map(({ name }) => name)));
  for (const [name, content] of files) await write(`assets/${name}`, content);
  return scriptBytes;
};
