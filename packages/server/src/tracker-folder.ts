import { fileURLToPath } from 'node:url';

/** The folder of the built tracker. In a built server too, `import.meta.url` is that of the source (build/bundle.ts). */
export const trackerFolder = fileURLToPath(new URL('../../tracker/dist/', import.meta.url));
