/** Bundles the pages' assets. File names contain a content hash, so that browsers can cache them forever. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { SearchEntry } from '../src/search-entry.ts';
import { bundledPackage } from './bundled-package.ts';

export interface AssetNames {
  readonly style: string;
  readonly script: string;
  readonly icon: string;
  readonly search: string;
}

interface Assets {
  readonly names: AssetNames;
  /** Each file's content, by its path relative to `/docs/`. */
  readonly files: ReadonlyMap<string, Buffer>;
}

const source = (name: string): string => fileURLToPath(new URL(`../src/${name}`, import.meta.url));

/** Older browsers lack `:has`, popovers or modules, but the pages remain usable. */
const target = ['chrome109', 'firefox115', 'safari16'];

const hashed = (name: string, content: Buffer): string => {
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 16);
  return `assets/${name.replace(/(?=\.\w+$)/, `.${hash}`)}`;
};

/** The license text of the bundled package. */
const readLicense = async (): Promise<Buffer> => {
  const text = await readFile(new URL('LICENSE.txt', bundledPackage), 'utf8');
  return Buffer.from(`The documentation scripts contain parts of:\n\nminisearch\n\n${text.trim()}\n`);
};

export const buildAssets = async (entries: readonly SearchEntry[]): Promise<Assets> => {
  const license = await readLicense();
  const licenseName = hashed('licenses.txt', license);
  const { outputFiles, metafile } = await build({
    entryPoints: [source('docs.ts'), source('docs.css')],
    bundle: true,
    splitting: true,
    format: 'esm',
    minify: true,
    target,
    charset: 'utf8',
    legalComments: 'none',
    banner: { js: `/* ${licenseName} */` },
    tsconfigRaw: '{}',
    entryNames: '[name].[hash]',
    chunkNames: '[name].[hash]',
    outdir: '/assets',
    write: false,
    metafile: true,
  });
  const files = new Map([[licenseName, license]]);
  for (const { path, contents } of outputFiles) files.set(`assets/${path.replace(/^.*\//, '')}`, Buffer.from(contents));
  const built = (entry: string): string => {
    const [path] = Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint?.endsWith(entry)) ?? [''];
    return `assets/${path.replace(/^.*\//, '')}`;
  };
  const add = (name: string, content: Buffer): string => {
    const path = hashed(name, content);
    files.set(path, content);
    return path;
  };
  const names = {
    style: built('src/docs.css'),
    script: built('src/docs.ts'),
    icon: add('icon.svg', await readFile(source('icon.svg'))),
    search: add('search.json', Buffer.from(JSON.stringify(entries))),
  };
  return { names, files };
};
