/**
 * Builds the documentation: pages as static HTML, what they load, and compressed forms of the latter. The server fills in its address
 * (`places` in page.ts), so it compresses the pages itself. With a folder as its argument it builds into that one.
 */
import { readdirSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { isFresh, markBuilt } from '../../fresh.ts';
import { manuals } from './manuals.ts';

/** Everything that the pages are made of. */
export const sources = [
  'packages/docs/build',
  'packages/docs/src',
  'packages/docs/images',
  'packages/contract/src',
  ...readdirSync(new URL('../', import.meta.url))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `packages/docs/${name}`),
  ...Object.keys(manuals),
];

/** `reference/logEvent` → `reference/logEvent.html`, `reference/` → `reference/index.html` */
const fileOf = (path: string): string => `${path}${path === '' || path.endsWith('/') ? 'index' : ''}.html`;

/** Builds into this folder, which it empties first. Returns how many pages there are. */
export const buildDocs = async (folder: string): Promise<number> => {
  // Loaded only where something is to be built.
  const [{ createSite, searchEntries }, { layout }, { buildAssets }, { pictures }] = await Promise.all([
    import('./site.ts'),
    import('./layout.ts'),
    import('./assets.ts'),
    import('./images.ts'),
  ]);
  const site = createSite();
  const { names, files } = await buildAssets(searchEntries(site));
  await rm(folder, { recursive: true, force: true });
  for (const name of ['reference', 'assets']) await mkdir(join(folder, name), { recursive: true });
  const isShown = ({ path }: { readonly path: string }) =>
    site.pages.some(({ content }) => String(content).includes(path));
  const write = (path: string, content: string | Buffer) => writeFile(join(folder, path), content);
  await Promise.all([
    ...site.pages.map(async (page) => write(fileOf(page.path), String(await layout(page, site.groups, names)))),
    ...[...files].flatMap(([path, content]) => [
      write(path, content),
      write(`${path}.br`, brotliCompressSync(content)),
      write(`${path}.gz`, gzipSync(content, { level: 9 })),
    ]),
    // WebP is compressed.
    ...[...pictures.values()].filter(isShown).map(({ path, content }) => write(path, content)),
  ]);
  return site.pages.length;
};

export const dist = fileURLToPath(new URL('../dist', import.meta.url));

/** Builds into dist/, unless that is newer than its sources. Returns the number of pages, or undefined. */
export const buildDist = async (): Promise<number | undefined> => {
  if (isFresh(dist, sources)) return undefined;
  const began = new Date();
  const pages = await buildDocs(dist);
  markBuilt(dist, began);
  return pages;
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , given] = process.argv;
  if (given !== undefined) console.log(`${given}: ${await buildDocs(resolve(given))} pages`);
  else {
    const pages = await buildDist();
    console.log(pages === undefined ? 'the documentation is newer than its sources' : `dist: ${pages} pages`);
  }
}
