/**
 * Builds the documentation: static HTML pages, their assets, and compressed assets. The server compresses pages itself,
 * after filling in `placeholders` (page.ts). An optional argument names the output folder.
 */
import { readdirSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { isFresh, markBuilt } from '../../fresh.ts';
import { manuals } from './manuals.ts';

/** All inputs of the build. */
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

/** Empties the folder and builds into it. Returns the number of pages. */
export const buildDocs = async (folder: string): Promise<number> => {
  // Loaded lazily: often there is nothing to build.
  const [{ createSite, searchEntries }, { layout }, markdown, { buildAssets }, { pictures }] = await Promise.all([
    import('./site.ts'),
    import('./layout.ts'),
    import('./to-markdown.ts'),
    import('./assets.ts'),
    import('./images.ts'),
  ]);
  const site = createSite();
  const { names, files } = await buildAssets(searchEntries(site));
  await rm(folder, { recursive: true, force: true });
  for (const name of ['reference', 'assets']) await mkdir(join(folder, name), { recursive: true });
  const isUsed = ({ path }: { readonly path: string }) =>
    site.pages.some(({ content }) => String(content).includes(path));
  const write = (path: string, content: string | Buffer) => writeFile(join(folder, path), content);
  await Promise.all([
    ...site.pages.flatMap((page) => [
      Promise.resolve(layout(page, site.groups, names)).then((html) => write(fileOf(page.path), String(html))),
      write(markdown.markdownFileOf(page.path), page.markdown ?? markdown.toMarkdown(String(page.content))),
    ]),
    write('llms.txt', markdown.writeIndex(site.pages, site.groups)),
    ...[...files].flatMap(([path, content]) => [
      write(path, content),
      write(`${path}.br`, brotliCompressSync(content)),
      write(`${path}.gz`, gzipSync(content, { level: 9 })),
    ]),
    // WebP is already compressed.
    ...[...pictures.values()].filter(isUsed).map(({ path, content }) => write(path, content)),
  ]);
  return site.pages.length;
};

export const dist = fileURLToPath(new URL('../dist', import.meta.url));

/** Builds into dist/ unless it is up to date. Returns the number of pages, or undefined if nothing was built. */
export const buildDist = async (): Promise<number | undefined> => {
  if (isFresh(dist, sources)) return undefined;
  const startTime = new Date();
  const pages = await buildDocs(dist);
  markBuilt(dist, startTime);
  return pages;
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , folder] = process.argv;
  if (folder !== undefined) console.log(`${folder}: ${await buildDocs(resolve(folder))} pages`);
  else {
    const pages = await buildDist();
    console.log(pages === undefined ? 'The documentation is up to date.' : `dist: ${pages} pages`);
  }
}
