import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** In a built server too, `import.meta.url` is that of the source (build/bundle.ts). The npm package has no sources. */
const isRepository = existsSync(new URL('./main.ts', import.meta.url));

/** The folder of the built tracker: that of its own package, or the copy in the server's npm package (build/package.ts). */
export const trackerFolder = fileURLToPath(
  new URL(isRepository ? '../../tracker/dist/' : '../dist/tracker/', import.meta.url),
);
