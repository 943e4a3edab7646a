/**
 * The build folders of other packages: in the repository, each package's `dist`; in the server's npm package, copies of
 * these (build/package.ts).
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * `import.meta.url` is the URL of the source file even in a built server (build/bundle.ts). The npm package has no
 * sources.
 */
const isRepository = existsSync(new URL('../main.ts', import.meta.url));

const built = (name: string): string =>
  fileURLToPath(new URL(isRepository ? `../../../${name}/dist/` : `../../dist/${name}/`, import.meta.url));

export const trackerFolder = built('tracker');
export const docsFolder = built('docs');
export const consoleFolder = built('console');
