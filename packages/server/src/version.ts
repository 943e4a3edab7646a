import { readFileSync } from 'node:fs';

/** The version of the service, from its package.json, which lies one folder above the sources and above what is built. */
export const version: string = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version;
