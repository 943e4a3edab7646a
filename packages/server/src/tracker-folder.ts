import { fileURLToPath } from 'node:url';

/** Where `npm run build` puts the tracker, from src/ as from dist/. */
export const trackerFolder = fileURLToPath(new URL('../../tracker/dist/', import.meta.url));
