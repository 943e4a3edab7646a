/** The folders of the third-party packages bundled into the console's scripts. */

import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';

const { resolve } = createRequire(import.meta.url);

/** A package's folder: `levels` folders above the file that its `exports` resolve to. */
const folderOf = (file: string, levels: number): URL => {
  let folder = resolve(file);
  for (let level = 0; level < levels; level += 1) folder = dirname(folder);
  return pathToFileURL(`${folder}/`);
};

export const bundledPackages: readonly URL[] = [
  folderOf('preact', 2),
  folderOf('@preact/signals', 2),
  folderOf('@preact/signals-core', 2),
];
